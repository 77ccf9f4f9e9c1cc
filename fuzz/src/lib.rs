//! What the fuzzers share: options from the first byte, and what must hold of whatever is read.

use mercer::Exec;
use mercer::data::io::{Format, LabelColumn, ReadOptions, Storage, TargetKind, read_bytes};
use mercer::data::{Dataset, Points, Targets};
use mercer::model::Model;

/// Reads the bytes after the first as one of some formats (`None`: told by content); the first byte chooses options.
pub fn read(formats: &[Option<Format>], input: &[u8]) {
    let Some((&choice, bytes)) = input.split_first() else { return };
    let choice = usize::from(choice);
    let options = ReadOptions {
        format: formats[choice % formats.len()],
        targets: [TargetKind::Auto, TargetKind::Classes, TargetKind::Reals, TargetKind::None][choice / 4 % 4],
        storage: [Storage::Auto, Storage::F32, Storage::F64, Storage::Sparse][choice / 16 % 4],
        label: [LabelColumn::Auto, LabelColumn::None, LabelColumn::Number(1), LabelColumn::Name("y".into())]
            [choice / 64]
            .clone(),
        max_bytes: Some(64 << 20),
        ..ReadOptions::default()
    };
    match read_bytes("fuzz", bytes, &options) {
        Ok(data) => check(&data),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn check(data: &Dataset) {
    assert!(!data.is_empty());
    assert!(data.targets.len().is_none_or(|n| n == data.len()));
    assert_eq!(data.points.first_not_finite(), None);
    if let Targets::Reals(y) = &data.targets {
        assert!(y.iter().all(|v| v.is_finite()));
    }
}

/// Predicts with a model: values for every point, or an error.
pub fn use_model(model: &Model) {
    for d in [1, 2, 3, 5, 8] {
        let points = Points::dense((0..2 * d).map(|i| i as f64 - 1.5).collect(), d).expect("whole rows");
        if let Ok(values) = model.decision(points.view(), Exec::one()) {
            assert_eq!(values.len(), 2 * model.outputs());
        }
        if let Ok(targets) = model.predict(points.view(), Exec::one()) {
            assert_eq!(targets.len(), Some(2));
        }
        let _ = model.probabilities(points.view(), Exec::one());
    }
    let _ = model.describe();
}
