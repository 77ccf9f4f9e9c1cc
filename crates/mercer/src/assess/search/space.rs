//! The settings of a search: kernel families, and axes of parameters.

use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::model::Learner;
use crate::param;

/// Kernels that differ in one parameter, or a single kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelFamily {
    /// Its name: `rbf`, `poly`, or the kernel's line.
    pub name: String,
    /// The parameter's name; `None` for a single kernel.
    pub parameter: Option<&'static str>,
    /// The kernels, with the parameter's values.
    pub kernels: Vec<(f64, Kernel)>,
}

impl KernelFamily {
    /// Gaussians of several widths.
    pub fn rbf(gammas: &[f64]) -> Self {
        let kernels = gammas.iter().map(|&gamma| (gamma, Kernel::Rbf { gamma })).collect();
        KernelFamily { name: "rbf".into(), parameter: Some("gamma"), kernels }
    }

    /// Polynomials `(scale x.y + 1)^degree`.
    pub fn poly(degrees: std::ops::RangeInclusive<u32>, scale: f64) -> Self {
        let of = |degree: u32| (f64::from(degree), Kernel::Poly { degree, scale, coef0: 1.0 });
        KernelFamily { name: "poly".into(), parameter: Some("degree"), kernels: degrees.map(of).collect() }
    }

    /// `tanh(scale x.y + shift)` for several scales.
    pub fn sigmoid(scales: &[f64], shift: f64) -> Self {
        let of = |&scale: &f64| (scale, Kernel::Sigmoid { amplitude: 1.0, scale, shift });
        let kernels = scales.iter().map(of).collect();
        KernelFamily { name: "sigmoid".into(), parameter: Some("scale"), kernels }
    }

    /// A single kernel.
    pub fn one(kernel: Kernel) -> Self {
        KernelFamily { name: kernel.to_string(), parameter: None, kernels: vec![(f64::NAN, kernel)] }
    }

    /// The same family refined between two of its values. Families with an integer parameter, and single kernels, do
    /// not change.
    fn finer(&self, at: usize, times: usize) -> Self {
        let values: Vec<f64> = self.kernels.iter().map(|k| k.0).collect();
        let between = |values: &[f64]| around(values, at, times);
        match (self.kernels.get(at), self.name.as_str()) {
            (Some(_), "rbf") => KernelFamily::rbf(&between(&values)),
            (Some((_, Kernel::Sigmoid { shift, .. })), "sigmoid") => {
                KernelFamily::sigmoid(&between(&values), *shift)
            }
            (Some(kernel), _) => KernelFamily { kernels: vec![kernel.clone()], ..self.clone() },
            (None, _) => self.clone(),
        }
    }
}

/// A learner's parameter and the values to try.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchAxis {
    /// Its name in the learner's table of parameters.
    pub name: String,
    /// Values in ascending order.
    pub values: Vec<f64>,
}

impl SearchAxis {
    /// A learner with one of the values.
    pub(crate) fn applied(&self, learner: &Learner, value: f64) -> Result<Learner> {
        if !value.is_finite() {
            // An infinite C cannot be part of a grid: on overlapping classes the hard margin has no solution.
            return Err(Error::param(&self.name, value, "finite numbers in a search"));
        }
        let mut learner = learner.clone();
        let whole = value.fract() == 0.0 && value.abs() < 1e9;
        // Integer parameters are written without a decimal point.
        let written = |v: Value| learner.clone().set(&self.name, v);
        let value = if whole && written(Value::from(value)).is_err() {
            Value::from(value as i64)
        } else {
            param::written(value)
        };
        learner.set(&self.name, value)?;
        Ok(learner)
    }
}

/// Settings to search: every kernel of every family with every combination of the axes' values.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    /// The kernels.
    pub families: Vec<KernelFamily>,
    /// The parameters.
    pub axes: Vec<SearchAxis>,
}

/// One setting of a [`Space`].
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The family, and the kernel in it.
    pub family: usize,
    /// The kernel's index in its family.
    pub at: usize,
    /// The kernel.
    pub kernel: Kernel,
    /// Each axis's value.
    pub values: Vec<f64>,
}

impl Space {
    /// All settings: kernels in the outer loop, the last axis innermost. Fails if there are none.
    pub fn settings(&self) -> Result<Vec<Setting>> {
        let mut combos: Vec<Vec<f64>> = vec![Vec::new()];
        for axis in &self.axes {
            combos = combos
                .iter()
                .flat_map(|c| axis.values.iter().map(move |&v| [c.as_slice(), &[v]].concat()))
                .collect();
        }
        let mut all = Vec::new();
        for (family, f) in self.families.iter().enumerate() {
            for (at, (_, kernel)) in f.kernels.iter().enumerate() {
                let of = |values: &Vec<f64>| Setting {
                    family,
                    at,
                    kernel: kernel.clone(),
                    values: values.clone(),
                };
                all.extend(combos.iter().map(of));
            }
        }
        if all.is_empty() {
            return Err(Error::shape("settings to search", 0, "at least 1"));
        }
        Ok(all)
    }

    /// A learner with a setting's kernel and values.
    pub fn learner(&self, base: &Learner, setting: &Setting) -> Result<Learner> {
        let mut learner = base.clone();
        learner.set_kernel(setting.kernel.clone());
        for (axis, &value) in self.axes.iter().zip(&setting.values) {
            learner = axis.applied(&learner, value)?;
        }
        Ok(learner)
    }

