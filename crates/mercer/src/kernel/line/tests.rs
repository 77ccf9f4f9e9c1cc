//! What is understood, what is refused in which words, and that nothing makes the reader fall over.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::kernel::{Kernel, MAX_DEPTH};

#[track_caller]
fn read(line: &str) -> Kernel {
    Kernel::parse(line).unwrap_or_else(|e| panic!("{e}"))
}

#[track_caller]
fn refused(line: &str) -> String {
    Kernel::parse(line).expect_err("must be refused").to_string()
}

#[test]
fn fractions_powers_and_other_names() {
    assert_eq!(
        read("poly(degree=3, scale=1/256)"),
        Kernel::Poly { degree: 3, scale: 1.0 / 256.0, coef0: 0.0 }
    );
    assert_eq!(read("rbf(gamma=2^-7)"), Kernel::Rbf { gamma: 1.0 / 128.0 });
    assert_eq!(read(" Gaussian ( gamma = 1e-3 ) "), Kernel::Rbf { gamma: 1e-3 });
    assert_eq!(read("imq"), Kernel::InverseMultiquadric { c: 1.0 });
    assert_eq!(read("ard(gammas=2)"), Kernel::Ard { gammas: [2.0].into() });
    assert_eq!(read("normalised(of=linear)"), read("cosine(linear)"));
    assert_eq!(read("scaled(factor=2, linear)"), read("2*linear"));
    assert_eq!(read("power(degree=2, linear)"), read("linear^2"));
    assert_eq!(read("sum(linear, rbf(gamma=1))"), read("linear + rbf(gamma=1)"));
    assert_eq!(read("product(linear, linear)"), read("linear*linear"));
}

#[test]
fn operators_bind_as_in_school() {
    let product = Kernel::Product(vec![Kernel::Linear, Kernel::Rbf { gamma: 1.0 }]);
    let sum = Kernel::Sum(vec![
        Kernel::Scaled { factor: 0.5, of: Box::new(product) },
        Kernel::Power { degree: 2, of: Box::new(Kernel::Linear) },
    ]);
    assert_eq!(read("0.5*linear*rbf(gamma=1)+linear^2"), sum);
    assert_eq!(sum.to_string(), "0.5*linear * rbf(gamma=1) + linear^2");
    assert_eq!(read("2*3*linear").to_string(), "2*3*linear");
    assert_eq!(read("(linear + linear)^2^3 * (2*linear)").to_string(), "(linear + linear)^2^3 * (2*linear)");
    assert_eq!(read("linear + -1*multiquadric").to_string(), "linear + -1*multiquadric");
    assert_eq!(read("((linear))"), Kernel::Linear);
}

#[test]
fn numbers_print_short_and_read_back() {
    for gamma in [1.0, 0.1, 1.0 / 3.0, 1e-300, 1.7e300, 5e-324, 123_456_789.0, 1e15, 1e16, f64::MAX] {
        let kernel = Kernel::Rbf { gamma };
        assert_eq!(read(&kernel.to_string()), kernel);
    }
    assert_eq!(Kernel::Rbf { gamma: 1e-300 }.to_string(), "rbf(gamma=1e-300)");
    assert_eq!(Kernel::Rbf { gamma: 2.0 }.to_string(), "rbf(gamma=2)");
}

#[test]
fn refusals_say_what_would_be_right() {
    assert_eq!(
        refused("rbg(gamma=1)"),
        "kernel `rbg(gamma=1)`: no kernel is called `rbg`; did you mean rbf?"
    );
    assert!(refused("polynom(degree=2)").contains("did you mean poly"));
    assert!(refused("xyzzy").contains("kernels are linear, poly, rbf"));
    assert_eq!(
        refused("rbf"),
        "kernel `rbf`: rbf lacks `gamma`; parameters of rbf are gamma (a number above 0)"
    );
    assert_eq!(
        refused("rbf(sigma=2)"),
        "kernel `rbf(sigma=2)`: rbf has no parameter `sigma`; parameters of rbf are gamma (a number above 0)"
    );
    assert!(refused("linear(gamma=1)").contains("linear has no parameters"));
    assert!(refused("rbf(gamma=-1)").contains("gamma = -1: must be a number above 0"));
    assert!(refused("rbf(gamma=0)").contains("gamma = 0: must be"));
    assert!(refused("fourier(q=1)").contains("q = 1: must be a number above 0 and below 1"));
    assert!(refused("poly(degree=2.5)").contains("degree = 2.5: must be a whole number from 1 to 1000"));
    assert!(refused("ard(gammas=[1, -2])").contains("gammas = [1, -2]: must be a list"));
    assert!(refused("rbf(gamma=1, gamma=2)").contains("gamma is given twice"));
    assert!(refused("rbf(1)").contains("`1)` needs a name"));
    assert!(
        refused("subvector(2, linear)")
            .contains("`2, linear)` needs a name; parameters of subvector are size")
    );
    assert!(refused("rbf(gamma=nan)").contains("expected a number"));
    assert!(refused("rbf(gamma=1/0)").contains("not finite"));
    assert!(refused("rbf(gamma=1").contains("expected `,` after an argument, got the end"));
    assert!(refused("linear linear").contains("`linear` is unexpected after the kernel"));
    assert!(refused("linear*2").contains("a number must come before"));
    assert!(refused("0*linear").contains("factor = 0: must be a number other than 0"));
    assert!(refused("linear^0").contains("degree = 0"));
    assert!(refused("").contains("expected a kernel, got nothing"));
    assert!(refused("2").contains("expected `*` after a factor"));
    assert!(refused("custom(mine)").contains("cannot be read from a line"));
    assert!(refused("normalised(linear, linear)").contains("takes one kernel"));
}

