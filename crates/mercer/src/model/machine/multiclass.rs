//! Multi-class classification by two-class machines: one-vs-one and one-vs-rest.
//!
//! One-vs-one: c (c - 1) / 2 machines, each on two classes; each votes, and most votes win. One-vs-rest: c machines
//! on all rows, and the largest output wins (Schoelkopf 1997, section 2.1.6). Two classes need one machine either
//! way.

use serde::{Deserialize, Serialize};

use crate::model::svc::{Multi, Ties};

/// The two classes of a machine, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sides {
    /// The class of f > 0.
    pub positive: u32,
    /// The other class; `None`: all others.
    pub negative: Option<u32>,
}

/// Number of machines for this number of classes.
pub(in crate::model) fn count(classes: usize, multi: Multi) -> usize {
    match multi {
        Multi::OneVsRest if classes > 2 => classes,
        _ => classes.saturating_mul(classes.saturating_sub(1)) / 2,
    }
}

/// The machines for this number of classes. In a pair, the class named second is the positive one.
pub(in crate::model) fn machines(classes: usize, multi: Multi) -> Vec<Sides> {
    let k = classes as u32;
    match multi {
        Multi::OneVsRest if k > 2 => (0..k).map(|positive| Sides { positive, negative: None }).collect(),
        _ => (0..k).flat_map(|a| (a + 1..k).map(move |b| Sides { positive: b, negative: Some(a) })).collect(),
    }
}

/// A score for each class from one row of machine outputs; larger means more likely.
///
/// One-vs-rest it is the output itself. For `pairs`, in the order of [`machines`], it is the number of votes plus a
/// squashed sum of the outputs in favour, which is below a third: votes decide, and the sum breaks ties (as in
/// scikit-learn's decision function). `sums` is a buffer with one number per class.
pub(in crate::model) fn scores(outputs: &[f64], pairs: bool, scores: &mut [f64], sums: &mut [f64]) {
    if let ([f], [first, second]) = (outputs, &mut *scores) {
        (*first, *second) = (-f, *f);
        return;
    }
    if !pairs {
        scores.copy_from_slice(outputs);
        return;
    }
    votes(outputs, scores);
    sums.fill(0.0);
    let mut rest = outputs;
    for a in 0..sums.len() {
        let (own, others) = rest.split_at(sums.len() - 1 - a);
        rest = others;
        own.iter().zip(&mut sums[a + 1..]).for_each(|(f, sum)| *sum += f);
        sums[a] = own.iter().fold(sums[a], |sum, f| sum - f);
    }
    scores.iter_mut().zip(&*sums).for_each(|(score, sum)| *score += sum / (3.0 * (sum.abs() + 1.0)));
}

/// The number of votes for each class from one row of the outputs of pairs, in the order of [`machines`].
pub(in crate::model) fn votes(outputs: &[f64], votes: &mut [f64]) {
    votes.fill(0.0);
    let mut rest = outputs;
    for a in 0..votes.len() {
        // The machines of class a against each later one. Votes are unpredictable, so the loop has no branches.
        let (own, others) = rest.split_at(votes.len() - 1 - a);
        rest = others;
        let mut lost = 0.0;
        for (f, votes) in own.iter().zip(&mut votes[a + 1..]) {
            let vote = if *f > 0.0 { 1.0 } else { 0.0 };
            *votes += vote;
            lost += vote;
        }
        votes[a] += own.len() as f64 - lost;
    }
}

/// Rows of `wide` values per task: enough work to be worth a thread.
pub(in crate::model) fn lines_a_piece(wide: usize) -> usize {
    (1 << 15) / wide.max(1) + 1
}

/// The winning class from its scores.
pub(in crate::model) fn winner(scores: &[f64], ties: Ties, voted: bool) -> u32 {
    // A score of votes is at least -1/3, so this rounds to the number of votes; `f64::round` is a function call.
    let rank = |s: f64| if voted && ties == Ties::First { (s + 0.5) as i64 as f64 } else { s };
    let mut best = (0, scores.first().map_or(0.0, |&score| rank(score)));
    for (c, &score) in scores.iter().enumerate().skip(1) {
        let rank = rank(score);
        if rank > best.1 {
            best = (c, rank);
        }
    }
    best.0 as u32
}

