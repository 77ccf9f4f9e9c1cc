//! Random Fourier features against the kernel that they approximate.

use mercer::Exec;
use mercer::data::Points;
use mercer_testkit::toy as kit;

use crate::{fit, values};

fn rows() -> Points {
    Points::dense(kit::normals(12, 5, 3), 5).expect("12 rows of 5")
}

/// The largest distance between a dot product of features and the kernel.
fn worst(line: &str, gamma: f64) -> f64 {
    let x = rows();
    let f = values(&fit(line, &x).apply(x.view(), Exec::new(2)).expect("numbers"));
    let x = values(&x);
    let (m, mut worst) = (f.len() / 12, 0.0_f64);
    for i in 0..12 {
        for j in 0..12 {
            let dot: f64 = (0..m).map(|c| f[i * m + c] * f[j * m + c]).sum();
            let far: f64 = (0..5).map(|c| (x[i * 5 + c] - x[j * 5 + c]).powi(2)).sum();
            worst = worst.max((dot - (-gamma * far).exp()).abs());
        }
    }
    worst
}

#[test]
fn dot_products_approach_the_kernel_as_features_grow() {
    for gamma in [0.05, 0.3] {
        let [few, many] =
            [50, 20_000].map(|m| worst(&format!("fourier({gamma}, features={m}, seed=4)"), gamma));
        // Each term of a dot product has a deviation of at most about 1: five of them are 5 / sqrt(m).
        assert!(many < 5.0 / 20_000.0_f64.sqrt(), "gamma {gamma}: {many}");
        assert!(few > 2.0 * many, "gamma {gamma}: {few} with 50 features, {many} with 20,000");
    }
    assert!(worst("fourier(0.3, features=20000)", 0.05) > 0.2, "another kernel");
}

#[test]
fn a_seed_gives_the_same_features_and_another_seed_others() {
    let x = rows();
    assert_eq!(fit("fourier(0.1, seed=7)", &x), fit("fourier(0.1, seed=7)", &x));
    assert_ne!(fit("fourier(0.1, seed=7)", &x), fit("fourier(0.1, seed=8)", &x));
    for wrong in ["fourier", "fourier(0)", "fourier(-1)", "fourier(1, features=0)", "fourier(1, seed=0.5)"] {
        assert!(mercer::data::Recipe::parse(wrong).is_err(), "{wrong}");
    }
    let greedy = mercer::data::Recipe::parse("fourier(1, features=4000000000000)").expect("a number");
    assert!(greedy.fit(x.view(), Exec::one()).is_err());
}
