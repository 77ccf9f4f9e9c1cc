//! Toy sets: seeded, of the size asked, and with the structure they promise.

use mercer::data::{Targets, toy};
use mercer_testkit::assert::close;

use crate::values;

#[test]
fn seeds_and_sizes() {
    for set in toy::ALL {
        for n in [0, 1, 60] {
            let (points, targets) = (set.make)(n, 3);
            assert_eq!(points.len(), n, "{}", set.name);
            assert!(targets.len().is_none_or(|m| m == n));
            assert!(points.first_not_finite().is_none());
        }
        assert_eq!((set.make)(60, 3), (set.make)(60, 3), "{}", set.name);
        assert_ne!((set.make)(60, 3).0, (set.make)(60, 4).0, "{}", set.name);
        assert_eq!(toy::by_name(set.name, 9, 1).expect("its name"), (set.make)(9, 1));
    }
    let message = toy::by_name("bananas", 9, 1).expect_err("no such set").to_string();
    assert!(message.contains("one of banana, disc"), "{message}");
}

#[test]
fn as_many_classes_as_are_asked_for() {
    for set in toy::OF_CLASSES {
        for k in toy::CLASSES {
            let (points, targets) = toy::of_classes(set.name, 10 * k, k, 3).expect(set.name);
            assert_eq!(targets.classes().expect("classes").counts(), vec![10; k], "{}", set.name);
            assert!(points.len() == 10 * k && points.first_not_finite().is_none());
            assert_ne!(points, (set.make)(10 * k, k, 4).0, "{}", set.name);
        }
        for k in [2, 4, 6] {
            let error = error_of(toy::of_classes(set.name, 300, k, 1).expect(set.name));
            assert!(error < 0.15, "{} of {k} classes: {error}", set.name);
        }
    }
    let message = toy::of_classes("rings", 9, 1, 1).expect_err("one class").to_string();
    assert!(message.contains("from 2 to 26"), "{message}");
    assert!(toy::of_classes("banana", 9, 2, 1).is_err());
}

/// Share of points whose nearest neighbour is of another class.
fn neighbour_error(name: &str) -> f64 {
    error_of(toy::by_name(name, 300, 1).expect(name))
}

fn error_of((points, targets): (mercer::data::Points, Targets)) -> f64 {
    let (x, labels) = (values(&points), targets.classes().expect("classes").of_row.clone());
    let distance = |i: usize, j: usize| (x[2 * i] - x[2 * j]).hypot(x[2 * i + 1] - x[2 * j + 1]);
    let wrong = (0..300).filter(|&i| {
        let near = (0..300).filter(|&j| j != i).min_by(|&a, &b| distance(i, a).total_cmp(&distance(i, b)));
        labels[near.expect("299 others")] != labels[i]
    });
    wrong.count() as f64 / 300.0
}

#[test]
fn classes_are_as_hard_as_they_should_be() {
    for (name, least, most) in [
        ("banana", 0.0, 0.1),
        ("disc", 0.1, 0.35),
        ("ring", 0.0, 0.1),
        ("spirals", 0.0, 0.05),
        ("clusters", 0.0, 0.02),
    ] {
        let error = neighbour_error(name);
        assert!((least..=most).contains(&error), "{name}: {error}");
    }
}

#[test]
fn curves_lie_where_they_should() {
    let noise = |points: mercer::data::Points, off: &dyn Fn(f64, f64) -> f64| {
        let x = values(&points);
        (x.chunks(2).map(|p| off(p[0], p[1]).powi(2)).sum::<f64>() / points.len() as f64).sqrt()
    };
    close(noise(toy::parabola(2000, 1).0, &|x, y| y - x * x), 0.2, 0.02);
    close(noise(toy::half_circle(2000, 1).0, &|x, y| x.hypot(y) - 1.0), 0.1, 0.02);
    close(noise(toy::square(2000, 1).0, &|x, y| x.abs().max(y.abs()) - 1.0), 0.1, 0.03);
    let (points, targets) = toy::sinc(2000, 1);
    let Targets::Reals(y) = targets else { panic!("a regression set has real targets") };
    let off = values(&points).iter().zip(&y).map(|(x, y)| (y - x.sin() / x).powi(2)).sum::<f64>();
    close((off / 2000.0).sqrt(), 0.1, 0.02);
}
