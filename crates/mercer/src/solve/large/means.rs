//! k-means for many centres on many rows: f32 products, block by block, a few rounds.
//!
//! Starts from the given centres. Centres of kernel machines need not be converged clusters: a few rounds move them
//! to where the data are (Zhang, Tsang and Kwok 2008). Cost per round: n m d.

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::num::bytes::{self, Bytes, Wanted};
use crate::num::{Mat, product};
use crate::watch::{Step, Watch};
use rayon::prelude::*;

/// Rows whose products are in memory at once, per thread.
const BLOCK: usize = 512;

/// The means after `rounds` rounds, m x d; a centre without rows does not move.
pub(crate) fn means(
    x: &[f32],
    d: usize,
    mut centres: Vec<f32>,
    rounds: usize,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Vec<f32>> {
    let m = centres.len() / d.max(1);
    for round in 0..rounds {
        told(round, rounds, watch)?;
        let half: Vec<f32> = centres.chunks(d).map(|c| c.iter().map(|v| v * v).sum::<f32>() / 2.0).collect();
        let nearest = |x: &[f32]| -> Vec<u32> {
            let n = x.len() / d;
            let mut dots = vec![0.0; n * m];
            product::nt(&mut dots, Mat::new(x, n, d), Mat::new(&centres, m, d), 1);
            let best = |line: &[f32]| {
                let first = (0, f32::INFINITY);
                let far = line.iter().zip(&half).map(|(dot, half)| half - dot);
                (0u32..).zip(far).fold(first, |b, (c, far)| if far < b.1 { (c, far) } else { b }).0
            };
            dots.chunks(m).map(best).collect()
        };
        let of_row: Vec<u32> = if exec.threads() == 1 {
            x.chunks(BLOCK * d).flat_map(nearest).collect()
        } else {
            x.par_chunks(BLOCK * d).flat_map_iter(nearest).collect()
        };
        let mut count = vec![0.0_f64; m];
        let mut sums = vec![0.0_f64; m * d];
        for (row, &c) in x.chunks(d).zip(&of_row) {
            let c = c as usize;
            count[c] += 1.0;
            sums[c * d..(c + 1) * d].iter_mut().zip(row).for_each(|(s, v)| *s += f64::from(*v));
        }
        for c in (0..m).filter(|&c| count[c] > 0.0) {
            let to = &mut centres[c * d..(c + 1) * d];
            to.iter_mut().zip(&sums[c * d..(c + 1) * d]).for_each(|(t, s)| *t = (s / count[c]) as f32);
        }
    }
    Ok(centres)
}

/// Tells the watcher about a round.
fn told(round: usize, rounds: usize, watch: &mut Watch<'_>) -> Result<()> {
    let step = Step::new("centres", round as u64, Some(rounds as u64));
    if watch(&step).is_break() { Err(Error::Cancelled) } else { Ok(()) }
}

/// Centres whose distances are in memory at once.
const TILE: usize = 1024;

/// The same on rows of bytes, with means that are rounded to bytes in every round: a quarter of the time.
pub(crate) fn means_of_bytes(
    rows: &Bytes,
    mut centres: Bytes,
    rounds: usize,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Bytes> {
    let (n, m, d) = (rows.len(), centres.len(), rows.columns());
    for round in 0..rounds {
        told(round, rounds, watch)?;
        let nearest = |first: usize| -> Vec<u32> {
            let run = first..n.min(first + BLOCK);
            let mut best = vec![(f32::INFINITY, 0); run.len()];
            let mut far = vec![0.0_f32; run.len() * TILE.min(m)];
            for first in (0..m).step_by(TILE) {
                let tile = first..m.min(first + TILE);
                let far = &mut far[..run.len() * tile.len()];
                bytes::block(
                    far,
                    rows,
                    run.clone(),
                    &centres,
                    tile.clone(),
                    Wanted::Distance { factor: 1.0 },
                );
                for (best, line) in best.iter_mut().zip(far.chunks(tile.len())) {
                    let closer = (first as u32..).zip(line).map(|(c, &far)| (far, c));
                    *best = closer.fold(*best, |best, next| if next.0 < best.0 { next } else { best });
                }
            }
            best.into_iter().map(|(_, c)| c).collect()
        };
        let blocks: Vec<usize> = (0..n).step_by(BLOCK).collect();
        let of_row: Vec<u32> = if exec.threads() == 1 {
            blocks.into_iter().flat_map(nearest).collect()
        } else {
            blocks.into_par_iter().flat_map_iter(nearest).collect()
        };
        let mut count = vec![0.0_f64; m];
        let mut sums = vec![0.0_f64; m * d];
        for (i, &c) in of_row.iter().enumerate() {
            let c = c as usize;
            count[c] += 1.0;
            sums[c * d..(c + 1) * d].iter_mut().zip(rows.row(i)).for_each(|(s, v)| *s += f64::from(*v));
        }
        let mut next = Bytes::with_capacity(d, m);
        let mut row = vec![0; d];
        for c in 0..m {
            if count[c] == 0.0 {
                next.push(centres.row(c));
                continue;
            }
            let mean = sums[c * d..(c + 1) * d].iter().map(|s| (s / count[c]).round() as u8);
            row.iter_mut().zip(mean).for_each(|(to, v)| *to = v);
            next.push(&row);
        }
        centres = next;
    }
    Ok(centres)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::silent;

    fn packed(values: &[u8], d: usize) -> Bytes {
        let mut out = Bytes::with_capacity(d, values.len() / d);
        values.chunks(d).for_each(|row| out.push(row));
        out
    }

    /// Rounds on bytes are those on floats, up to the rounding of the means.
    #[test]
    fn bytes_have_the_means_of_floats() {
        let value = |p: usize| (p * p * 31 + p / 7 * 11) % 256;
        let (n, m, d) = (1500, 1100, 5);
        let x: Vec<u8> = (0..n * d).map(|p| value(p) as u8).collect();
        let wide: Vec<f32> = x.iter().map(|v| f32::from(*v)).collect();
        for (m, rounds) in [(1, 3), (7, 1), (m, 1)] {
            let want =
                means(&wide, d, wide[..m * d].to_vec(), rounds, Exec::one(), &mut silent()).expect("means");
            for threads in [1, 2] {
                let got = means_of_bytes(
                    &packed(&x, d),
                    packed(&x[..m * d], d),
                    rounds,
                    Exec::new(threads),
                    &mut silent(),
                )
                .expect("means");
                for c in 0..m {
                    for (got, want) in got.row(c).iter().zip(&want[c * d..]) {
                        assert!((f32::from(*got) - want).abs() <= 0.51, "{m} {c}: {got} {want}");
                    }
                }
            }
        }
        // Nobody is nearest to the last one.
        let got = means_of_bytes(&packed(&[1, 2], 1), packed(&[1, 99], 1), 3, Exec::one(), &mut silent())
            .expect("means");
        assert_eq!((got.row(0), got.row(1)), (&[2][..], &[99][..]));
    }

    #[test]
    fn clusters_are_found_on_any_number_of_threads() {
        let x: Vec<f32> = (0..3000).map(|i| (i % 3) as f32 * 10.0 + (i % 7) as f32 * 0.1).collect();
        let of = |threads: usize| {
            means(&x, 1, vec![1.0, 2.0, 25.0], 10, Exec::new(threads), &mut silent()).expect("means")
        };
        let got = of(1);
        for (got, want) in got.iter().zip([0.3, 10.3, 20.3]) {
            assert!((got - want).abs() < 0.01, "{got} {want}");
        }
        assert_eq!(got, of(2));
        // Nobody is nearest to the last one.
        assert_eq!(
            means(&[1.0, 2.0], 1, vec![1.5, 99.0], 3, Exec::one(), &mut silent()).expect("means"),
            [1.5, 99.0]
        );
    }
}
