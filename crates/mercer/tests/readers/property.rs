//! Any bytes give data or a message: never a panic, a hang, or memory that the bytes do not justify.

use std::io::{Read, Write};

use mercer::data::io::{
    FORMATS, Format, LabelColumn, ReadOptions, Storage, TargetKind, read_bytes, read_from, write_to,
};
use mercer::data::{Dataset, Targets};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Good files of every format, to be damaged.
const GOOD: [&[u8]; 16] = [
    b"+1 1:0.5 3:-2e-3 # c\n-1 qid:3 2:1\n0\n",
    b"1:1 2:2\n3:4\n",
    b"a,b,label\n1,2.5,x\n3,\"4\",\"y,\"\"z\"\n",
    b"1;2;3\r\n4;5;6\r\n",
    b"a\tb\tc\n1\t2\t3\n",
    b"1 2 3\n 4  5 6\n",
    b"+\tACGT\n-\tacgn\n",
    b">a x\nACGT\nAC\n>b|class=y\nMKV\n",
    b"\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\x01\x02\x03\x04",
    b"\0\0\x0e\x01\0\0\0\x01\x3f\xf0\0\0\0\0\0\0",
    include_bytes!("../files/numpy/f8.npy"),
    include_bytes!("../files/numpy/images_columns.npy"),
    include_bytes!("../files/numpy/text.npy"),
    include_bytes!("../files/numpy/xy.npz"),
    include_bytes!("../files/numpy/train_test.npz"),
    include_bytes!("../files/numpy/other.npz"),
];

const MAX_BYTES: u64 = 16 << 20;

/// The same cases in every run: the fuzzers under `fuzz/` look for new ones.
fn cases(count: u32) -> ProptestConfig {
    ProptestConfig {
        cases: count,
        rng_seed: RngSeed::Fixed(17),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Gives one byte at a time: whatever is told from the first bytes must not depend on how they come.
struct Drip<'a>(&'a [u8]);

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = buffer.len().min(1);
        self.0.read(&mut buffer[..most])
    }
}

/// What every data set must be.
fn check(data: &Dataset) {
    assert!(!data.is_empty());
    assert!(data.targets.len().is_none_or(|n| n == data.len()));
    assert_eq!(data.points.first_not_finite(), None);
    if let Targets::Reals(y) = &data.targets {
        assert!(y.iter().all(|v| v.is_finite()));
    }
    if let Some(names) = &data.column_names {
        assert_eq!(names.len(), data.dim());
    }
    assert!(data.row_names.as_ref().is_none_or(|names| names.len() == data.len()));
}

/// Reads the bytes in every way that may be asked for.
pub(crate) fn read_every_way(bytes: &[u8], options: &ReadOptions) {
    let formats = FORMATS.iter().map(|row| Some(row.format)).chain([None]);
    for format in formats {
        let options = ReadOptions { format, max_bytes: Some(MAX_BYTES), ..options.clone() };
        let whole = read_bytes("bytes", bytes, &options);
        let drip = read_from("bytes", Drip(bytes), &options);
        match (whole, drip) {
            (Ok(whole), Ok(drip)) => {
                check(&whole);
                assert_eq!(whole, drip);
                write_and_read(&whole);
            }
            // The size of a file is known before a stream's, so the messages may differ.
            (Err(whole), Err(_)) => assert!(!whole.to_string().is_empty()),
            (whole, drip) => panic!("{whole:?} but {drip:?}"),
        }
    }
}

/// What was read can be written, and is the same when read again.
fn write_and_read(data: &Dataset) {
    // Beyond this, rows of text would be longer than the test has time for.
    if data.len().saturating_mul(data.dim()) > 10_000 {
        return;
    }
    for format in [Format::Libsvm, Format::Csv, Format::JsonLines, Format::Sequences, Format::Fasta] {
        let mut bytes = Vec::new();
        if write_to(&mut bytes, "memory", data, format).is_ok() {
            let kind = match data.targets {
                Targets::None => TargetKind::None,
                Targets::Reals(_) => TargetKind::Reals,
                Targets::Classes(_) => TargetKind::Classes,
            };
            let label =
                if data.targets == Targets::None { LabelColumn::None } else { LabelColumn::Number(-1) };
            let options = ReadOptions {
                format: Some(format),
                targets: kind,
                label,
                header: Some(true),
                alphabet: alphabet(data),
                ..ReadOptions::default()
            };
            let back = read_bytes("memory", &bytes, &options)
                .unwrap_or_else(|e| panic!("{e}: {data:?} written as {:?}", String::from_utf8_lossy(&bytes)));
            assert_eq!(back.targets, data.targets);
            match data.points.view().to_f64() {
                Ok(values) => assert_eq!(back.points.view().to_f64().expect("numbers"), values),
                Err(_) => assert_eq!(back.points, data.points),
            }
        }
    }
}

fn alphabet(data: &Dataset) -> Option<String> {
    match data.points.view().data {
        mercer::data::Data::Sequences { alphabet, .. } => {
            Some(String::from_utf8(alphabet.to_vec()).expect("ASCII"))
        }
        _ => None,
    }
}

fn options() -> impl Strategy<Value = ReadOptions> {
    let targets = prop_oneof![
        Just(TargetKind::Auto),
        Just(TargetKind::Classes),
        Just(TargetKind::Reals),
        Just(TargetKind::None)
    ];
    let storage =
        prop_oneof![Just(Storage::Auto), Just(Storage::F32), Just(Storage::F64), Just(Storage::Sparse)];
    let label = prop_oneof![
        Just(LabelColumn::Auto),
        Just(LabelColumn::None),
        (-3i64..4).prop_map(LabelColumn::Number),
        Just(LabelColumn::Name("label".into()))
    ];
    let header = prop_oneof![Just(None), any::<bool>().prop_map(Some)];
    let columns = prop_oneof![4 => Just(None), 1 => (0usize..5).prop_map(Some)];
    (targets, storage, label, header, columns).prop_map(|(targets, storage, label, header, columns)| {
        ReadOptions { targets, storage, label, header, columns, ..ReadOptions::default() }
    })
}

