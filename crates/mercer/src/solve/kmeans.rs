//! Clustering: k-means on points and on any kernel matrix.
//!
//! ```text
//! minimise    sum_i w_i |Phi(x_i) - m_c(i)|^2,    m_c = sum_{i in c} w_i Phi(x_i) / sum_{i in c} w_i
//!
//! |Phi(x_i) - m_c|^2 = K_ii - 2 / l_c sum_{j in c} w_j K_ij + 1 / l_c^2 sum_{j, p in c} w_j w_p K_jp
//! ```
//!
//! Batch: assign every row to its nearest mean, recompute the means, and repeat until no assignment changes (the
//! objective never increases). Online: each row in turn moves its nearest mean (Schoelkopf, Smola and Mueller 1998,
//! section 7.2), with the step 1 / (1 + weight so far) of running means. Cost per pass: n^2 for a kernel, n m d for
//! points.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::num::{Mat, product};
use crate::watch::{Step, Watch};

/// Clusters of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    /// The cluster of each row.
    pub of_row: Vec<u32>,
    /// The objective.
    pub inertia: f64,
    /// Number of passes over the rows.
    pub passes: u64,
    /// Whether no assignment changed in the last pass.
    pub converged: bool,
}

/// Kernel k-means from a given assignment: batch passes until it no longer changes. `k` is the n x n matrix.
///
/// A cluster that would become empty takes the row farthest from its own mean.
pub fn kernel_kmeans(
    k: &[f64],
    weight: &[f64],
    start: &[u32],
    clusters: usize,
    max_iter: u64,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Clusters> {
    let n = weight.len();
    if clusters == 0 || clusters > n {
        return Err(Error::param("clusters", clusters, format!("from 1 to the number of rows, {n}")));
    }
    let mut of_row = start.to_vec();
    let mut passes = 0;
    loop {
        let far = distances(k, weight, &of_row, clusters, exec);
        let inertia = (0..n).map(|i| weight[i] * far[i * clusters + of_row[i] as usize]).sum();
        let mut next: Vec<u32> = far
            .chunks(clusters)
            .zip(&of_row)
            .map(|(line, &own)| {
                let nearest =
                    |best: u32, c: u32| if line[c as usize] < line[best as usize] { c } else { best };
                // Ties keep the current cluster, so that equal distances cannot cycle.
                (0..clusters as u32).fold(own, nearest)
            })
            .collect();
        fill_empty(&mut next, &far, clusters);
        passes += 1;
        let done = next == of_row;
        if done || passes >= max_iter || watch(&Step::new("clusters", passes, None)).is_break() {
            return Ok(Clusters { of_row, inertia, passes, converged: done });
        }
        of_row = next;
    }
}

/// Squared distances of all rows to all means, n x clusters.
pub(crate) fn distances(k: &[f64], weight: &[f64], of_row: &[u32], clusters: usize, exec: Exec) -> Vec<f64> {
    let n = weight.len();
    let mut size = vec![0.0; clusters];
    of_row.iter().zip(weight).for_each(|(&c, w)| size[c as usize] += w);
    let mut member = vec![0.0; n * clusters];
    for i in 0..n {
        let c = of_row[i] as usize;
        member[i * clusters + c] = weight[i] / size[c].max(f64::MIN_POSITIVE);
    }
    // |Phi(x_i) - m_c|^2 = k_ii - 2 (K M)_ic + m_c' K m_c: one product gives all cross terms.
    let mut out = vec![0.0; n * clusters];
    product::nn(&mut out, Mat::new(k, n, n), Mat::new(&member, n, clusters), exec.threads());
    let mut own = vec![0.0; clusters];
    (0..n * clusters).for_each(|at| own[at % clusters] += member[at] * out[at]);
    for (i, line) in out.chunks_mut(clusters).enumerate() {
        for c in 0..clusters {
            // An empty cluster is never the nearest.
            line[c] =
                if size[c] > 0.0 { (k[i * n + i] - 2.0 * line[c] + own[c]).max(0.0) } else { f64::INFINITY };
        }
    }
    out
}

fn fill_empty(of_row: &mut [u32], far: &[f64], clusters: usize) {
    let mut count = vec![0; clusters];
    of_row.iter().for_each(|&c| count[c as usize] += 1);
    for empty in 0..clusters {
        if count[empty] > 0 {
            continue;
        }
        // The row that fits its cluster worst begins the new one; a cluster is never emptied by this.
        let movable = (0..of_row.len()).filter(|&i| count[of_row[i] as usize] > 1);
        let own = |i: usize| far[i * clusters + of_row[i] as usize];
        if let Some(row) = movable.max_by(|&a, &b| own(a).total_cmp(&own(b))) {
            count[of_row[row] as usize] -= 1;
            of_row[row] = empty as u32;
            count[empty] = 1;
        }
    }
}

/// Initial assignment by k-means++: each seed is drawn with probability proportional to its squared distance from
/// those before (Arthur and Vassilvitskii 2007), and rows join their nearest seed.
pub fn seeded(k: &[f64], weight: &[f64], clusters: usize, seed: u64) -> Vec<u32> {
    let n = weight.len();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let distance = |i: usize, j: usize| (k[i * n + i] + k[j * n + j] - 2.0 * k[i * n + j]).max(0.0);
    let mut nearest = vec![f64::INFINITY; n];
    let mut of_row = vec![0; n];
    for c in 0..clusters as u32 {
        let chance: Vec<f64> = (0..n).map(|i| weight[i] * if c == 0 { 1.0 } else { nearest[i] }).collect();
        let seed = drawn(&chance, &mut rng);
        for i in 0..n {
            let d = distance(i, seed);
            if d < nearest[i] {
                (nearest[i], of_row[i]) = (d, c);
            }
        }
    }
    of_row
}

/// A position drawn with these probabilities; any if all are zero.
fn drawn(chance: &[f64], rng: &mut ChaCha8Rng) -> usize {
    let total: f64 = chance.iter().sum();
    if total.is_nan() || total <= 0.0 {
        return rng.random_range(0..chance.len());
    }
    let mut left = rng.random::<f64>() * total;
    let place = chance.iter().position(|c| {
        left -= c;
        left < 0.0
    });
    // Rounding can leave a remainder after the last position.
    place.unwrap_or_else(|| chance.iter().rposition(|c| *c > 0.0).unwrap_or(0))
}

/// The online form: `passes` passes over the rows in the given order, then each row joins its nearest mean. Means
/// start at the first rows of the order. Returns the assignment.
pub(crate) fn online(k: &[f64], weight: &[f64], order: &[usize], clusters: usize, passes: usize) -> Vec<u32> {
    let n = weight.len();
    // f_c[i] = m_c . Phi(x_i) for all rows is updated with the mean that moves: O(n) per step.
    let mut f = vec![0.0; clusters * n];
    let mut own = vec![0.0; clusters];
    let mut size = vec![0.0; clusters];
    for (c, &i) in order.iter().take(clusters).enumerate() {
        f[c * n..(c + 1) * n].copy_from_slice(&k[i * n..(i + 1) * n]);
        own[c] = k[i * n + i];
        size[c] = weight[i];
    }
    let nearest = |f: &[f64], own: &[f64], i: usize| {
        let far = |c: usize| own[c] - 2.0 * f[c * n + i];
        (0..clusters).min_by(|&a, &b| far(a).total_cmp(&far(b))).expect("a cluster")
    };
    for pass in 0..passes {
        for &i in order.iter().skip(if pass == 0 { clusters } else { 0 }) {
            let c = nearest(&f, &own, i);
            size[c] += weight[i];
            // The running mean: the row has its share of the weight seen so far.
            let step = weight[i] / size[c];
            own[c] = (1.0 - step).powi(2) * own[c]
                + 2.0 * step * (1.0 - step) * f[c * n + i]
                + step * step * k[i * n + i];
            let line = &mut f[c * n..(c + 1) * n];
            line.iter_mut().zip(&k[i * n..(i + 1) * n]).for_each(|(f, k)| *f += step * (k - *f));
        }
    }
    (0..n).map(|i| nearest(&f, &own, i) as u32).collect()
}

/// k-means on points, for centres of networks: `(centres m x d, inertia)`. At most m distinct centres.
pub(crate) fn lloyd(
    x: &[f64],
    d: usize,
    m: usize,
    max_iter: usize,
    seed: u64,
    exec: Exec,
) -> (Vec<f64>, f64) {
    let n = x.len() / d.max(1);
    let m = m.min(n);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let norm = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>();
    let xx: Vec<f64> = x.chunks(d).map(norm).collect();
    let mut centres: Vec<f64> = Vec::with_capacity(m * d);
    let mut nearest = vec![f64::INFINITY; n];
    for c in 0..m {
        let chance: Vec<f64> = if c == 0 { vec![1.0; n] } else { nearest.clone() };
        let seed = drawn(&chance, &mut rng);
        let from = &x[seed * d..(seed + 1) * d];
        for (i, near) in nearest.iter_mut().enumerate() {
            let far: f64 = x[i * d..(i + 1) * d].iter().zip(from).map(|(a, b)| (a - b) * (a - b)).sum();
            *near = near.min(far);
        }
        centres.extend_from_slice(from);
    }
    let mut of_row = vec![usize::MAX; n];
    let mut inertia = f64::INFINITY;
    for _ in 0..max_iter.max(1) {
        let cc: Vec<f64> = centres.chunks(d).map(norm).collect();
        let mut dots = vec![0.0; n * m];
        product::nt(&mut dots, Mat::new(x, n, d), Mat::new(&centres, m, d), exec.threads());
        let mut moved = false;
        inertia = 0.0;
        for (i, line) in dots.chunks(m.max(1)).enumerate() {
            // |x|^2 is the same for all centres and enters the inertia only.
            let far = |c: usize| cc[c] - 2.0 * line[c];
            let best = (0..m).min_by(|&a, &b| far(a).total_cmp(&far(b))).expect("a centre");
            moved |= best != of_row[i];
            of_row[i] = best;
            inertia += (xx[i] + far(best)).max(0.0);
        }
        if !moved {
            break;
        }
        let mut count = vec![0.0; m];
        let mut sums = vec![0.0; m * d];
        for (i, &c) in of_row.iter().enumerate() {
            count[c] += 1.0;
            sums[c * d..(c + 1) * d].iter_mut().zip(&x[i * d..(i + 1) * d]).for_each(|(s, v)| *s += v);
        }
        // A centre without rows stays where it is.
        for c in (0..m).filter(|&c| count[c] > 0.0) {
            (0..d).for_each(|j| centres[c * d + j] = sums[c * d + j] / count[c]);
        }
    }
    (centres, inertia)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::silent;
    use mercer_testkit::{assert::close, reference, toy};

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(p, q)| p * q).sum()
    }

    #[test]
    fn a_linear_kernel_is_plain_k_means() {
        let (n, d, m) = (60, 2, 3);
        let mut x = toy::normals(n, d, 6);
        (0..n).for_each(|i| x[i * d] += 4.0 * (i % m) as f64);
        let k = reference::gram(&x, &x, d, dot);
        let start: Vec<u32> = (0..n as u32).map(|i| i / 7 % 3).collect();
        let found =
            kernel_kmeans(&k, &vec![1.0; n], &start, m, 100, Exec::one(), &mut silent()).expect("clusters");
        // Plain: means and nearest means in turn, written out.
        let mut of_row: Vec<usize> = start.iter().map(|&c| c as usize).collect();
        let mut inertia = 0.0;
        for _ in 0..100 {
            let mut mean = vec![0.0; m * d];
            for c in 0..m {
                let rows: Vec<usize> = (0..n).filter(|&i| of_row[i] == c).collect();
                for j in 0..d {
                    mean[c * d + j] = rows.iter().map(|&i| x[i * d + j]).sum::<f64>() / rows.len() as f64;
                }
            }
            let far =
                |i: usize, c: usize| (0..d).map(|j| (x[i * d + j] - mean[c * d + j]).powi(2)).sum::<f64>();
            inertia = (0..n).map(|i| far(i, of_row[i])).sum();
            of_row = (0..n)
                .map(|i| (0..m).min_by(|&a, &b| far(i, a).total_cmp(&far(i, b))).expect("three"))
                .collect();
        }
        assert!(found.converged);
        close(found.inertia, inertia, 1e-10);
        assert!(found.of_row.iter().zip(&of_row).all(|(a, b)| *a as usize == *b));
    }

    #[test]
    fn weights_are_copies_and_the_objective_never_rises() {
        let x = toy::normals(20, 2, 2);
        let twice: Vec<f64> = [&x[..], &x[..10]].concat();
        let gram =
            |x: &[f64]| reference::gram(x, x, 2, |a, b| (-dot(a, a) - dot(b, b) + 2.0 * dot(a, b)).exp());
        let weight: Vec<f64> = (0..20).map(|i| if i < 5 { 2.0 } else { 1.0 }).collect();
        let start: Vec<u32> = (0..20).map(|i| i % 4).collect();
        let more: Vec<u32> = [&start[..], &start[..5]].concat();
        let a =
            kernel_kmeans(&gram(&x), &weight, &start, 4, 100, Exec::one(), &mut silent()).expect("clusters");
        let b = kernel_kmeans(&gram(&twice), &[1.0; 25], &more, 4, 100, Exec::one(), &mut silent())
            .expect("clusters");
        close(a.inertia, b.inertia, 1e-10);
        let mut last = f64::INFINITY;
        for passes in 1..8 {
            let now = kernel_kmeans(&gram(&x), &weight, &start, 4, passes, Exec::one(), &mut silent())
                .expect("clusters");
            assert!(now.inertia <= last + 1e-12);
            last = now.inertia;
        }
    }

    #[test]
    fn online_means_find_clusters_and_empty_ones_are_filled() {
        let x: Vec<f64> =
            toy::normals(60, 1, 1).iter().enumerate().map(|(i, v)| 0.3 * v + 5.0 * (i % 2) as f64).collect();
        let k = reference::gram(&x, &x, 1, dot);
        let order: Vec<usize> = (0..60).collect();
        let of_row = online(&k, &[1.0; 60], &order, 2, 1);
        assert!((0..60).all(|i| of_row[i] == of_row[i % 2]) && of_row[0] != of_row[1]);
        let all_in_one = vec![0; 60];
        let found =
            kernel_kmeans(&k, &[1.0; 60], &all_in_one, 2, 50, Exec::one(), &mut silent()).expect("clusters");
        assert!(found.of_row.iter().any(|&c| c != found.of_row[0]));
        assert!(kernel_kmeans(&k, &[1.0; 60], &all_in_one, 61, 50, Exec::one(), &mut silent()).is_err());
        let same = seeded(&[1.0; 9], &[1.0; 3], 3, 0);
        assert_eq!(same.len(), 3);
    }

    #[test]
    fn points_and_kernels_agree_on_what_is_good() {
        let x = toy::normals(80, 2, 9);
        let k = reference::gram(&x, &x, 2, dot);
        let runs: Vec<(Vec<f64>, f64)> = (0..10).map(|s| lloyd(&x, 2, 5, 100, s, Exec::one())).collect();
        assert!(runs.iter().all(|r| r.0.len() == 10));
        let inertia = runs.iter().map(|r| r.1).fold(f64::INFINITY, f64::min);
        let best = (0..10)
            .map(|s| {
                kernel_kmeans(
                    &k,
                    &[1.0; 80],
                    &seeded(&k, &[1.0; 80], 5, s),
                    5,
                    100,
                    Exec::one(),
                    &mut silent(),
                )
                .expect("clusters")
                .inertia
            })
            .fold(f64::INFINITY, f64::min);
        assert!((inertia - best).abs() < 0.1 * best, "{inertia} {best}");
    }
}
