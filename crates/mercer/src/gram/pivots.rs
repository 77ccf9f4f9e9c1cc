//! Landmarks drawn by randomly pivoted Cholesky.
//!
//! A pivot is drawn with probability proportional to the residual diagonal, `K_ii - F_i F_i'`: rows that previous
//! pivots already explain are never drawn, and outliers only sometimes. After r pivots the expected trace of the
//! residual is at most `(1 + e)` times that of the best approximation of rank q as soon as `r >= q / e + q log(1 / (e
//! eta))`, eta being the relative trace error of that best one (Chen, Epperly, Tropp and Webber 2023). Blocks of
//! proposals with rejection sample the same distribution, with matrix products instead of vector operations (Epperly,
//! Tropp and Webber 2024).
//!
//! Cost: n r d for kernel values and n r^2 multiply-adds, n r numbers of memory.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::data::View;
use crate::error::Result;
use crate::exec::{Exec, room};
use crate::gram::block::{check, cross};
use crate::kernel::Kernel;
use crate::num::{Buffer, Mat, product};

/// The pivots and the error of their approximation.
#[derive(Debug, Clone, PartialEq)]
pub struct Pivots {
    /// Distinct rows in the order they were drawn.
    pub rows: Vec<usize>,
    /// trace(K - F F') of the approximation from these rows.
    pub error: f64,
    /// trace(K).
    pub trace: f64,
}

/// Number of proposals per round.
const ROUND: usize = 128;
/// A residual diagonal entry below this fraction of the mean is rounding error.
const LEAST: f64 = 1e-12;

/// Draws up to `most` pivots; fewer where those explain the matrix to rounding.
///
/// ```
/// use mercer::{data::Points, gram, kernel::Kernel, Exec};
/// // Ten copies of three different rows: three pivots explain all.
/// let x = Points::dense([0.0, 1.0, 3.0].repeat(10), 1)?;
/// let found = gram::random_pivots(&Kernel::Rbf { gamma: 1.0 }, x.view(), 8, 0, Exec::one())?;
/// assert_eq!(found.rows.len(), 3);
/// assert!(found.error < 1e-9 * found.trace);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn random_pivots(
    kernel: &Kernel,
    points: View<'_>,
    most: usize,
    seed: u64,
    exec: Exec,
) -> Result<Pivots> {
    check(kernel, points, points, exec.memory())?;
    let n = points.n;
    let most = most.min(n);
    let bytes = (n as u128) * (most as u128 + ROUND as u128) * 8;
    room(
        &format!("pivoted Cholesky of {n} rows and {most} pivots"),
        bytes,
        points.bytes() as u128,
        exec.memory(),
    )?;
    let mut rest = vec![0.0; n];
    kernel.diag(points, &mut rest);
    let trace: f64 = rest.iter().sum();
    let least = LEAST * trace.abs() / n.max(1) as f64;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // F, n x most, of which the first `rows.len()` columns are valid.
    let mut factor = Buffer::<f64>::stale(n * most);
    let mut rows: Vec<usize> = Vec::with_capacity(most);
    let mut is_pivot = vec![false; n];
    while rows.len() < most {
        let round = ROUND.min(most - rows.len()).max(1);
        let Some(proposed) = proposals(&rest, round, least, &mut rng) else { break };
        let r = rows.len();
        let chosen = points.gather(&proposed);
        let part = |i: usize| &factor[i * most..i * most + r];
        // The residual of the proposals' own matrix given the pivots so far.
        let p = proposed.len();
        let mut own = cross::<f64>(kernel, chosen.view(), chosen.view(), exec)?;
        for (a, &i) in proposed.iter().enumerate() {
            for (b, &j) in proposed.iter().enumerate() {
                own[a * p + b] -= part(i).iter().zip(part(j)).map(|(u, v)| u * v).sum::<f64>();
            }
        }
        let accepted = accept(&mut own, &proposed, &rest, least, &mut rng);
        let fresh: Vec<usize> =
            accepted.iter().copied().filter(|&a| !is_pivot[proposed[a]]).take(most - r).collect();
        if fresh.is_empty() {
            // Only existing pivots were accepted, if any: rounding has left them a residual, which is set to 0.
            proposed.iter().for_each(|&i| rest[i] = if is_pivot[i] { 0.0 } else { rest[i] });
            continue;
        }
        let places: Vec<usize> = fresh.iter().map(|&a| proposed[a]).collect();
        extend(kernel, points, &places, (&mut factor, most, r), &mut rest, exec)?;
        places.iter().for_each(|&i| (is_pivot[i], rest[i]) = (true, 0.0));
        rows.extend(places);
    }
    let error = rest.iter().map(|v| v.max(0.0)).sum();
    Ok(Pivots { rows, error, trace })
}