/// The difference between the largest and the second largest score.
pub(in crate::model) fn gap(scores: &[f64]) -> f64 {
    let (mut first, mut second) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for &score in scores {
        if score > first {
            (first, second) = (score, first);
        } else if score > second {
            second = score;
        }
    }
    first - second
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_classes_have_one_machine_and_more_have_theirs() {
        assert_eq!(machines(2, Multi::OneVsRest), [Sides { positive: 1, negative: Some(0) }]);
        assert_eq!(machines(4, Multi::OneVsRest).len(), 4);
        for (k, multi) in
            [(2, Multi::OneVsRest), (5, Multi::OneVsRest), (2, Multi::OneVsOne), (7, Multi::OneVsOne)]
        {
            assert_eq!(machines(k, multi).len(), count(k, multi));
        }
        assert!(count(usize::MAX, Multi::OneVsOne) > 1 << 60);
        let pairs = machines(4, Multi::OneVsOne);
        assert_eq!(pairs.len(), 6);
        assert!(pairs.iter().all(|s| s.negative.is_some_and(|n| n < s.positive)));
    }

    #[test]
    fn votes_decide_before_sums() {
        // (0,1), (0,2), (1,2): class 1 wins both of its pairs by a hair, class 2 beats 0 by far.
        let (mut line, mut sums) = ([0.0; 3], [0.0; 3]);
        scores(&[0.01, 9.0, -0.01], true, &mut line, &mut sums);
        assert_eq!(winner(&line, Ties::Sum, true), 1);
        assert_eq!(winner(&line, Ties::First, true), 1);
        // A cycle: one vote each. 0 comes first, 2 has the largest sum.
        scores(&[1.0, -2.0, 5.0], true, &mut line, &mut sums);
        assert_eq!(line.map(f64::round), [1.0; 3]);
        assert_eq!(winner(&line, Ties::First, true), 0);
        assert_eq!(winner(&line, Ties::Sum, true), 2);
    }

    #[test]
    fn against_the_rest_the_largest_output_wins() {
        let (mut line, mut sums) = ([0.0; 3], [0.0; 3]);
        scores(&[-0.5, -0.25, -2.0], false, &mut line, &mut sums);
        assert_eq!(line, [-0.5, -0.25, -2.0]);
        assert_eq!(winner(&line, Ties::First, false), 1);
        assert_eq!(gap(&line), 0.25);
        scores(&[0.75], true, &mut line[..2], &mut sums[..2]);
        assert_eq!((winner(&line[..2], Ties::First, false), gap(&line[..2])), (1, 1.5));
    }

    /// The obvious way: each machine votes for one of its two sides.
    fn counted(outputs: &[f64], k: usize) -> Vec<f64> {
        let (mut votes, mut sums) = (vec![0.0; k], vec![0.0; k]);
        for (&f, side) in outputs.iter().zip(machines(k, Multi::OneVsOne)) {
            let (positive, negative) = (side.positive as usize, side.negative.expect("a pair") as usize);
            sums[positive] += f;
            sums[negative] -= f;
            votes[if f > 0.0 { positive } else { negative }] += 1.0;
        }
        votes.iter().zip(sums).map(|(v, s): (&f64, f64)| v + s / (3.0 * (s.abs() + 1.0))).collect()
    }

    #[test]
    fn votes_and_sums_are_those_counted_pair_by_pair() {
        for k in [3, 4, 5, 9, 26, 71] {
            let pairs = count(k, Multi::OneVsOne);
            let (mut line, mut sums) = (vec![0.0; k], vec![7.0; k]);
            for seed in 0..20 {
                let mut outputs = mercer_testkit::toy::normals(pairs, 1, seed);
                // Outputs of exactly 0 are votes for the negative side.
                outputs.iter_mut().step_by(5).for_each(|f| *f = 0.0);
                scores(&outputs, true, &mut line, &mut sums);
                assert_eq!(line, counted(&outputs, k), "{k} classes, seed {seed}");
            }
        }
    }
}
