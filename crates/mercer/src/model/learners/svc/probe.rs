//! Estimates how many rows of a large kernel matrix training will need, from fits on few rows.
//!
//! Well-separated classes have few support vectors for any number of rows: computing the whole matrix, or the whole
//! square block of a class, would then cost many times what the fit needs. Two fits on few rows of each class
//! estimate the growth of the number of support vectors with the rows, as a power between 0 (separated) and 1
//! (overlapping), which is extrapolated to all rows. Cost: two fits on at most 128 and 512 rows per class and 4096 in
//! all, only where a class or the whole has more than 8192 rows.

use super::fit::Plan;
use super::params::SvcParams;
use crate::data::{Labels, Targets, Transformations};
use crate::gram;
use crate::model::{Sample, Sides};
use crate::watch::silent;

/// Matrices of at most this many rows are computed without an estimate, which would cost more.
pub(super) const LARGE: usize = 8192;

/// Number of rows of each class in the smaller fit; the larger one has four times as many.
const FEW: usize = 128;

/// Rows that a solve needs, per support vector at the end.
const ASKED: f64 = 2.0;

/// The rows that all machines together are likely to need, class by class; `None` if an estimating fit did not
/// converge. Where machines share rows, a row needed by several counts once.
pub(super) fn rows_asked(plan: &Plan<'_>, members: &[Vec<usize>], shared: bool) -> Option<Vec<f64>> {
    // A larger sample would itself be estimated first, recursively without end.
    let size = FEW.min(LARGE / 8 / members.len().max(1)).max(1);
    let (few, more) = (support(plan, members, size, shared)?, support(plan, members, 4 * size, shared)?);
    let grown = |(c, rows): (usize, &Vec<usize>)| {
        let (few, more) = (few[c].max(1.0), more[c].max(1.0));
        let power = ((more / few).ln() / 4f64.ln()).clamp(0.0, 1.0);
        let times = (rows.len() as f64 / (4 * size) as f64).max(1.0);
        ASKED * more * times.powf(power)
    };
    Some(members.iter().enumerate().map(grown).collect())
}

/// Rows of each class in the estimate of how hard pairs are, and rows of the largest class from which it is made. Smaller
/// pairs are trained on whole matrices, whose memory each thread keeps for its next pair if the largest comes first.
const LOOK: usize = 32;
const WORTH_LOOK: usize = 4096;

/// Pairs of classes in the order in which they should be trained side by side: those that are likely to take longest first,
/// so that no thread is left with one at the end. Time grows with the rows and with the share of support vectors, which
/// grows as the distance between the classes' means in feature space falls: that is measured on few rows. `None` where it is
/// not worth the look. The order does not change the machines.
pub(super) fn hardest_first(plan: &Plan<'_>, members: &[Vec<usize>]) -> Option<Vec<usize>> {
    let largest = members.iter().map(Vec::len).max()?;
    if largest < WORTH_LOOK || members.len() * LOOK > LARGE / 2 || members.iter().any(Vec::is_empty) {
        return None;
    }
    let few = |rows: &Vec<usize>| -> Vec<usize> {
        let m = rows.len().min(LOOK);
        (0..m).map(|i| rows[i * rows.len() / m]).collect()
    };
    let few: Vec<Vec<usize>> = members.iter().map(few).collect();
    let points = plan.sample.points.gather(&few.concat());
    let values = gram::square::<f32>(&plan.kernel, points.view(), plan.exec).ok()?;
    let starts: Vec<usize> = few
        .iter()
        .scan(0, |end, rows| {
            *end += rows.len();
            Some(*end - rows.len())
        })
        .collect();
    let mean = |a: usize, b: usize| -> f64 {
        let columns = starts[b]..starts[b] + few[b].len();
        let lines = (0..few[a].len()).map(|i| &values[(starts[a] + i) * points.len()..][columns.clone()]);
        lines.flatten().map(|&v| f64::from(v)).sum::<f64>() / (few[a].len() * few[b].len()) as f64
    };
    let hard = |m: usize| -> Option<f64> {
        let Sides { positive, negative } = plan.machines[m];
        let (a, b) = (negative? as usize, positive as usize);
        let apart = mean(a, a) + mean(b, b) - 2.0 * mean(a, b);
        Some((members[a].len() + members[b].len()) as f64 / apart.max(1e-9))
    };
    let hard: Vec<f64> = (0..plan.machines.len()).map(hard).collect::<Option<_>>()?;
    let mut order: Vec<usize> = (0..hard.len()).collect();
    order.sort_by(|&a, &b| hard[b].total_cmp(&hard[a]).then(a.cmp(&b)));
    Some(order)
}

