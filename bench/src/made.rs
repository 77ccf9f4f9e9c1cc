//! Sets that are made up, of kinds that real benchmark sets do not cover: made by a seed, so that every run has the same.

use anyhow::Result;
use mercer::data::{Dataset, Labels, Points, Targets};
use mercer_testkit::toy;
use rand::RngExt;

use crate::sets::Split;

fn split(x: Vec<f32>, d: usize, of_row: Vec<u32>, classes: usize, train: usize) -> Result<Split> {
    let names = (0..classes).map(|c| c.to_string()).collect();
    let data = Dataset::new(Points::dense_f32(x, d)?, Targets::Classes(Labels { names, of_row }))?;
    let rows: Vec<usize> = (0..data.len()).collect();
    Ok(Split { train: data.gather(&rows[..train]), test: data.gather(&rows[train..]) })
}

/// A standardised table of 40000 x 10: five classes of very different sizes, well separated but for a few rows, so that a
/// machine needs a few hundred support vectors.
pub(crate) fn separated() -> Result<Split> {
    let (n, d, mut rng) = (50_000, 10, toy::rng(11));
    let shares = [0.78, 0.15, 0.05, 0.015, 0.005];
    // Three clouds a class.
    let centres: Vec<Vec<f64>> =
        (0..15).map(|_| (0..d).map(|_| 2.2 * toy::normal(&mut rng)).collect()).collect();
    let (mut x, mut of_row) = (Vec::with_capacity(n * d), Vec::with_capacity(n));
    for _ in 0..n {
        let mut at: f64 = rng.random();
        let class = shares
            .iter()
            .position(|s| {
                at -= s;
                at < 0.0
            })
            .unwrap_or(0);
        let cloud = &centres[class * 3 + rng.random_range(0..3)];
        x.extend(cloud.iter().map(|c| c + 0.5 * toy::normal(&mut rng)));
        of_row.push(class as u32);
    }
    split(standardised(&x, d), d, of_row, 5, 40_000)
}

/// A standardised table of 20000 x 10 and a bent surface over it with so much noise that most rows are support vectors.
pub(crate) fn surface() -> Result<Dataset> {
    let (n, d, mut rng) = (20_000, 10, toy::rng(14));
    let x: Vec<f64> = (0..n * d).map(|_| rng.random::<f64>()).collect();
    let height = |row: &[f64]| {
        // Friedman's first function.
        10.0 * (std::f64::consts::PI * row[0] * row[1]).sin()
            + 20.0 * (row[2] - 0.5).powi(2)
            + 10.0 * row[3]
            + 5.0 * row[4]
    };
    let y: Vec<f64> = x.chunks(d).map(|row| height(row) / 5.0 + 0.5 * toy::normal(&mut rng)).collect();
    Ok(Dataset::new(Points::dense_f32(standardised(&x, d), d)?, Targets::Reals(y))?)
}

/// 40000 rows of 300 columns of 0 and 1, some 12 of them 1, three rows in a hundred positive.
pub(crate) fn flags() -> Result<Split> {
    let (n, d, mut rng) = (50_000, 300, toy::rng(12));
    // Columns are rare to different degrees; some of them speak for the positive class.
    let rate: Vec<f64> = (0..d).map(|j| 0.25 / (1.0 + 0.08 * j as f64).powf(1.2)).collect();
    let weight: Vec<f64> = (0..d).map(|_| toy::normal(&mut rng)).collect();
    let (mut x, mut score) = (vec![0.0f32; n * d], Vec::with_capacity(n));
    for row in x.chunks_mut(d) {
        let mut sum = 0.8 * toy::normal(&mut rng);
        for j in 0..d {
            if rng.random::<f64>() < rate[j] {
                row[j] = 1.0;
                sum += weight[j];
            }
        }
        score.push(sum);
    }
    let mut order = score.clone();
    order.sort_unstable_by(f64::total_cmp);
    let bar = order[n * 97 / 100];
    let of_row = score.iter().map(|s| u32::from(*s > bar)).collect();
    split(x, d, of_row, 2, 40_000)
}

/// 6000 texts of four kinds over 8000 words, by weights of unit length: some sixty words a text.
pub(crate) fn texts() -> Result<Split> {
    let (n, d, mut rng) = (8_000, 8_000, toy::rng(13));
    let (mut x, mut of_row) = (vec![0.0f32; n * d], Vec::with_capacity(n));
    for row in x.chunks_mut(d) {
        let class = rng.random_range(0..4u32);
        for _ in 0..80 {
            // Frequent words are low; a third of the words belongs to the kind.
            let u: f64 = rng.random();
            let word = ((d / 4) as f64 * u * u * u) as usize;
            let own = rng.random::<f64>() < 0.3;
            let word = if own { word * 4 + class as usize } else { word * 4 + rng.random_range(0..4) };
            row[word] += 1.0 / (1.0 + (1e-3 * (d - word) as f32)).sqrt();
        }
        let length = row.iter().map(|v| v * v).sum::<f32>().sqrt().max(1e-6);
        row.iter_mut().for_each(|v| *v /= length);
        of_row.push(class);
    }
    split(x, d, of_row, 4, 6_000)
}

/// Each column less its mean, over its deviation.
pub(crate) fn standardised(x: &[f64], d: usize) -> Vec<f32> {
    let n = (x.len() / d) as f64;
    let column = |j: usize| x.iter().skip(j).step_by(d);
    let mean: Vec<f64> = (0..d).map(|j| column(j).sum::<f64>() / n).collect();
    let scale: Vec<f64> =
        (0..d).map(|j| (column(j).map(|v| (v - mean[j]).powi(2)).sum::<f64>() / n).sqrt().recip()).collect();
    x.iter().enumerate().map(|(p, v)| ((v - mean[p % d]) * scale[p % d]) as f32).collect()
}

/// Square images and their shifts by a pixel in four directions.
pub(crate) fn shifted(data: &Dataset, side: usize) -> Result<Dataset> {
    let x = crate::sets::values(&data.points)?;
    let d = side * side;
    let mut out = Vec::with_capacity(5 * x.len());
    for image in x.chunks(d) {
        for (down, right) in [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)] {
            for p in 0..d as isize {
                let (r, c) = (p / side as isize - down, p % side as isize - right);
                let inside = (0..side as isize).contains(&r) && (0..side as isize).contains(&c);
                out.push(if inside { image[(r * side as isize + c) as usize] } else { 0.0 });
            }
        }
    }
    let rows: Vec<usize> = (0..data.len()).flat_map(|i| [i; 5]).collect();
    let like = data.gather(&rows);
    Ok(Dataset::new(Points::dense_f32(out, d)?, like.targets)?)
}
