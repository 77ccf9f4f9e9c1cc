//! Boosting: hypotheses are added one at a time, each trained on rows weighted by the errors of those before.
//!
//! ```text
//! F(x) = sum_t alpha_t h_t(x),   h in [-1, 1],   margin of row i:  rho_i = y_i F(x_i) / sum alpha
//! edge of h under weights d:     gamma = sum_i d_i y_i h(x_i),   sum d = 1
//!
//! AdaBoost       alpha = 1/2 ln((1 + gamma) / (1 - gamma)),   d_i ~ exp(-y_i F(x_i))                    (Freund and Schapire 1997)
//! Arc-GV         the same less 1/2 ln((1 + rho) / (1 - rho)), rho the least margin so far               (Breiman 1999)
//! AdaBoost_Reg   alpha minimises sum_i exp(-y_i F(x_i) - C sum(alpha) mu_i^2), mu_i the mean of n d_i    (Raetsch, Onoda and Mueller 2001)
//! LPBoost        maximise rho - D sum xi,  y_i F(x_i) >= rho - xi_i,  sum alpha = 1,  D = 1 / (nu n)     (Demiriz et al. 2002)
//! ```
//!
//! Rows that stay hard to classify have had large weights, so mu^2 lets AdaBoost_Reg tolerate their errors. LPBoost's
//! row weights are the dual variables of its linear program, and each hypothesis adds a constraint to the dual. When
//! no hypothesis has an edge above the program's value, the program over *all* hypotheses is solved. Cost per round:
//! one call of the base learner, and for LPBoost a linear program of n variables.

use crate::error::{Error, Result};
use crate::solve::program::{Line, Program};
use crate::watch::{Info, Step, Stop, Watch};

/// How the hypotheses' weights are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rule {
    /// AdaBoost.
    AdaBoost,
    /// Arc-GV: maximises the smallest margin.
    ArcGv,
    /// AdaBoost_Reg with this C.
    Regularised(f64),
    /// LPBoost with this nu.
    Program(f64),
}

/// Boosted hypotheses.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Boosted {
    /// The hypotheses' weights, non-negative, with sum 1, in the order in which the hypotheses were added.
    pub alpha: Vec<f64>,
    /// The rows' margins, from -1 to 1.
    pub margin: Vec<f64>,
    /// The optimum of LPBoost's program: the margin that all rows but a share nu reach.
    pub value: Option<f64>,
    /// Statistics of the run.
    pub info: Info,
}

/// A base learner: given row weights, returns a hypothesis's values on all rows.
pub(crate) type Base<'a> = dyn FnMut(&[f64]) -> Result<Vec<f64>> + 'a;

/// A hypothesis with an edge above this has no weighted error left.
const SURE: f64 = 1.0 - 1e-10;
/// LPBoost stops when a new hypothesis improves the program by less than this.
const GAIN: f64 = 1e-6;