/// Support vectors of each class in a fit on at most `size` rows of every class: distinct ones, or the sum over
/// machines.
fn support(plan: &Plan<'_>, members: &[Vec<usize>], size: usize, shared: bool) -> Option<Vec<f64>> {
    // Equally spaced over all rows of a class: the same rows every time.
    let pick = |rows: &'_ Vec<usize>| -> Vec<usize> {
        let m = rows.len().min(size);
        (0..m).map(|i| rows[i * rows.len() / m]).collect()
    };
    let index: Vec<usize> = members.iter().flat_map(pick).collect();
    // Only with thousands of classes; no estimate is made then.
    if index.len() > LARGE / 2 {
        return None;
    }
    let of_row: Vec<u32> = index.iter().map(|&i| plan.labels.of_row[i]).collect();
    let weights: Vec<f64> = index.iter().map(|&i| plan.sample.weight(i)).collect();
    let points = plan.sample.points.gather(&index);
    let targets = Targets::Classes(Labels { names: plan.labels.names.clone(), of_row: of_row.clone() });
    let params = SvcParams {
        kernel: Some(plan.kernel.clone()),
        probability: false,
        virtual_vectors: Transformations::default(),
        ..plan.params.clone()
    };
    let sample = Sample::new(&points, &targets).weighted(&weights);
    let model = params.fit(sample, plan.exec, &mut silent()).ok()?;
    let mut count = vec![0.0; members.len()];
    let mut add = |row: u32| count[of_row[row as usize] as usize] += 1.0;
    if shared {
        model.support.iter().for_each(|&row| add(row));
    } else {
        model.parts.iter().flat_map(|m| m.free.iter().chain(&m.bounded)).for_each(|&row| add(row));
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Points;
    use crate::exec::Exec;
    use crate::kernel::Kernel;
    use crate::model::svc::Multi;
    use mercer_testkit::toy;

    const ROWS: [usize; 3] = [8600, 300, 100];

    /// One large class and two small ones, so far apart.
    fn clouds(apart: f64) -> (Points, Targets) {
        let of_row: Vec<u32> = ROWS.iter().zip(0..).flat_map(|(&n, class)| vec![class; n]).collect();
        let mut x = toy::normals(of_row.len(), 2, 3);
        for (row, &class) in x.chunks_mut(2).zip(&of_row) {
            row[0] += apart * f64::from(class);
        }
        let names = ["a", "b", "c"].map(String::from).to_vec();
        (Points::dense(x, 2).expect("whole rows"), Targets::Classes(Labels { names, of_row }))
    }

    fn params(multi: Multi) -> SvcParams {
        SvcParams { kernel: Some(Kernel::Rbf { gamma: 0.1 }), c: 10.0, multi, ..SvcParams::default() }
    }

    #[test]
    fn a_large_class_with_few_support_vectors_is_not_computed_whole() {
        let (points, targets) = clouds(9.0);
        for multi in [Multi::OneVsOne, Multi::OneVsRest] {
            let model = params(multi).fit(Sample::new(&points, &targets), Exec::one(), &mut silent());
            let info = model.expect("a fit").info;
            assert!(info.notes[0].contains("few support vectors"), "{multi:?}: {:?}", info.notes);
            let square = (ROWS[0] * ROWS[0] / 2) as u64;
            assert!(info.kernel_values < square / 2, "{multi:?}: {} values", info.kernel_values);
        }
    }

    #[test]
    fn a_probe_of_many_classes_comes_to_its_end() {
        for classes in [26, 40, 5000] {
            let n = 10_000;
            let x: Vec<f64> = toy::normals(n, 2, 5)
                .chunks(2)
                .zip(0..)
                .flat_map(|(p, i): (_, usize)| [p[0] + 20.0 * (i % classes) as f64, p[1]])
                .collect();
            let of_row = (0..n as u32).map(|i| i % classes as u32).collect();
            let names = (0..classes).map(|c| c.to_string()).collect();
            let targets = Targets::Classes(Labels { names, of_row });
            let points = Points::dense(x, 2).expect("whole rows");
            let params = params(Multi::OneVsRest);
            let plan = Plan::new(&params, Sample::new(&points, &targets), None, Exec::one()).expect("a plan");
            let asked = rows_asked(&plan, &plan.members(), true);
            assert_eq!(asked.is_some(), classes < 5000, "{classes}");
        }
    }

    #[test]
    fn the_pair_that_overlaps_is_trained_first() {
        // Four classes on a line; the last two are close together.
        let centres = [0.0, 8.0, 16.0, 16.5];
        let n = 4 * WORTH_LOOK;
        let of_row: Vec<u32> = (0..n as u32).map(|i| i % 4).collect();
        let mut x = toy::normals(n, 2, 4);
        x.chunks_mut(2).zip(&of_row).for_each(|(row, &c)| row[0] += centres[c as usize]);
        let names = (0..4).map(|c| c.to_string()).collect();
        let targets = Targets::Classes(Labels { names, of_row });
        let points = Points::dense(x, 2).expect("whole rows");
        let params = params(Multi::OneVsOne);
        let plan = Plan::new(&params, Sample::new(&points, &targets), None, Exec::one()).expect("a plan");
        let order = hardest_first(&plan, &plan.members()).expect("large classes");
        let Sides { positive, negative } = plan.machines[order[0]];
        assert_eq!(
            [negative.expect("a pair").min(positive), negative.expect("a pair").max(positive)],
            [2, 3]
        );
        let mut all = order.clone();
        all.sort_unstable();
        assert!(all.iter().copied().eq(0..6));
        // Small classes are not worth it.
        let few: Vec<Vec<usize>> = plan.members().iter().map(|rows| rows[1..].to_vec()).collect();
        assert!(hardest_first(&plan, &few).is_none());
    }

    #[test]
    fn classes_that_overlap_are_expected_to_ask_for_most_rows() {
        let (points, targets) = clouds(0.1);
        // Small classes say little about a large one: as many rows of each.
        let labels = targets.classes().expect("classes");
        let of_row: Vec<u32> = (0..labels.len() as u32).map(|i| i % 3).collect();
        let mixed = Targets::Classes(Labels { names: labels.names.clone(), of_row });
        let params = params(Multi::OneVsOne);
        let asked = |targets: &Targets| {
            let plan = Plan::new(&params, Sample::new(&points, targets), None, Exec::one()).expect("a plan");
            let members = plan.members();
            let asked = rows_asked(&plan, &members, false).expect("a probe");
            asked.iter().zip(&members).map(|(a, rows)| a / rows.len() as f64).collect::<Vec<f64>>()
        };
        assert!(asked(&mixed).iter().all(|share| *share > 0.5), "{:?}", asked(&mixed));
        let apart = clouds(9.0).1;
        let (far, _) = clouds(9.0);
        let plan = Plan::new(&params, Sample::new(&far, &apart), None, Exec::one()).expect("a plan");
        let few = rows_asked(&plan, &plan.members(), false).expect("a probe");
        assert!(few[0] < ROWS[0] as f64 / 2.0, "{few:?}");
    }
}