    /// Distance between two settings in steps on the grid; another family counts as two.
    pub(super) fn steps(&self, a: &Setting, b: &Setting) -> usize {
        let kernels = if a.family == b.family { a.at.abs_diff(b.at) } else { 2 };
        let axes = self.axes.iter().zip(a.values.iter().zip(&b.values));
        kernels
            + axes.map(|(x, (&a, &b))| nearest(&x.values, a).abs_diff(nearest(&x.values, b))).sum::<usize>()
    }

    /// The same space refined around one of its settings: the second stage of a search.
    #[must_use]
    pub fn finer(&self, around_it: &Setting, times: usize) -> Self {
        let families = vec![self.families[around_it.family].finer(around_it.at, times)];
        let axes = self
            .axes
            .iter()
            .zip(&around_it.values)
            .map(|(axis, v)| {
                let at = nearest(&axis.values, *v);
                SearchAxis { name: axis.name.clone(), values: around(&axis.values, at, times) }
            })
            .collect();
        Space { families, axes }
    }
}

/// The index of the nearest value, by ratio if all values are positive.
pub(crate) fn nearest(values: &[f64], to: f64) -> usize {
    let by_factor = to > 0.0 && values.iter().all(|v| *v > 0.0);
    let apart = |v: f64| if by_factor { (v / to).ln().abs() } else { (v - to).abs() };
    (0..values.len()).min_by(|&a, &b| apart(values[a]).total_cmp(&apart(values[b]))).unwrap_or(0)
}

/// Values between the neighbours of one, the given number of steps each way, by equal factors (equal steps where
/// there are zeros). At an end of the range the grid extends as far beyond it.
fn around(values: &[f64], at: usize, times: usize) -> Vec<f64> {
    let here = values[at];
    if values.len() < 2 {
        return vec![here];
    }
    let by_factor = values.iter().all(|v| *v > 0.0);
    let to = |v: f64| if by_factor { v.ln() } else { v };
    let from = |v: f64| if by_factor { v.exp() } else { v };
    let below = if at > 0 { to(here) - to(values[at - 1]) } else { to(values[1]) - to(here) };
    let above = if at + 1 < values.len() { to(values[at + 1]) - to(here) } else { below };
    let step = |size: f64, i: usize| size * i as f64 / times as f64;
    let low = (1..times).rev().map(|i| from(to(here) - step(below, i)));
    let high = (1..times).map(|i| from(to(here) + step(above, i)));
    low.chain([here]).chain(high).collect()
}

/// `count` values from `from` to `to`, by equal factors.
///
/// ```
/// let values = mercer::assess::by_factors(0.01, 100.0, 5);
/// assert_eq!(values, [0.01, 0.1, 1.0, 10.0, 100.0]);
/// ```
pub fn by_factors(from: f64, to: f64, count: usize) -> Vec<f64> {
    let step = |i: usize| from.log10() + (to.log10() - from.log10()) * i as f64 / (count.max(2) - 1) as f64;
    // Rounded to twelve digits, so that powers of ten are exact.
    (0..count).map(|i| format!("{:.11e}", 10f64.powf(step(i))).parse().unwrap_or(f64::NAN)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_all_combinations() {
        let axes = vec![
            SearchAxis { name: "c".into(), values: vec![1.0, 10.0] },
            SearchAxis { name: "shift".into(), values: vec![0.0, 0.1, 0.2] },
        ];
        let families = vec![KernelFamily::rbf(&[0.1, 1.0]), KernelFamily::one(Kernel::Linear)];
        let space = Space { families, axes };
        let all = space.settings().expect("some");
        assert_eq!(all.len(), 18);
        assert_eq!(all[4].values, [10.0, 0.1]);
        let base = Learner::find("svc").expect("known").learner();
        let learner = space.learner(&base, &all[10]).expect("valid");
        assert_eq!(learner.get("c"), Some(10.0.into()));
        assert_eq!(learner.kernel(), Some(&Kernel::Rbf { gamma: 1.0 }));
        let bad = Space { axes: vec![SearchAxis { name: "nu".into(), values: vec![0.1] }], ..space };
        assert!(bad.learner(&base, &bad.settings().expect("some")[0]).is_err());
    }

    #[test]
    fn a_finer_space_lies_around_its_setting() {
        let space = Space {
            families: vec![KernelFamily::rbf(&[0.01, 1.0, 100.0]), KernelFamily::poly(1..=4, 1.0)],
            axes: vec![SearchAxis { name: "c".into(), values: vec![1.0, 100.0] }],
        };
        let all = space.settings().expect("some");
        let fine = space.finer(&all[2], 2);
        let gammas: Vec<f64> = fine.families[0].kernels.iter().map(|k| k.0).collect();
        for (got, want) in gammas.iter().zip([0.1, 1.0, 10.0]) {
            assert!((got / want - 1.0).abs() < 1e-12, "{gammas:?}");
        }
        assert_eq!(fine.axes[0].values.len(), 3);
        assert!((fine.axes[0].values[0] - 0.1).abs() < 1e-12);
        assert_eq!(space.finer(&all[7], 3).families[0].kernels.len(), 1);
    }
}