/// Rows drawn with probability proportional to the residual diagonal, in the order drawn, with repetitions; `None` if
/// nothing is left.
fn proposals(rest: &[f64], many: usize, least: f64, rng: &mut ChaCha8Rng) -> Option<Vec<usize>> {
    let mut sums = Vec::with_capacity(rest.len());
    let mut sum = 0.0;
    for &v in rest {
        sum += if v > least { v } else { 0.0 };
        sums.push(sum);
    }
    if sum.is_nan() || sum <= 0.0 {
        return None;
    }
    let draw = |rng: &mut ChaCha8Rng| {
        let at = rng.random::<f64>() * sum;
        sums.partition_point(|s| *s <= at).min(rest.len() - 1)
    };
    Some((0..many).map(|_| draw(rng)).collect())
}

/// Selects proposals in turn: each is accepted with the probability that the residual left by those accepted before
/// it in the round bears to its residual at the start. `own` is the proposals' matrix and is overwritten.
fn accept(own: &mut [f64], proposed: &[usize], rest: &[f64], least: f64, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let p = proposed.len();
    let mut out = Vec::new();
    for a in 0..p {
        let left = own[a * p + a];
        if left <= least || rng.random::<f64>() * rest[proposed[a]] >= left {
            continue;
        }
        out.push(a);
        let root = left.sqrt();
        let line: Vec<f64> = (0..p).map(|b| own[a * p + b] / root).collect();
        for b in a..p {
            for c in a..p {
                own[b * p + c] -= line[b] * line[c];
            }
        }
    }
    out
}

