//! Selection of a setting, and the range of settings that are not significantly worse.

use super::{Cell, Flat, SearchStage, Setting};
use crate::assess::metric::{Better, Metric};

pub(super) fn better(metric: &Metric, a: f64, b: f64) -> bool {
    match metric.better {
        Better::Lower => a < b,
        Better::Higher => a > b,
    }
}

/// The best of the cells evaluated on all folds; the first of several.
pub(super) fn best_by(stage: &SearchStage, metric: &Metric, score: impl Fn(&Cell) -> f64) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (i, cell) in stage.cells.iter().enumerate().filter(|(_, c)| !c.open) {
        let here = score(cell);
        if !here.is_nan() && best.is_none_or(|(_, there)| better(metric, here, there)) {
            best = Some((i, here));
        }
    }
    best.map(|(i, _)| i)
}

/// The selected cell: by the mean over all folds, or by the median of the selections of each repetition of the folds.
pub(super) fn choose(stage: &SearchStage, metric: &Metric, times: usize, folds: usize) -> Option<usize> {
    let by_mean = best_by(stage, metric, |cell| cell.score.mean);
    if times < 2 {
        return by_mean;
    }
    let each = folds / times;
    let winners: Vec<&Setting> = (0..times)
        .filter_map(|t| {
            let part =
                |cell: &Cell| cell.score.folds[t * each..(t + 1) * each].iter().sum::<f64>() / each as f64;
            best_by(stage, metric, part).map(|i| &stage.cells[i].setting)
        })
        .collect();
    // The most frequent family, and the medians over its members.
    let family =
        winners.iter().map(|s| s.family).max_by_key(|f| winners.iter().filter(|s| s.family == *f).count())?;
    let own: Vec<&&Setting> = winners.iter().filter(|s| s.family == family).collect();
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[(values.len() - 1) / 2]
    };
    let at = median(own.iter().map(|s| s.at as f64).collect()) as usize;
    let values: Vec<f64> =
        (0..own[0].values.len()).map(|a| median(own.iter().map(|s| s.values[a]).collect())).collect();
    let same =
        |c: &Cell| !c.open && c.setting.family == family && c.setting.at == at && c.setting.values == values;
    stage.cells.iter().position(same).or(by_mean)
}

pub(super) fn flat(stage: &SearchStage, best: &Cell, metric: &Metric) -> Flat {
    let reach = if best.score.error.is_nan() { 0.0 } else { best.score.error };
    let worst = match metric.better {
        Better::Lower => best.score.mean + reach,
        Better::Higher => best.score.mean - reach,
    };
    let near = |c: &&Cell| !c.open && !better(metric, worst, c.score.mean);
    let cells: Vec<&Cell> = stage.cells.iter().filter(near).collect();
    let range = |name: &str, of: &dyn Fn(&Cell) -> f64| {
        let of_family = cells.iter().filter(|c| c.setting.family == best.setting.family);
        let values: Vec<f64> = of_family.map(|c| of(c)).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        (name.to_owned(), low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let family = &stage.space.families[best.setting.family];
    let mut ranges = Vec::new();
    if let Some(name) = family.parameter {
        ranges.push(range(name, &|c| family.kernels[c.setting.at].0));
    }
    for (a, axis) in stage.space.axes.iter().enumerate() {
        ranges.push(range(&axis.name, &|c| c.setting.values[a]));
    }
    // A setting without scores has no range.
    ranges.retain(|(_, low, high)| low.is_finite() && high.is_finite());
    Flat { settings: cells.len(), of: stage.cells.len(), ranges }
}
