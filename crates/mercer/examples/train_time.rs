//! How long a classifier takes to train, and what comes out.
//!
//! ```text
//! cargo run --release -p mercer --example train_time -- FILE [name=value ...]
//! ```
//!
//! FILE is anything the readers know. Names are the parameters of the classifier (`kernel`, `c`, `tol`, `multi`, ...) and
//! `threads`, `rows` (only the first so many), `stages` (a line such as `standard`), `storage` (`auto`, `f32`, `f64`, `sparse`),
//! `test` (a file to predict), `repeat`.

use std::time::Instant;

use mercer::data::{Stages, Targets, io};
use mercer::model::{Sample, SvcParams};
use mercer::{Exec, assess::metric, watch};

#[expect(clippy::print_stdout, reason = "an example says what it measured")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("usage: train_time FILE [name=value ...]")?;
    let mut given = serde_json::Map::new();
    let (mut threads, mut rows, mut test, mut repeat) = (0, usize::MAX, None, 1);
    let (mut recipes, mut storage) = (Vec::new(), io::Storage::Auto);
    for arg in args {
        let (name, value) = arg.split_once('=').ok_or(format!("{arg}: expected name=value"))?;
        match name {
            "threads" => threads = value.parse()?,
            "rows" => rows = value.parse()?,
            "stages" => recipes = Stages::parse(value)?,
            "storage" => storage = value.parse()?,
            "test" => test = Some(value.to_owned()),
            "repeat" => repeat = value.parse()?,
            _ => {
                let parsed = serde_json::from_str(value).unwrap_or_else(|_| value.into());
                given.insert(name.to_owned(), parsed);
            }
        }
    }
    let params: SvcParams = serde_json::from_value(given.into())?;
    let exec = Exec::new(threads);
    let options = io::ReadOptions { targets: io::TargetKind::Classes, storage, ..io::ReadOptions::default() };
    let data = io::read(&file, &options)?;
    let data = data.gather(&(0..data.len().min(rows)).collect::<Vec<_>>());
    let (stages, points) = Stages::fit(&recipes, data.points.view(), exec)?;
    for _ in 0..repeat {
        let clock = Instant::now();
        let model = params.fit(Sample::new(&points, &data.targets), exec, &mut watch::silent())?;
        let (seconds, info) = (clock.elapsed().as_secs_f64(), &model.info);
        println!(
            "{seconds:.3} s, {} centres, objective {:.6}, {} steps, {:.3e} kernel values, gap {:.1e}, {:?}",
            model.support.len(),
            info.objective.unwrap_or(f64::NAN),
            info.iterations,
            info.kernel_values as f64,
            info.gap,
            info.notes,
        );
        if let Some(test) = &test {
            let data = io::read(test, &io::ReadOptions { columns: Some(data.dim()), ..options.clone() })?;
            let points = stages.apply(data.points.view(), exec)?;
            let Targets::Classes(truth) = &data.targets else {
                return Err("the test file has no classes".into());
            };
            let clock = Instant::now();
            let got = model.labels(points.view(), exec)?;
            let seconds = clock.elapsed().as_secs_f64();
            let place =
                |name: &String| got.names.iter().position(|n| n == name).map_or(u32::MAX, |p| p as u32);
            let places: Vec<u32> = truth.names.iter().map(place).collect();
            let want: Vec<u32> = truth.of_row.iter().map(|&c| places[c as usize]).collect();
            println!("predict {seconds:.3} s, error {:.4}", metric::error_rate(&got.of_row, &want));
        }
    }
    Ok(())
}