/// Adds the columns of new pivots to the factor, and subtracts them from the residual diagonal.
fn extend(
    kernel: &Kernel,
    points: View<'_>,
    pivots: &[usize],
    (factor, stride, r): (&mut [f64], usize, usize),
    rest: &mut [f64],
    exec: Exec,
) -> Result<()> {
    let (n, p) = (points.n, pivots.len());
    let chosen = points.gather(pivots);
    let mut columns = cross::<f64>(kernel, points, chosen.view(), exec)?;
    if r > 0 {
        let lines: Vec<f64> =
            pivots.iter().flat_map(|&i| factor[i * stride..i * stride + r].to_vec()).collect();
        let all = Mat { values: &*factor, rows: n, cols: r, stride };
        <f64 as product::Algebra>::product_nt(
            &mut columns,
            p,
            true,
            -1.0,
            all,
            Mat::new(&lines, p, r),
            exec.threads(),
        );
    }
    // Forward elimination with the pivots' own rows: a Cholesky factor of the p x p part, column by column.
    let mut own: Vec<f64> = pivots.iter().flat_map(|&i| columns[i * p..(i + 1) * p].to_vec()).collect();
    for a in 0..p {
        let pivot = own[a * p + a].max(f64::EPSILON * rest[pivots[a]]).max(f64::MIN_POSITIVE).sqrt();
        own[a * p + a] = pivot;
        for b in a + 1..p {
            own[b * p + a] /= pivot;
        }
        for b in a + 1..p {
            for c in a + 1..=b {
                own[b * p + c] -= own[b * p + a] * own[c * p + a];
            }
        }
    }
    for i in 0..n {
        let line = &mut columns[i * p..(i + 1) * p];
        for a in 0..p {
            let mut v = line[a];
            for c in 0..a {
                v -= line[c] * own[a * p + c];
            }
            line[a] = v / own[a * p + a];
        }
        rest[i] -= line.iter().map(|v| v * v).sum::<f64>();
        factor[i * stride + r..i * stride + r + p].copy_from_slice(line);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Points;
    use crate::gram::nystroem;
    use crate::num::factor;
    use mercer_testkit::{assert::close, toy};

    /// The error told is that of the approximation, and the bound of the paper holds with room for chance.
    #[test]
    fn the_trace_error_is_nystroems_and_keeps_to_the_bound() {
        let n = 300;
        let x = Points::dense(toy::normals(n, 3, 4), 3).expect("rows");
        let kernel = Kernel::Rbf { gamma: 0.3 };
        let k = crate::gram::square::<f64>(&kernel, x.view(), Exec::one()).expect("values");
        let (values, _) = factor::eigen(&k, n).expect("symmetric");
        for (rank, e) in [(5, 1.0), (15, 0.5)] {
            let best: f64 = values[rank..].iter().sum();
            let eta = best / n as f64;
            let pivots = (rank as f64 / e + rank as f64 * (1.0 / (e * eta)).ln()).ceil() as usize;
            let errors: Vec<f64> = (0..5)
                .map(|seed| {
                    let found = random_pivots(&kernel, x.view(), pivots, seed, Exec::one())
                        .expect("positive definite");
                    assert_eq!(found.rows.len(), pivots);
                    let again = nystroem(&kernel, x.view(), &found.rows, Exec::one()).expect("rows");
                    close(found.error, again.error, 1e-6 * found.trace);
                    found.error
                })
                .collect();
            let mean = errors.iter().sum::<f64>() / 5.0;
            assert!(mean <= (1.0 + e) * best, "{mean} > {}", (1.0 + e) * best);
            // Far below what the bound allows would be no surprise; below the best approximation a mistake.
            let most: f64 = values[pivots..].iter().sum();
            assert!(mean >= most, "{mean} < {most}");
        }
    }

    #[test]
    fn blocks_draw_like_single_pivots_and_beat_uniform_rows_on_clusters() {
        // One row in a hundred lies far away: uniform rows miss those clusters.
        let mut x = toy::normals(600, 2, 7);
        (0..6).for_each(|c| x[c * 200] += 20.0 * (c + 1) as f64);
        let x = Points::dense(x, 2).expect("rows");
        let kernel = Kernel::Rbf { gamma: 0.05 };
        let drawn = random_pivots(&kernel, x.view(), 30, 1, Exec::one()).expect("rows");
        let uniform: Vec<usize> = (0..30).map(|i| i * 20 + 7).collect();
        let uniform = nystroem(&kernel, x.view(), &uniform, Exec::one()).expect("rows");
        assert!(drawn.error < 0.3 * uniform.error, "{} {}", drawn.error, uniform.error);
        let mut sorted = drawn.rows.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), drawn.rows.len());
        assert_eq!(random_pivots(&kernel, x.view(), 30, 1, Exec::one()).expect("rows"), drawn);
    }

    #[test]
    fn no_rows_one_row_and_no_memory_are_answered() {
        let kernel = Kernel::Rbf { gamma: 1.0 };
        let one = Points::dense(vec![1.0], 1).expect("a row");
        assert_eq!(random_pivots(&kernel, one.view(), 5, 0, Exec::one()).expect("a row").rows, [0]);
        let x = Points::dense(toy::normals(2000, 1, 4), 1).expect("rows");
        let small = Exec::one().with_memory(1 << 10);
        assert!(random_pivots(&kernel, x.view(), 1000, 0, small).is_err());
    }
}