#[test]
fn depth_is_limited() {
    let nested = |n: usize| format!("{}linear{}", "normalised(".repeat(n), ")".repeat(n));
    assert!(Kernel::parse(&nested(MAX_DEPTH - 1)).is_ok());
    assert!(refused(&nested(MAX_DEPTH)).contains("nested"));
    assert!(refused(&nested(100_000)).contains("nested"));
    assert!(refused(&"(".repeat(100_000)).contains("nested"));
    assert!(Kernel::parse(&format!("linear{}", "^2".repeat(100_000))).is_err());
    assert!(Kernel::parse(&format!("{}linear", "2*".repeat(100_000))).is_err());
    let mut deep = Kernel::Linear;
    for _ in 0..MAX_DEPTH {
        deep = Kernel::Normalised(Box::new(deep));
    }
    assert!(deep.check(None).is_err());
}

#[test]
fn checks_reach_what_was_built_by_hand() {
    assert!(Kernel::Rbf { gamma: f64::NAN }.check(None).is_err());
    assert!(Kernel::Sum(vec![]).check(None).is_err());
    assert!(Kernel::Sum(vec![Kernel::Linear, Kernel::Rbf { gamma: -1.0 }]).check(None).is_err());
    let ard = Kernel::Ard { gammas: [1.0, 2.0].into() };
    assert!(ard.check(Some(2)).is_ok());
    let message = ard.check(Some(3)).expect_err("two widths for three columns").to_string();
    assert_eq!(message, "gammas of the kernel ard: got 2, expected one per column, 3");
}

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![1e-3..1e3_f64, Just(1.0), (1..f64::MAX.to_bits()).prop_map(f64::from_bits)]
}

/// Any kernel that a line can hold.
fn kernels() -> impl Strategy<Value = Kernel> {
    let leaf = prop_oneof![
        Just(Kernel::Linear),
        (1..20u32, positive(), -3.0..3.0).prop_map(|(degree, scale, coef0)| Kernel::Poly {
            degree,
            scale,
            coef0
        }),
        positive().prop_map(|gamma| Kernel::Rbf { gamma }),
        (0..6u32, positive()).prop_map(|(order, width)| Kernel::BSpline { order, width }),
        prop::collection::vec(positive(), 1..5)
            .prop_map(|w| Kernel::Spectrum { weights: w.into(), freq: 1.0 }),
        (-2.0..2.0).prop_map(|power| Kernel::RadialPower { power }),
        Just(Kernel::AdditiveChiSquared),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Kernel::Sum),
            prop::collection::vec(inner, 1..4).prop_map(Kernel::Product),
            (positive(), boxed.clone()).prop_map(|(factor, of)| Kernel::Scaled { factor, of }),
            (-5.0..-0.1, boxed.clone()).prop_map(|(factor, of)| Kernel::Scaled { factor, of }),
            (1..9u32, boxed.clone()).prop_map(|(degree, of)| Kernel::Power { degree, of }),
            (0..4u32, 5..9u32, boxed.clone()).prop_map(|(from, to, of)| Kernel::Columns { from, to, of }),
            (1..4u32, 1..4u32, boxed.clone()).prop_map(|(size, step, of)| Kernel::Subvector {
                size,
                step,
                degree: 2,
                of
            }),
            boxed.prop_map(Kernel::Normalised),
        ]
    })
    .prop_filter("columns that exist", |kernel| kernel.check(None).is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(512)
    })]

    #[test]
    fn every_kernel_reads_back(kernel in kernels()) {
        let line = kernel.to_string();
        prop_assert_eq!(Kernel::parse(&line).map_err(|e| e.to_string()), Ok(kernel), "{}", line);
    }

    #[test]
    fn any_text_gives_a_kernel_or_words(text in "\\PC{0,60}") {
        let _ = Kernel::parse(&text);
    }

    #[test]
    fn near_misses_give_a_kernel_or_words(
        parts in prop::collection::vec(prop::sample::select(vec![
            "rbf", "poly", "linear", "ard", "sum", "normalised", "columns", "(", ")", "[", "]", ",", "=", "+", "*", "^",
            "/", "gamma", "degree", "of", "from", "to", "1", "-2", ".5", "1e9", "1e999", "9999999999", " ", "e", "-", "é",
        ]), 0..30)
    ) {
        if let Ok(kernel) = Kernel::parse(&parts.concat()) {
            prop_assert_eq!(Kernel::parse(&kernel.to_string()).ok(), Some(kernel));
        }
    }
}