/// Runs boosting. `y` is 1 or -1; `weight` holds the rows' initial weights.
pub(crate) fn boost(
    y: &[f64],
    weight: &[f64],
    rule: Rule,
    rounds: usize,
    base: &mut Base<'_>,
    watch: &mut Watch<'_>,
) -> Result<Boosted> {
    let n = y.len();
    let total: f64 = weight.iter().sum();
    let start: Vec<f64> = weight.iter().map(|w| w / total).collect();
    let mut d = start.clone();
    let mut state = State { y, h: Vec::new(), alpha: Vec::new(), f: vec![0.0; n], mistrust: vec![0.0; n] };
    let mut value = None;
    let mut info = Info { stop: Stop::Limit, ..Info::default() };
    for round in 0..rounds {
        if watch(&Step::new("boosting", round as u64, Some(rounds as u64))).is_break() {
            info.stop = Stop::Cancelled;
            break;
        }
        let h = base(&d)?;
        if h.len() != n || h.iter().any(|h| !h.is_finite()) {
            return Err(Error::shape("values of a hypothesis", h.len(), format!("{n} finite ones")));
        }
        let gamma: f64 = d.iter().zip(y).zip(&h).map(|((d, y), h)| d * y * h).sum();
        info.iterations += 1;
        if let Rule::Program(nu) = rule {
            if value.is_some_and(|v: f64| gamma <= v + GAIN) {
                state.add(h, 0.0, &d);
                info.stop = Stop::Converged;
                break;
            }
            state.add(h, 0.0, &d);
            let best = program(&state, &start, nu)?;
            value = Some(best.x[n]);
            d = best.x[..n].iter().map(|d| d.max(0.0)).collect();
            let sum: f64 = d.iter().sum();
            d.iter_mut().for_each(|d| *d /= sum);
            state.alpha = best.at_most[..state.h.len()].to_vec();
            continue;
        }
        // A negative smallest margin carries no information yet: a negated hypothesis would raise it to zero at once.
        let rho = if state.alpha.is_empty() { 0.0 } else { state.least().max(0.0) };
        let worthless = match rule {
            Rule::ArcGv => gamma <= rho + 1e-9,
            _ => gamma <= 1e-9,
        };
        let perfect = h.iter().zip(y).all(|(h, y)| h * y >= SURE);
        if perfect || worthless {
            // A hypothesis without errors gets all the weight; one no better than chance gets none.
            let alpha =
                if perfect { 1.0 + state.alpha.iter().sum::<f64>() } else { f64::from(u8::from(round == 0)) };
            state.add(h, alpha, &d);
            info.stop = Stop::Converged;
            break;
        }
        let half = |g: f64| 0.5 * ((1.0 + g.min(SURE)) / (1.0 - g.min(SURE))).ln();
        let alpha = match rule {
            Rule::ArcGv => half(gamma) - half(rho),
            Rule::Regularised(c) => state.searched(&h, &d, c),
            _ => half(gamma),
        };
        state.add(h, alpha, &d);
        let c = if let Rule::Regularised(c) = rule { c } else { 0.0 };
        d = state.weights(&start, c);
    }
    state.finish(value, info)
}

struct State<'a> {
    y: &'a [f64],
    /// The hypotheses' values.
    h: Vec<Vec<f64>>,
    alpha: Vec<f64>,
    /// F on the rows.
    f: Vec<f64>,
    /// `sum_t alpha_t n d_t`.
    mistrust: Vec<f64>,
}

