//! Grouping of centres that have coefficients for the same outputs.
//!
//! A one-vs-one machine for c classes has c (c - 1) / 2 outputs, but a centre of one class has coefficients for at
//! most the c - 1 pairs of that class. Grouped by class, centres are multiplied by those alone: with 26 classes by 25
//! columns of coefficients instead of 325. This module does not know classes; the zeros among the coefficients
//! determine the groups.
//!
//! Cost: m k to read the coefficients, and m g k / 64 to sort centres into g groups.

use std::ops::Range;

/// Consecutive centres in the new order, and the outputs that they have coefficients for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tile {
    pub centres: Range<usize>,
    pub outputs: Vec<u32>,
}

/// With fewer outputs than this, multiplying zeros costs less than grouping.
const OUTPUTS: usize = 8;
/// Minimum number of centres in a tile: kernel values of fewer are not computed faster.
const CENTRES: usize = 32;
/// Maximum number of groups: each centre is compared with all of them.
const GROUPS: usize = 512;

/// A set of outputs, one bit each.
type Set = Vec<u64>;

fn common(a: &Set, b: &Set) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum()
}

/// An order of centres (m x k coefficients, row by row) and tiles of at most `most` of them that skip at least half
/// of all coefficients, which are 0; `None` if there is no such order.
pub(super) fn tiles(coef: &[f64], k: usize, most: usize) -> Option<(Vec<usize>, Vec<Tile>)> {
    let m = coef.len() / k.max(1);
    if k < OUTPUTS || m < CENTRES || 2 * coef.iter().filter(|c| **c != 0.0).count() > coef.len() {
        return None;
    }
    let set = |line: &[f64]| {
        let mut set = vec![0; k.div_ceil(64)];
        line.iter().enumerate().filter(|(_, c)| **c != 0.0).for_each(|(o, _)| set[o / 64] |= 1 << (o % 64));
        set
    };
    let sets: Vec<Set> = coef.chunks(k).map(set).collect();
    let size: Vec<u32> = sets.iter().map(|set| set.iter().map(|word| word.count_ones()).sum()).collect();
    // Centres with coefficients for most outputs come first, so that similar ones join their groups.
    let mut largest_first: Vec<usize> = (0..m).collect();
    largest_first.sort_by_key(|&j| std::cmp::Reverse(size[j]));
    let mut groups: Vec<(Set, Vec<usize>)> = Vec::new();
    for j in largest_first {
        let shared = groups.iter().map(|(all, _)| common(all, &sets[j])).enumerate();
        // The first of equals, so that the order depends on the coefficients only.
        let best = shared.reduce(|best, next| if next.1 > best.1 { next } else { best });
        match best {
            Some((at, shared)) if 2 * shared >= size[j] || groups.len() == GROUPS => {
                let (all, centres) = &mut groups[at];
                all.iter_mut().zip(&sets[j]).for_each(|(all, own)| *all |= own);
                centres.push(j);
            }
            _ => groups.push((sets[j].clone(), vec![j])),
        }
    }
    let (mut order, mut tiles) = (Vec::with_capacity(m), Vec::new());
    let (mut waiting, mut outputs): (Vec<usize>, Set) = (Vec::new(), vec![0; k.div_ceil(64)]);
    let count = groups.len();
    for (at, (all, centres)) in groups.into_iter().enumerate() {
        waiting.extend(centres);
        outputs.iter_mut().zip(&all).for_each(|(outputs, all)| *outputs |= all);
        if waiting.len() < CENTRES && at + 1 < count {
            continue;
        }
        waiting.sort_unstable();
        let of: Vec<u32> = (0..k as u32).filter(|&o| outputs[o as usize / 64] >> (o % 64) & 1 == 1).collect();
        for some in waiting.chunks(most) {
            tiles.push(Tile { centres: order.len()..order.len() + some.len(), outputs: of.clone() });
            order.extend_from_slice(some);
        }
        waiting.clear();
        outputs.fill(0);
    }
    let kept: usize = tiles.iter().map(|tile| tile.centres.len() * tile.outputs.len()).sum();
    (2 * kept <= coef.len()).then_some((order, tiles))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Coefficients of `each` centres a class for all pairs of classes, classes in turn; each pair leaves out some.
    fn pairs(classes: usize, each: usize) -> (Vec<f64>, usize) {
        let k = classes * (classes - 1) / 2;
        let noise = mercer_testkit::toy::normals(classes * each * k, 1, 1);
        let mut coef = vec![0.0; classes * each * k];
        for j in 0..classes * each {
            let sides = (0..classes).flat_map(|a| (a + 1..classes).map(move |b| (a, b)));
            for (o, (a, b)) in sides.enumerate() {
                if (a == j % classes || b == j % classes) && noise[j * k + o] > -0.5 {
                    coef[j * k + o] = noise[j * k + o];
                }
            }
        }
        (coef, k)
    }

    #[test]
    fn every_coefficient_that_is_not_0_lies_in_one_tile() {
        for (classes, each, most) in [(5, 70, 50), (12, 40, 576), (26, 90, 64), (60, 3, 576)] {
            let (coef, k) = pairs(classes, each);
            let (order, tiles) = tiles(&coef, k, most).expect("most coefficients are 0");
            let mut seen = order.clone();
            seen.sort_unstable();
            assert_eq!(seen, (0..classes * each).collect::<Vec<_>>(), "{classes} classes");
            let mut found = vec![0.0; coef.len()];
            let mut next = 0;
            for tile in &tiles {
                assert_eq!(tile.centres.start, next);
                assert!(!tile.centres.is_empty() && tile.centres.len() <= most);
                next = tile.centres.end;
                for &j in &order[tile.centres.clone()] {
                    tile.outputs.iter().for_each(|&o| found[j * k + o as usize] = coef[j * k + o as usize]);
                }
            }
            assert_eq!(next, order.len());
            assert_eq!(found, coef, "{classes} classes");
        }
    }

    #[test]
    fn centres_of_a_class_find_each_other() {
        let (coef, k) = pairs(26, 90);
        let (order, tiles) = tiles(&coef, k, 576).expect("most coefficients are 0");
        assert_eq!(tiles.len(), 26);
        for tile in &tiles {
            assert_eq!(tile.outputs.len(), 25);
            let of = order[tile.centres.start] % 26;
            assert!(order[tile.centres.clone()].iter().all(|j| j % 26 == of));
        }
    }

    #[test]
    fn full_coefficients_and_few_outputs_stay_as_they_are() {
        let full = mercer_testkit::toy::normals(200 * 30, 1, 1);
        assert_eq!(tiles(&full, 30, 576), None);
        let (coef, k) = pairs(4, 100);
        assert_eq!(tiles(&coef, k, 576), None, "6 outputs");
        // A third of the coefficients, anywhere: no order helps.
        let mixed: Vec<f64> = full.iter().map(|c| if *c > 0.43 { *c } else { 0.0 }).collect();
        assert_eq!(tiles(&mixed, 30, 576), None);
        assert_eq!(tiles(&[], 30, 576), None);
        let nothing = tiles(&vec![0.0; 100 * 30], 30, 576).expect("all are 0");
        assert!(nothing.1.iter().all(|tile| tile.outputs.is_empty()));
    }
}
