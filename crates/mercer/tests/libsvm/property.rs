//! No text makes reading, predicting or writing panic.

use mercer::Exec;
use mercer::model::Model;
use proptest::prelude::*;

use crate::{THREE, dense, sparse};

/// Whatever a text is, there is a model that predicts and can be written, or an error.
fn survive(bytes: &[u8]) {
    let Ok(model) = Model::from_libsvm("bytes", bytes) else { return };
    for points in [dense(&[0.5, -1.0, 2.0], 3), sparse(&dense(&[0.0, 1.0], 2)), dense(&[1.0; 9], 9)] {
        if let Ok(f) = model.decision(points.view(), Exec::one()) {
            assert_eq!(f.len(), model.outputs());
        }
        let _ = model.predict(points.view(), Exec::one());
        let _ = model.probabilities(points.view(), Exec::one());
    }
    let text = model.to_libsvm().expect("it came from there");
    let back = Model::from_libsvm("again", text.as_bytes()).expect("just written");
    assert_eq!(back.classes(), model.classes());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn bytes_changed_anywhere(changes in prop::collection::vec((any::<u16>(), any::<u8>()), 1..6), cut in 0.0..2.0f64) {
        let mut bytes = THREE.as_bytes().to_vec();
        let len = bytes.len();
        changes.iter().for_each(|&(at, byte)| bytes[at as usize % len] = byte);
        if cut < 1.0 {
            bytes.truncate((len as f64 * cut) as usize);
        }
        survive(&bytes);
    }

    #[test]
    fn words_changed_anywhere(changes in prop::collection::vec((0usize..60, 0usize..16), 1..5), kernel in 0usize..5) {
        const WORDS: [&str; 16] = ["", "0", "1", "2", "3", "-1", "0.5", "1e308", "-1e308", "nan", "0:1", "1:1", "2:1e308",
            "2147483647:1", "99999999999", "rbf"];
        let kernels = ["linear", "rbf\ngamma 1", "polynomial\ndegree 3\ngamma 1\ncoef0 1", "sigmoid\ngamma 1\ncoef0 0", "precomputed"];
        let text = THREE.replace("kernel_type linear", &format!("kernel_type {}", kernels[kernel]));
        let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let count = words.len();
        for (at, word) in changes {
            // The line's end stays where it is.
            let old = words[at % count].clone();
            let end = old.split_once('\n').map(|(_, rest)| format!("\n{rest}")).unwrap_or_default();
            words[at % count] = format!("{}{end}", WORDS[word]);
        }
        survive(words.join(" ").as_bytes());
    }
}
