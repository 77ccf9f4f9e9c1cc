//! Several classes by two-class machines: which machines there are, and what their outputs mean together.
//!
//! One against one: c (c - 1) / 2 machines, each on two classes alone; each votes, most votes win. One against the rest:
//! c machines on all rows, the largest output wins (Schoelkopf 1997, section 2.1.6). Two classes need one machine
//! either way.

use serde::{Deserialize, Serialize};

use crate::model::svc::{Multi, Ties};

/// The two sides of a machine, as numbers of classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sides {
    /// The class that f > 0 means.
    pub positive: u32,
    /// The other one; none: all others.
    pub negative: Option<u32>,
}

/// How many machines there are for so many classes.
pub(in crate::model) fn count(classes: usize, multi: Multi) -> usize {
    match multi {
        Multi::OneVsRest if classes > 2 => classes,
        _ => classes.saturating_mul(classes.saturating_sub(1)) / 2,
    }
}

/// The machines for so many classes. In a pair, the class named second is the positive one.
pub(in crate::model) fn machines(classes: usize, multi: Multi) -> Vec<Sides> {
    let k = classes as u32;
    match multi {
        Multi::OneVsRest if k > 2 => (0..k).map(|positive| Sides { positive, negative: None }).collect(),
        _ => (0..k).flat_map(|a| (a + 1..k).map(move |b| Sides { positive: b, negative: Some(a) })).collect(),
    }
}

/// A score for each class from one row of machine outputs: the larger, the likelier.
///
/// Against the rest it is the output itself. One against one it is the number of votes plus, below a third in size, the
/// squashed sum of outputs in favour: votes decide, and the sum ranks what ties (as in scikit-learn's decision function).
pub(in crate::model) fn scores(outputs: &[f64], sides: &[Sides], scores: &mut [f64]) {
    scores.fill(0.0);
    if let [only] = sides
        && only.negative.is_some()
    {
        let f = outputs[0];
        scores[only.positive as usize] = f;
        scores[1 - only.positive as usize] = -f;
        return;
    }
    let k = scores.len();
    let mut sums = vec![0.0; k];
    for (&f, side) in outputs.iter().zip(sides) {
        match side.negative {
            None => scores[side.positive as usize] = f,
            Some(negative) => {
                sums[side.positive as usize] += f;
                sums[negative as usize] -= f;
                scores[if f > 0.0 { side.positive } else { negative } as usize] += 1.0;
            }
        }
    }
    scores.iter_mut().zip(&sums).for_each(|(score, sum)| *score += sum / (3.0 * (sum.abs() + 1.0)));
}

/// The winning class from its scores.
pub(in crate::model) fn winner(scores: &[f64], ties: Ties, voted: bool) -> u32 {
    let rank = |s: f64| if voted && ties == Ties::First { s.round() } else { s };
    let mut best = 0;
    for (c, &score) in scores.iter().enumerate().skip(1) {
        if rank(score) > rank(scores[best]) {
            best = c;
        }
    }
    best as u32
}

/// How far the largest score is above the second largest.
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
        let sides = machines(3, Multi::OneVsOne);
        // (0,1), (0,2), (1,2): class 1 wins both of its pairs by a hair, class 2 beats 0 by far.
        let mut line = [0.0; 3];
        scores(&[0.01, 9.0, -0.01], &sides, &mut line);
        assert_eq!(winner(&line, Ties::Sum, true), 1);
        assert_eq!(winner(&line, Ties::First, true), 1);
        // A cycle: one vote each. 0 comes first, 2 has the largest sum.
        scores(&[1.0, -2.0, 5.0], &sides, &mut line);
        assert_eq!(line.map(f64::round), [1.0; 3]);
        assert_eq!(winner(&line, Ties::First, true), 0);
        assert_eq!(winner(&line, Ties::Sum, true), 2);
    }

    #[test]
    fn against_the_rest_the_largest_output_wins() {
        let sides = machines(3, Multi::OneVsRest);
        let mut line = [0.0; 3];
        scores(&[-0.5, -0.25, -2.0], &sides, &mut line);
        assert_eq!(line, [-0.5, -0.25, -2.0]);
        assert_eq!(winner(&line, Ties::First, false), 1);
        assert_eq!(gap(&line), 0.25);
        scores(&[0.75], &machines(2, Multi::OneVsOne), &mut line[..2]);
        assert_eq!((winner(&line[..2], Ties::First, false), gap(&line[..2])), (1, 1.5));
    }
}