impl State<'_> {
    fn add(&mut self, h: Vec<f64>, alpha: f64, d: &[f64]) {
        let n = d.len() as f64;
        self.f.iter_mut().zip(&h).for_each(|(f, h)| *f += alpha * h);
        self.mistrust.iter_mut().zip(d).for_each(|(m, d)| *m += alpha * n * d);
        self.h.push(h);
        self.alpha.push(alpha);
    }

    fn least(&self) -> f64 {
        let sum: f64 = self.alpha.iter().sum();
        self.y.iter().zip(&self.f).map(|(y, f)| y * f / sum.max(f64::MIN_POSITIVE)).fold(1.0, f64::min)
    }

    /// `-y F - C sum(alpha) mu^2` for all rows after adding a hypothesis with this weight.
    fn exponents(&self, alpha: f64, h: &[f64], d: &[f64], c: f64, out: &mut [f64]) {
        let n = self.y.len() as f64;
        let sum = (self.alpha.iter().sum::<f64>() + alpha).max(f64::MIN_POSITIVE);
        for (i, e) in out.iter_mut().enumerate() {
            let mu = (self.mistrust[i] + alpha * n * d[i]) / sum;
            *e = -self.y[i] * (self.f[i] + alpha * h[i]) - c * sum * mu * mu;
        }
    }

    fn weights(&self, start: &[f64], c: f64) -> Vec<f64> {
        let mut d = vec![0.0; start.len()];
        self.exponents(0.0, start, start, c, &mut d);
        let most = d.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        d.iter_mut().zip(start).for_each(|(d, s)| *d = s * (*d - most).exp());
        let sum: f64 = d.iter().sum();
        d.iter_mut().for_each(|d| *d /= sum);
        d
    }

    /// The weight of a hypothesis under AdaBoost_Reg: a line search by golden section.
    fn searched(&self, h: &[f64], d: &[f64], c: f64) -> f64 {
        let mut e = vec![0.0; h.len()];
        let mut cost = |alpha: f64| -> f64 {
            self.exponents(alpha, h, d, c, &mut e);
            let most = e.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            most + e.iter().map(|e| (e - most).exp()).sum::<f64>().ln()
        };
        let golden = 0.5 * (5.0f64.sqrt() - 1.0);
        let (mut low, mut high) = (1e-6, 5.0);
        let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
        let (mut at_a, mut at_b) = (cost(a), cost(b));
        for _ in 0..40 {
            if at_a < at_b {
                (high, b, at_b) = (b, a, at_a);
                a = high - golden * (high - low);
                at_a = cost(a);
            } else {
                (low, a, at_a) = (a, b, at_b);
                b = low + golden * (high - low);
                at_b = cost(b);
            }
        }
        0.5 * (low + high)
    }

    fn finish(mut self, value: Option<f64>, info: Info) -> Result<Boosted> {
        let sum: f64 = self.alpha.iter().sum();
        if sum.is_nan() || sum <= 0.0 {
            return if info.stop == Stop::Cancelled {
                Err(Error::Cancelled)
            } else {
                Err(Error::Unsupported("no hypothesis was better than chance".into()))
            };
        }
        // The interior point method leaves tiny positive weights on hypotheses whose weight is zero.
        self.alpha.iter_mut().for_each(|a| *a = if *a > 1e-9 * sum { *a } else { 0.0 });
        let sum: f64 = self.alpha.iter().sum();
        self.alpha.iter_mut().for_each(|a| *a /= sum);
        let n = self.y.len();
        let mut margin = vec![0.0; n];
        for (alpha, h) in self.alpha.iter().zip(&self.h) {
            (0..n).for_each(|i| margin[i] += alpha * self.y[i] * h[i]);
        }
        Ok(Boosted { alpha: self.alpha, margin, value, info })
    }
}