/// One damage: bytes replaced, put in, taken out or doubled.
#[derive(Debug, Clone)]
enum Damage {
    Set(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Cut(prop::sample::Index),
    Repeat(prop::sample::Index, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    let words: Vec<&[u8]> = vec![
        b"nan",
        b"inf",
        b"1e999",
        b"-",
        b":",
        b"\"",
        b",",
        b"\n",
        b"#",
        b">",
        b"\t",
        b" ",
        b"\0",
        b"\xff",
        b"99999999999999999999",
        b"4294967296",
        b"0:",
        b"qid:",
        b"\r",
        b"(",
        b"'",
    ];
    let word = prop::sample::select(words).prop_map(<[u8]>::to_vec);
    prop_oneof![
        (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, b)| Damage::Set(at, b)),
        (any::<prop::sample::Index>(), word).prop_map(|(at, w)| Damage::Insert(at, w)),
        any::<prop::sample::Index>().prop_map(Damage::Cut),
        (any::<prop::sample::Index>(), 1u8..9).prop_map(|(at, n)| Damage::Repeat(at, n)),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for damage in damages {
        if bytes.is_empty() {
            break;
        }
        match damage {
            Damage::Set(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Damage::Insert(at, word) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, word.iter().copied());
            }
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Damage::Repeat(at, times) => {
                let tail = bytes[at.index(bytes.len())..].to_vec();
                (0..*times).for_each(|_| bytes.extend_from_slice(&tail[..tail.len().min(64)]));
            }
        }
    }
    bytes
}

/// Packs bytes in one of the three ways, or not.
fn packed(bytes: &[u8], way: u8) -> Vec<u8> {
    match way % 4 {
        1 => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            out.write_all(bytes).and_then(|()| out.finish()).expect("room")
        }
        2 => {
            let mut out = liblzma::write::XzEncoder::new(Vec::new(), 0);
            out.write_all(bytes).and_then(|()| out.finish()).expect("room")
        }
        3 => zstd::encode_all(bytes, 1).expect("room"),
        _ => bytes.to_vec(),
    }
}

/// The most address space this process ever had, where the system tells: it counts also what was never touched.
fn peak_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("VmPeak:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Runs the property and sees that it took no memory worth the name.
fn within_memory(run: impl FnOnce()) {
    let before = peak_bytes();
    run();
    if let (Some(before), Some(after)) = (before, peak_bytes()) {
        // Threads of other tests take address space too; what this must catch is sizes a header declares.
        assert!(after - before < 4 << 30, "{} bytes of address space", after - before);
    }
}

#[test]
fn good_files_are_read() {
    for (at, bytes) in GOOD.iter().enumerate() {
        for way in 0..4 {
            let read = read_bytes("good", &packed(bytes, way), &ReadOptions::default());
            // The text array is no table of numbers.
            assert_eq!(read.is_ok(), at != 12, "{at}: {read:?}");
        }
        read_every_way(bytes, &ReadOptions::default());
    }
}

#[test]
fn any_bytes() {
    within_memory(|| {
        proptest!(cases(400), |(bytes in prop::collection::vec(any::<u8>(), 0..300), options in options())| {
            read_every_way(&bytes, &options);
        });
    });
}

#[test]
fn any_text() {
    within_memory(|| {
        proptest!(cases(400), |(text in "[-+0-9a-cxyACGT:,;#>\"|.=e \t\r\n]{0,120}", options in options())| {
            read_every_way(text.as_bytes(), &options);
        });
    });
}

#[test]
fn damaged_files() {
    within_memory(|| {
        let which = prop::sample::select(GOOD.to_vec());
        proptest!(cases(800), |(
            bytes in which,
            inner in prop::collection::vec(damage(), 1..5),
            way in any::<u8>(),
            outer in prop::collection::vec(damage(), 0..3),
            options in options(),
        )| {
            let bytes = packed(&damaged(bytes.to_vec(), &inner), way);
            let bytes = if way % 4 == 0 { bytes } else { damaged(bytes, &outer) };
            read_every_way(&bytes, &options);
        });
    });
}

#[test]
fn a_small_file_that_unpacks_to_a_large_one_is_refused() {
    let line = b"1 1:1 2:2\n".repeat(1 << 10);
    let mut idx = b"\0\0\x08\x02\x00\x10\x00\x00\0\0\0\x40".to_vec();
    idx.resize(idx.len() + (64 << 20), 0);
    let npy = {
        let header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (67108864, 1)}";
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header);
        bytes.resize(bytes.len() + (64 << 20), 0);
        bytes
    };
    let options = ReadOptions { max_bytes: Some(MAX_BYTES), ..ReadOptions::default() };
    for bomb in [
        line.repeat(1 << 12),
        b"1,2,3\n".repeat(1 << 21),
        idx,
        npy,
        [b"a\t", vec![b'C'; 64 << 20].as_slice()].concat(),
    ] {
        let small = zstd::encode_all(bomb.as_slice(), 1).expect("room");
        assert!(small.len() < bomb.len() / 100);
        let message = read_bytes("bomb", &small, &options).expect_err("too large").to_string();
        assert!(message.contains("more than the 16.0 MiB allowed"), "{message}");
    }
}
