//! Points of the plane as text.

/// Marks of the classes, in order, then from the start again.
pub(crate) const MARKS: [char; 8] = ['o', '+', '×', '▪', '△', '◇', '*', '•'];

/// A scatter plot of `(x, y)` pairs, y upwards, with one mark a class; where several fall together the most frequent
/// class shows. `width` and `height` count characters.
///
/// ```
/// use mercer::report::scatter;
/// let lines = scatter(&[(0.0, 0.0), (1.0, 1.0)], &[0, 1], 5, 2);
/// assert_eq!(lines, ["    +", "o    "]);
/// ```
pub fn scatter(points: &[(f64, f64)], class: &[u32], width: usize, height: usize) -> Vec<String> {
    let ends = |value: fn(&(f64, f64)) -> f64| {
        points.iter().map(value).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
    };
    let (left, right) = ends(|p| p.0);
    let (bottom, top) = ends(|p| p.1);
    let cell = |v: f64, low: f64, high: f64, cells: usize| {
        let share = if high > low { (v - low) / (high - low) } else { 0.5 };
        ((share * (cells - 1) as f64).round() as usize).min(cells - 1)
    };
    let mut votes = vec![[0u32; MARKS.len()]; width * height];
    for (i, &(x, y)) in points.iter().enumerate().filter(|(_, p)| p.0.is_finite() && p.1.is_finite()) {
        let (column, line) = (cell(x, left, right, width), height - 1 - cell(y, bottom, top, height));
        votes[line * width + column][class.get(i).map_or(0, |&k| k as usize) % MARKS.len()] += 1;
    }
    let mark = |votes: &[u32; MARKS.len()]| {
        let most = (0..MARKS.len()).rev().max_by_key(|&k| votes[k]).unwrap_or(0);
        if votes[most] == 0 { ' ' } else { MARKS[most] }
    };
    votes.chunks(width).map(|line| line.iter().map(mark).collect()).collect()
}
