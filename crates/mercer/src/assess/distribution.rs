//! Tail probabilities of the distributions used in significance tests.
//!
//! ```text
//! I_x(a, b)                 regularised incomplete beta function, by its continued fraction (Lentz 1976)
//! P(X <= k) of n at p       I_{1-p}(n - k, k + 1)
//! P(|T| >= t) of f degrees  I_{f / (f + t^2)}(f / 2, 1/2)
//! P(chi^2_1 >= x)           erfc(sqrt(x / 2)), the limit of the former
//! ```

/// log of the gamma function for x > 0 (Lanczos 1964, g = 7, nine terms: 15 digits).
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let sum = TERMS.iter().enumerate().skip(1).fold(TERMS[0], |s, (k, c)| s + c / (x + k as f64));
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// I_x(a, b).
fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The continued fraction converges fast on this side of the mean only.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(1.0 - x, b, a);
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln();
    let away = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            fraction *= c * d;
        }
        if (fraction - before).abs() <= 1e-15 * fraction.abs() {
            break;
        }
    }
    (front.exp() * fraction / a).clamp(0.0, 1.0)
}

/// The probability of at most k successes in n trials.
pub(super) fn binomial_below(k: usize, n: usize, p: f64) -> f64 {
    if k >= n { 1.0 } else { beta(1.0 - p, (n - k) as f64, k as f64 + 1.0) }
}

/// The two-sided tail probability of Student's t.
pub(super) fn student_beyond(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() { 0.0 } else { beta(freedom / (freedom + t * t), freedom / 2.0, 0.5) }
}

/// The probability that a squared standard normal is at least x.
pub(super) fn chi2_beyond(x: f64) -> f64 {
    // With this many degrees of freedom, t equals a normal to ten digits.
    if x <= 0.0 { 1.0 } else { student_beyond(x.sqrt(), 1e10) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::assert;

    #[test]
    fn tails_are_those_of_the_tables() {
        assert::close(student_beyond(2.228_138_851_964_939, 10.0), 0.05, 1e-10);
        assert::close(student_beyond(12.706_204_736_432_1, 1.0), 0.05, 1e-10);
        assert::close(student_beyond(0.0, 5.0), 1.0, 1e-12);
        assert::close(chi2_beyond(3.841_458_820_694_124), 0.05, 1e-8);
        assert::close(chi2_beyond(10.827_566_170_662_733), 0.001, 1e-9);
        // By counting: (1 + 10 + 45) / 1024.
        assert::close(binomial_below(2, 10, 0.5), 56.0 / 1024.0, 1e-13);
        assert::close(binomial_below(0, 3, 0.2), 0.512, 1e-13);
        assert_eq!(binomial_below(3, 3, 0.2), 1.0);
    }
}
