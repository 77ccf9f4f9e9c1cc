//! The sets of `bench large`: digits with their neighbours, and two tables as they are.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use anyhow::{Context, Result, bail};
use mercer::Exec;
use mercer::data::io::{self, ReadOptions};
use mercer::data::{Data, Dataset, Labels, Points, Stages, Targets, split};
use mercer::model::{Plan, Scaling, Wishes};

use crate::sets::{self as all, Set};

/// Rows to learn from and rows to judge by, as numbers in f32.
pub(crate) struct Many {
    pub(crate) train: Dataset,
    pub(crate) test: Dataset,
}

/// The set of this name.
pub(crate) fn load(name: &str) -> Result<Many> {
    match name {
        "mnist60k" => {
            let split = Set::named("mnist60k").load()?;
            Ok(Many { train: split.train, test: split.test })
        }
        "digits540k" => {
            let split = Set::named("mnist60k").load()?;
            Ok(Many { train: shifted(&split.train)?, test: split.test })
        }
        "flights" => flights(),
        "kdd" => kdd(),
        other => bail!("no set is called {other}"),
    }
}

/// Each digit and its eight neighbours, shifted by one pixel.
fn shifted(data: &Dataset) -> Result<Dataset> {
    const SIDE: usize = 28;
    let x = all::values(&data.points)?;
    let labels = data.targets.classes()?;
    let steps = || (-1_isize..=1).flat_map(|dy| (-1_isize..=1).map(move |dx| (dy, dx)));
    let mut out = Vec::with_capacity(9 * x.len());
    let mut of_row = Vec::with_capacity(9 * data.len());
    for (image, &class) in x.chunks(SIDE * SIDE).zip(&labels.of_row) {
        for (dy, dx) in steps() {
            for p in 0..SIDE * SIDE {
                let (y, x) = ((p / SIDE) as isize - dy, (p % SIDE) as isize - dx);
                let inside = (0..SIDE as isize).contains(&y) && (0..SIDE as isize).contains(&x);
                out.push(if inside { image[y as usize * SIDE + x as usize] } else { 0.0 });
            }
            of_row.push(class);
        }
    }
    let targets = Targets::Classes(Labels { names: labels.names.clone(), of_row });
    Ok(Dataset::new(Points::dense_f32(out, SIDE * SIDE)?, targets)?)
}

fn table(file: &str) -> Result<Dataset> {
    let path = all::folder().join("large").join(file);
    io::read(&path, &ReadOptions::default()).with_context(|| path.display().to_string())
}

/// Arrival delays: every fifth row of a seeded order judges.
fn flights() -> Result<Many> {
    let data = table("nycflights.csv.xz")?;
    let order = split::shuffle(data.len(), 1);
    let cut = data.len() / 5;
    numbers(&data, &order[cut..], &order[..cut])
}

/// Connections: equal rows are on one side, so that no row is in both parts; the first two of every class are learned from.
fn kdd() -> Result<Many> {
    let data = table("kddcup99_10_percent.csv.gz")?;
    let rows: Vec<usize> = (0..data.len()).collect();
    let whole = numbers(&data, &rows, &rows[..1])?;
    let labels = whole.train.targets.classes()?.clone();
    let x = all::values(&whole.train.points)?;
    let d = whole.train.dim();
    let mut part: HashMap<u64, bool> = HashMap::new();
    let mut seen = vec![0_u32; labels.names.len()];
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for (i, row) in x.chunks(d).enumerate() {
        let mut hasher = DefaultHasher::new();
        row.iter().for_each(|v| v.to_bits().hash(&mut hasher));
        let key = hasher.finish();
        let is_test = *part.entry(key).or_insert_with(|| {
            let class = &mut seen[labels.of_row[i] as usize];
            *class += 1;
            *class > 2 && key.is_multiple_of(5)
        });
        if is_test { test.push(i) } else { train.push(i) }
    }
    numbers(&data, &train, &test)
}

/// Parts of a table as numbers: categories and scaling are found on the first part.
fn numbers(data: &Dataset, train: &[usize], test: &[usize]) -> Result<Many> {
    let (train, test) = (data.gather(train), data.gather(test));
    let exec = Exec::default();
    let scaling = Scaling::Given(Stages::parse("standard")?);
    let wishes = Wishes { scaling, ..Wishes::default() };
    let plan = Plan::new(&train, &wishes, exec)?;
    let single = |data: &Dataset| -> Result<Dataset> {
        let points = plan.stages.apply(data.points.view(), exec)?;
        let d = points.dim();
        let x: Vec<f32> = match points.view().data {
            Data::F32(x) => x.to_vec(),
            _ => points.view().to_f64()?.iter().map(|v| *v as f32).collect(),
        };
        let targets = match &data.targets {
            Targets::Classes(labels) => {
                // Numbers are labels that every side reads.
                let names = (0..labels.names.len()).map(|c| c.to_string()).collect();
                Targets::Classes(Labels { names, of_row: labels.of_row.clone() })
            }
            other => other.clone(),
        };
        Ok(Dataset::new(Points::dense_f32(x, d)?, targets)?)
    };
    Ok(Many { train: single(&train)?, test: single(&test)? })
}

/// The root mean square error of the training rows' mean.
pub(crate) fn error_of_mean(set: &Many) -> Result<f64> {
    let (y, t) = (set.train.targets.reals()?, set.test.targets.reals()?);
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    Ok((t.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / t.len() as f64).sqrt())
}
