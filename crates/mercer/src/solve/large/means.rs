//! k-means for many centres on many rows: f32 products, block by block, a few rounds.
//!
//! Starts from the given centres. Centres of kernel machines need not be converged clusters: a few rounds move them
//! to where the data are (Zhang, Tsang and Kwok 2008). Cost per round: n m d.

use crate::exec::Exec;
use crate::num::{Mat, product};
use rayon::prelude::*;

/// Rows whose products are in memory at once, per thread.
const BLOCK: usize = 512;

/// The means after `rounds` rounds, m x d; a centre without rows does not move.
pub(crate) fn means(x: &[f32], d: usize, mut centres: Vec<f32>, rounds: usize, exec: Exec) -> Vec<f32> {
    let m = centres.len() / d.max(1);
    for _ in 0..rounds {
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
    centres
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_found_on_any_number_of_threads() {
        let x: Vec<f32> = (0..3000).map(|i| (i % 3) as f32 * 10.0 + (i % 7) as f32 * 0.1).collect();
        let of = |threads: usize| means(&x, 1, vec![1.0, 2.0, 25.0], 10, Exec::new(threads));
        let got = of(1);
        for (got, want) in got.iter().zip([0.3, 10.3, 20.3]) {
            assert!((got - want).abs() < 0.01, "{got} {want}");
        }
        assert_eq!(got, of(2));
        // Nobody is nearest to the last one.
        assert_eq!(means(&[1.0, 2.0], 1, vec![1.5, 99.0], 3, Exec::one()), [1.5, 99.0]);
    }
}
