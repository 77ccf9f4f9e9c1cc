//! Model files: what is saved comes back bit for bit, and no bytes make reading panic.

use mercer::data::{Bundle, Csr, Points, Sequences};
use mercer::expansion::Expansion;
use mercer::kernel::Kernel;
use proptest::prelude::*;
use serde_json::json;

fn bundle(points: Points, line: &str) -> (Expansion, Bundle) {
    let kernel: Kernel = line.parse().expect(line);
    let coef = (0..points.len() * 2).map(|p| p as f64 + 0.25).collect();
    let f = Expansion::new(kernel, points, coef, vec![-1.0, 0.5]).expect("fits");
    let mut b = Bundle::default();
    b.meta = json!({ "f": f.store("f", &mut b).expect("can be saved") });
    (f, b)
}

fn all_kinds() -> Vec<(Expansion, Bundle)> {
    let image = mercer::data::ImageShape::grey(1, 2);
    let csr = Csr { start: vec![0, 1, 3], column: vec![1, 0, 2], value: vec![0.5, 1.0, 2.0] };
    vec![
        bundle(
            Points::dense(vec![1.0, 2.0, 3.0, 4.0], 2).expect("2 x 2").with_image(image).expect("2 pixels"),
            "rbf(gamma=0.5)",
        ),
        bundle(Points::dense_f32(vec![1.0, 2.0, 3.0, 4.0], 2).expect("2 x 2"), "linear"),
        bundle(Points::sparse(csr, 3).expect("rows in order"), "linear + rbf(gamma=1)"),
        bundle(Points::row_numbers(vec![4, 7]), "precomputed"),
    ]
}

#[test]
fn what_is_saved_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    for (f, b) in all_kinds() {
        let path = folder.path().join("model");
        b.save(&path).expect("a folder to write to");
        let read = Bundle::load(&path).expect("just written");
        assert_eq!(read, b);
        assert_eq!(Expansion::restore("f", &read.meta["f"], &read).expect("just written"), f);
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
    assert_eq!(left.len(), 1, "temporary files are left behind");
}

#[test]
fn sequences_keep_their_letters() {
    let s = Sequences { alphabet: b"ACGT".to_vec(), start: vec![0, 2, 5], symbol: vec![0, 1, 2, 3, 0] };
    let points = Points::sequences(s).expect("symbols fit");
    assert_eq!(points.row(1).to_f64(), Vec::<f64>::new());
}

#[test]
fn broken_files_are_refused_with_the_reason() {
    let (_, b) = all_kinds().remove(0);
    let bytes = b.to_bytes().expect("fits");
    let why = |bytes: &[u8]| match Bundle::from_bytes(bytes)
        .and_then(|b| Expansion::restore("f", &b.meta["f"], &b))
    {
        Ok(_) => panic!("accepted"),
        Err(why) => why,
    };
    assert_eq!(why(&bytes[..5]), "5 bytes: too short to be a model");
    assert!(why(&bytes[..bytes.len() - 1]).contains("cut short"));
    assert!(why(b"PK\x03\x04 something else").contains("not a model file"));
    let replaced = |from: &str, to: &str| {
        let at = bytes.windows(from.len()).position(|w| w == from.as_bytes()).expect("is there");
        let mut changed = bytes.clone();
        changed[at..at + from.len()].copy_from_slice(to.as_bytes());
        changed
    };
    assert!(
        why(&replaced("\\\"version\\\":2", "\\\"version\\\":9")).contains("newer than this program reads")
    );
    assert!(
        why(&replaced("\\\"format\\\":\\\"mercer\\\"", "\\\"format\\\":\\\"nercer\\\""))
            .contains("expected \"mercer\"")
    );
    let mut nan = b.clone();
    nan.put_f64("f.coef", &[2, 2], vec![1.0, f64::NAN, 0.0, 0.0]);
    assert!(why(&nan.to_bytes().expect("fits")).contains("`f.coef` holds a NaN"));
    let mut shape = b.clone();
    shape.put_f64("f.coef", &[4], vec![1.0; 4]);
    assert!(why(&shape.to_bytes().expect("fits")).contains("shape [4], expected [2, 2]"));
    let mut missing = b.clone();
    missing.tensors.remove("f.offset");
    assert_eq!(why(&missing.to_bytes().expect("fits")), "tensor `f.offset` is missing");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_a_model_or_a_reason(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = Bundle::from_bytes(&bytes);
    }

    #[test]
    fn any_change_gives_a_model_or_a_reason(kind in 0usize..4, at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let (_, b) = all_kinds().remove(kind);
        let mut bytes = b.to_bytes().expect("fits");
        let p = at.index(bytes.len());
        bytes[p] = byte;
        let _ = Bundle::from_bytes(&bytes).and_then(|b| Expansion::restore("f", &b.meta["f"], &b));
        bytes.truncate(cut.index(bytes.len()));
        let _ = Bundle::from_bytes(&bytes).and_then(|b| Expansion::restore("f", &b.meta["f"], &b));
    }
}
