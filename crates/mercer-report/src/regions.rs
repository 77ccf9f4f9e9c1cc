//! The regions into which a classifier divides the plane, as text.

use crate::scatter::{Frame, MARKS, marks};
use mercer::data::{Dataset, Points};
use mercer::error::{Error, Result};
use mercer::exec::Exec;
use mercer::model::Machine;

/// Grounds of the classes, in order, then from the start again.
const GROUNDS: [char; 4] = [' ', '░', '▒', '▓'];

/// The plane over the range of some data, each class's region on a ground of its own, with the marks of those rows that
/// are to be shown. `width` and `height` count characters. Fails unless points have two columns and the targets are
/// classes.
pub fn regions(
    model: &Machine,
    data: &Dataset,
    shown: &[usize],
    width: usize,
    height: usize,
    exec: Exec,
) -> Result<Vec<String>> {
    if data.dim() != 2 {
        return Err(Error::shape("columns of points to draw", data.dim(), 2));
    }
    let pairs: Vec<(f64, f64)> = data.points.view().to_f64()?.chunks(2).map(|p| (p[0], p[1])).collect();
    let frame = Frame::around(&pairs);
    let grid: Vec<f64> = (0..height)
        .flat_map(|line| (0..width).map(move |column| (column, line)))
        .flat_map(|(column, line)| frame.centre(column, line, width, height))
        .collect();
    let ground = model.labels(Points::dense(grid, 2)?.view(), exec)?.of_row;
    let pairs: Vec<(f64, f64)> = shown.iter().map(|&i| pairs[i]).collect();
    let class = data.targets.classes()?.gather(shown).of_row;
    let marks = marks(&pairs, &class, &frame, width, height);
    let cell = |(mark, ground): (&Option<usize>, &u32)| match mark {
        Some(k) => MARKS[*k],
        None => GROUNDS[*ground as usize % GROUNDS.len()],
    };
    let lines = marks.chunks(width).zip(ground.chunks(width));
    Ok(lines.map(|(marks, ground)| marks.iter().zip(ground).map(cell).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer::data::{Targets, toy};
    use mercer::model::{Sample, SvcParams};

    #[test]
    fn a_ring_is_drawn_around_its_cloud() {
        let (points, targets) = toy::ring(200, 1);
        let params = SvcParams { c: 10.0, ..SvcParams::default() };
        let sample = Sample::new(&points, &targets);
        let model = params.fit(sample, Exec::one(), &mut mercer::watch::silent()).expect("a fit");
        let data = Dataset::new(points, targets).expect("as many labels as points");
        let lines = regions(&model, &data, &[], 21, 11, Exec::one()).expect("a drawing");
        assert!(lines.iter().all(|l| l.chars().count() == 21 && l.chars().all(|c| GROUNDS.contains(&c))));
        // The corner is beyond the ring, the middle is the cloud's.
        let at = |line: usize, column: usize| lines[line].chars().nth(column).expect("inside");
        assert_ne!(at(0, 0), at(5, 10), "{lines:#?}");
        let marked = regions(&model, &data, &[0, 1], 21, 11, Exec::one()).expect("a drawing");
        let marks = marked.iter().flat_map(|line| line.chars()).filter(|c| MARKS.contains(c)).count();
        assert_eq!(marks, 2);
        let flat = Dataset::new(Points::dense(vec![0.0; 3], 1).expect("one column"), Targets::None);
        assert!(regions(&model, &flat.expect("no labels"), &[], 5, 5, Exec::one()).is_err());
    }
}