/// The dual: minimise beta subject to every hypothesis's edge being at most beta, `sum d = 1`, `0 <= d_i <= w_i / (nu
/// sum w)`.
fn program(state: &State<'_>, start: &[f64], nu: f64) -> Result<crate::solve::program::Optimum> {
    let n = start.len();
    let mut linear = vec![0.0; n];
    linear.push(1.0);
    let edge = |h: &Vec<f64>| {
        let rows =
            h.iter().zip(state.y).enumerate().filter(|(_, (h, _))| **h != 0.0).map(|(i, (h, y))| (i, h * y));
        Line::new(rows.chain([(n, -1.0)]).collect(), 0.0)
    };
    let mut at_most: Vec<Line> = state.h.iter().map(edge).collect();
    for (i, s) in start.iter().enumerate() {
        at_most.push(Line::new(vec![(i, -1.0)], 0.0));
        if s / nu < 1.0 {
            at_most.push(Line::new(vec![(i, 1.0)], s / nu));
        }
    }
    let equal = vec![Line::new((0..n).map(|i| (i, 1.0)).collect(), 1.0)];
    Ok(Program { linear, equal, at_most, ..Program::default() }.solve()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::silent;
    use mercer_testkit::toy;

    /// All stumps on two columns, as values on the rows.
    fn stumps(x: &[f64], d: usize) -> Vec<Vec<f64>> {
        let n = x.len() / d;
        let mut out = Vec::new();
        for j in 0..d {
            for i in 0..n {
                let h: Vec<f64> =
                    (0..n).map(|p| if x[p * d + j] > x[i * d + j] - 1e-12 { 1.0 } else { -1.0 }).collect();
                out.push(h.iter().map(|v| -v).collect());
                out.push(h);
            }
        }
        out
    }

    fn run(all: &[Vec<f64>], y: &[f64], rule: Rule, rounds: usize) -> Boosted {
        let mut base = |d: &[f64]| {
            let edge = |h: &Vec<f64>| d.iter().zip(y).zip(h).map(|((d, y), h)| d * y * h).sum::<f64>();
            Ok(all.iter().max_by(|a, b| edge(a).total_cmp(&edge(b))).expect("stumps").clone())
        };
        boost(y, &vec![1.0; y.len()], rule, rounds, &mut base, &mut silent()).expect("better than chance")
    }

    fn separable(n: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
        let x = toy::uniforms(n, 3, -1.0, 1.0, 4);
        let y = x.chunks(3).map(|x| if x[0] + x[1] - 0.5 * x[2] > 0.0 { 1.0 } else { -1.0 }).collect();
        (stumps(&x, 3), y)
    }

    fn least(b: &Boosted) -> f64 {
        b.margin.iter().copied().fold(1.0, f64::min)
    }

    #[test]
    fn the_programs_margin_is_the_largest_and_arc_gv_goes_there() {
        let (all, y) = separable(40);
        // nu so small that no row may be given up: the hard margin.
        let lp = run(&all, &y, Rule::Program(0.01), 400);
        assert_eq!(lp.info.stop, Stop::Converged);
        let best = least(&lp);
        assert!(best > 0.0 && (best - lp.value.expect("a program")).abs() < 1e-5, "{best} {:?}", lp.value);
        let ada = least(&run(&all, &y, Rule::AdaBoost, 400));
        assert!(ada > 0.0 && ada <= best + 1e-6, "{ada} {best}");
        let near = least(&run(&all, &y, Rule::ArcGv, 200));
        let nearer = least(&run(&all, &y, Rule::ArcGv, 8000));
        assert!(nearer <= best + 1e-6 && near <= nearer + 1e-3, "{near} {nearer} {best}");
        assert!(best - nearer < 0.05 * best, "{nearer} {best}");
    }

    #[test]
    fn wrong_labels_are_given_up_where_that_is_asked() {
        let x = toy::uniforms(60, 3, -1.0, 1.0, 4);
        let (all, mut y) = separable(60);
        // The rows deepest inside either class get the other's label.
        let depth = |i: usize| x[i * 3] + x[i * 3 + 1] - 0.5 * x[i * 3 + 2];
        let deepest = |sign: f64| {
            (0..60).max_by(|&a, &b| (sign * depth(a)).total_cmp(&(sign * depth(b)))).expect("rows")
        };
        let flipped = [deepest(1.0), deepest(-1.0)];
        flipped.iter().for_each(|&i| y[i] = -y[i]);
        let hard = run(&all, &y, Rule::AdaBoost, 200);
        let soft = run(&all, &y, Rule::Regularised(1.0), 200);
        let others = |b: &Boosted| (0..60).filter(|i| !flipped.contains(i)).map(|i| b.margin[i]).sum::<f64>();
        assert!(others(&soft) > others(&hard), "{} {}", others(&soft), others(&hard));
        assert!(least(&soft) < least(&hard), "{} {}", least(&soft), least(&hard));
        // nu bounds the share of rows below the program's margin.
        let lp = run(&all, &y, Rule::Program(0.1), 400);
        let value = lp.value.expect("a program");
        let below = lp.margin.iter().filter(|m| **m < value - 1e-6).count();
        assert!(below <= 6, "{below}");
    }

    #[test]
    fn perfect_and_worthless_hypotheses_end_it() {
        let y = [1.0, -1.0, 1.0];
        let right = run(&[y.to_vec()], &y, Rule::AdaBoost, 50);
        assert_eq!((right.alpha.as_slice(), right.info.stop), (&[1.0][..], Stop::Converged));
        for rule in [Rule::AdaBoost, Rule::Program(0.5)] {
            let wrong = run(&[vec![-1.0, 1.0, 1.0]], &y, rule, 5);
            assert_eq!(wrong.alpha.iter().filter(|a| **a > 0.0).count(), 1);
        }
    }
}
