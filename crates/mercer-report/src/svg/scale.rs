//! From values to places: linear and logarithmic scales and their ticks.

/// A range of values laid along a stretch of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale on which all values have room, those that have no place on it left aside.
    pub(super) fn around(values: impl Iterator<Item = f64>, log: bool, from: f64, to: f64) -> Self {
        let usable = values.filter(|v| v.is_finite() && (!log || *v > 0.0));
        let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        match (low <= high, log) {
            (false, _) => Self::new(if log { (1.0, 10.0) } else { (0.0, 1.0) }, log, from, to),
            (true, true) => {
                let air = (high / low).max(1.5).powf(0.04);
                Self::new((low / air, high * air), true, from, to)
            }
            (true, false) => {
                let air = if high > low { 0.04 * (high - low) } else { 0.5 * low.abs().max(1.0) };
                Self::new((low - air, high + air), false, from, to)
            }
        }
    }

    pub(super) fn new((low, high): (f64, f64), log: bool, from: f64, to: f64) -> Self {
        Scale { low, high, log, from, to }
    }

    /// The place of a value; not finite where it has none.
    pub(super) fn at(&self, value: f64) -> f64 {
        let place = |v: f64| if self.log { v.ln() } else { v };
        let (low, high) = (place(self.low), place(self.high));
        self.from + (self.to - self.from) * (place(value) - low) / (high - low)
    }

    /// The end of the scale that counts as nothing, for bars.
    pub(super) fn base(&self) -> f64 {
        self.at(if self.log { self.low } else { 0.0_f64.clamp(self.low, self.high) })
    }

    /// One, two and five times the powers of ten.
    fn between_powers(&self, first: i32, last: i32) -> Vec<(f64, String)> {
        let values = (first..=last).flat_map(|e| [1.0, 2.0, 5.0].map(|m| (m * 10f64.powi(e), e)));
        let seen = values.filter(|(v, _)| (self.low..=self.high).contains(v));
        seen.map(|(v, e)| (v, words(v, (-e).max(0) as usize))).collect()
    }

    /// About so many round values with their words.
    pub(super) fn ticks(&self, about: usize) -> Vec<(f64, String)> {
        if self.log && self.high / self.low > 20.0 {
            let (first, last) = (self.low.log10().ceil() as i32, self.high.log10().floor() as i32);
            if self.high / self.low < 300.0 {
                return self.between_powers(first - 1, last);
            }
            let step = (((last - first) as usize) / about.max(1) + 1) as i32;
            return (first..=last)
                .filter(|e| e.rem_euclid(step) == 0)
                .map(|e| (10f64.powi(e), power(e)))
                .collect();
        }
        let rough = (self.high - self.low) / about.max(1) as f64;
        let size = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * size).find(|s| *s >= rough).unwrap_or(rough);
        if !(step > 0.0 && step.is_finite()) {
            return Vec::new();
        }
        let (first, last) =
            ((self.low / step - 1e-9).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
        let digits = (-step.log10().floor()).max(0.0) as usize;
        (first..=last)
            .map(|i| (i as f64 * step, i as f64 * step))
            .filter(|(v, _)| !self.log || *v > 0.0)
            .map(|(v, shown)| (v, words(shown, digits)))
            .collect()
    }
}

fn words(v: f64, digits: usize) -> String {
    let size = v.abs();
    if v == 0.0 {
        "0".into()
    } else if size >= 1e5 || digits > 4 {
        // Rounded before it is split: 9.99e-6 is 1e-5, not 10e-6.
        format!("{v:.1e}").replace(".0e", "e")
    } else {
        format!("{v:.digits$}")
    }
}

/// A power of ten: plain while it is short.
fn power(exponent: i32) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    match exponent {
        0..=3 => 10u32.pow(exponent as u32).to_string(),
        -3..=-1 => format!("{:.*}", (-exponent) as usize, 10f64.powi(exponent)),
        _ => {
            let sign = if exponent < 0 { "⁻" } else { "" };
            let digits = exponent.unsigned_abs().to_string();
            let raised = digits.bytes().map(|b| RAISED[(b - b'0') as usize]).collect::<String>();
            format!("10{sign}{raised}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(scale: Scale, about: usize) -> Vec<String> {
        scale.ticks(about).into_iter().map(|(_, word)| word).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            words_of(Scale::new((-0.03, 1.02), false, 0.0, 1.0), 5),
            ["0.0", "0.5", "1.0"].map(|s| s.replace("0.0", "0"))
        );
        assert_eq!(words_of(Scale::new((0.0, 1797.0), false, 0.0, 1.0), 4), ["0", "500", "1000", "1500"]);
        assert_eq!(
            words_of(Scale::new((1e-5, 20.0), true, 0.0, 1.0), 8),
            ["10⁻⁵", "10⁻⁴", "0.001", "0.01", "0.1", "1", "10"]
        );
        assert_eq!(words_of(Scale::new((0.4, 21.0), true, 0.0, 1.0), 6), ["0.5", "1", "2", "5", "10", "20"]);
        assert_eq!(
            words_of(Scale::new((-1.05e-5, 1.05e-5), false, 0.0, 1.0), 5),
            ["-1e-5", "-5e-6", "0", "5e-6", "1e-5"]
        );
        assert_eq!(words_of(Scale::new((1.0, 4.0), true, 0.0, 1.0), 3), ["1", "2", "3", "4"]);
    }

    #[test]
    fn every_range_has_a_scale() {
        for (values, log) in [(vec![], false), (vec![3.0], false), (vec![0.0, -1.0], true), (vec![2.0], true)]
        {
            let scale = Scale::around(values.iter().copied(), log, 10.0, 20.0);
            assert!(scale.ticks(5).iter().all(|(v, _)| scale.at(*v).is_finite()), "{scale:?}");
            assert!(values.iter().all(|&v| (log && v <= 0.0) || (10.0..=20.0).contains(&scale.at(v))));
        }
        assert!(!Scale::around([1.0, 10.0].into_iter(), true, 0.0, 1.0).at(-1.0).is_finite());
    }
}
