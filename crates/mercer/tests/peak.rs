//! Small files that claim much, under an allocator that counts: the peak of memory over load, predict, explain, compress and
//! train is at most a stated multiple of the bytes read, plus the memory limit.

use std::io::Write as _;

use mercer::Exec;
use mercer::data::io::{self, ReadOptions};
use mercer::data::{Dataset, Summary};
use mercer::model::{CompressParams, Goal, Learner, Model, Plan, Wishes};
use mercer::reduce::reduced_set::Size;
use mercer::watch::silent;
use mercer_num::counting::{Counting, peak_of};

#[global_allocator]
static COUNTING: Counting = Counting;

/// The memory limit of these tests.
const LIMIT: usize = 16 << 20;

/// Bytes per byte read. A name of two letters in JSON takes 5 bytes; as a string in a list, 24 and a block of its own, and the
/// list is there twice while it grows: 22 times. 16 times what is held may be made of it without asking (`exec::MULTIPLE`).
const MULTIPLE: usize = 32;

/// What the library takes whatever it reads: threads, tables of kernels, buffers of readers and decompressors.
const FIXED: usize = 2 << 20;

/// Fails where some work took more than the rule allows for a file. Errors are fine: hostile files have them.
fn bounded<T>(what: &str, bytes: usize, work: impl FnOnce() -> mercer::Result<T>) -> Option<T> {
    let (peak, result) = peak_of(work);
    let most = MULTIPLE * bytes + LIMIT + FIXED;
    let ended = result.as_ref().map_or_else(ToString::to_string, |_| "ok".to_owned());
    assert!(peak <= most, "{what}: {bytes} bytes read, peak {peak}, allowed {most}: {ended}");
    result.ok()
}

fn exec() -> Exec {
    Exec::new(2).with_memory(LIMIT as u64)
}

fn options() -> ReadOptions {
    ReadOptions { memory: Some(LIMIT as u64), ..ReadOptions::default() }
}

/// Everything that is done to a model of a stranger.
fn model(name: &str, text: &[u8], data: &Dataset) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(name);
    std::fs::write(&file, text).expect("a file");
    let bytes = text.len();
    let Some(model) = bounded(&format!("{name}: load"), bytes, || Model::read_within(&file, LIMIT as u64))
    else {
        return;
    };
    bounded(&format!("{name}: predict"), bytes, || {
        model.predict(model.arrange(data.clone())?.points.view(), exec())
    });
    for data in [None, Some(data)] {
        bounded(&format!("{name}: explain"), bytes, || model.explain(data, exec(), &mut silent()));
        let params = CompressParams { goal: Goal::Size(Size::Vectors(2)), ..CompressParams::default() };
        bounded(&format!("{name}: compress"), bytes, || model.compress(&params, data, exec(), &mut silent()));
    }
}

/// Everything that is done to data of a stranger; what was read, if it was.
fn data(name: &str, content: &[u8], wishes: &Wishes) -> Option<Dataset> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(name);
    std::fs::write(&file, content).expect("a file");
    let bytes = content.len();
    let data = bounded(&format!("{name}: load"), bytes, || io::read(&file, &options()))?;
    bounded(&format!("{name}: info"), bytes, || Ok(Summary::new(&data.points, &data.targets)));
    let trained = bounded(&format!("{name}: train"), bytes, || {
        Plan::new(&data, wishes, exec())?.fit(exec(), &mut silent())
    });
    if let Some(model) = trained {
        let name = format!("{name}, {}", model.machine.learner.entry().name);
        bounded(&format!("{name}: predict"), bytes, || model.predict(data.points.view(), exec()));
        bounded(&format!("{name}: explain"), bytes, || model.explain(Some(&data), exec(), &mut silent()));
        let params = CompressParams { goal: Goal::Size(Size::Vectors(2)), ..CompressParams::default() };
        for given in [None, Some(&data)] {
            bounded(&format!("{name}: compress"), bytes, || {
                model.compress(&params, given, exec(), &mut silent())
            });
        }
    }
    Some(data)
}

/// The checksums of a PNG file's chunks, made right again: its decoder refuses a chunk before it looks inside.
fn with_checksums(png: &mut [u8]) {
    let mut at = 8;
    while let Some(&[a, b, c, d]) = png.get(at..at + 4) {
        let end = at + 8 + u32::from_be_bytes([a, b, c, d]) as usize;
        if end + 4 > png.len() {
            return;
        }
        let mut crc = flate2::Crc::new();
        crc.update(&png[at + 4..end]);
        png[end..end + 4].copy_from_slice(&crc.sum().to_be_bytes());
        at = end + 4;
    }
}

/// Files whose decoders are other crates', with a palette of more colours than a byte counts, and with bytes changed
/// everywhere: to the largest numbers in the ways that formats write them, to others, and cut.
fn foreign() {
    // As the command does: a panic that becomes an error prints no backtrace, which would count as memory.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !io::in_decoder() {
            usual(panic);
        }
    }));
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/foreign");
    let (mut read, mut refused) = (0, 0);
    for entry in std::fs::read_dir(folder).expect("the folder is part of the repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|n| n.to_str()).expect("a name").to_owned();
        let good = std::fs::read(&path).expect("a file");
        let parquet = cfg!(feature = "parquet");
        let columns = ["parquet", "arrow", "arrows"].iter().any(|end| name.ends_with(end));
        let mut try_bytes = |what: &str, mut bytes: Vec<u8>| {
            if name.ends_with("png") {
                with_checksums(&mut bytes);
            }
            let what = format!("{name}, {what}");
            match bounded(&what, bytes.len(), || io::read_bytes(&name, &bytes, &options())) {
                Some(_) => read += 1,
                None => refused += 1,
            }
        };
        if parquet || !columns {
            assert!(io::read_bytes(&name, &good, &options()).is_ok(), "{name}");
        }
        if let Some(at) = good.windows(4).position(|w| w == b"PLTE") {
            let colours = [vec![7; 900], 900_u32.to_be_bytes().to_vec()];
            let mut long = good[..at - 4].to_vec();
            long.extend([&colours[1][..], b"PLTE", &colours[0], &[0; 4]].concat());
            let old = u32::from_be_bytes(good[at - 4..at].try_into().expect("four bytes")) as usize;
            long.extend(&good[at + 8 + old..]);
            try_bytes("300 colours", long);
        }
        let largest: [&[u8]; 6] = [
            &[0xff, 0xff, 0xff, 0x7f],
            &[0x7f, 0xff, 0xff, 0xff],
            &[0, 0, 0, 0, 0, 1, 0, 0],
            &[0xff; 8],
            // 2147483647 as Thrift writes it.
            &[0xfe, 0xff, 0xff, 0xff, 0x0f],
            &[0; 4],
        ];
        let step = good.len().div_ceil(1500);
        for at in (0..good.len()).step_by(step) {
            for (i, new) in largest.iter().enumerate() {
                let mut bytes = good.clone();
                let end = bytes.len().min(at + new.len());
                bytes[at..end].copy_from_slice(&new[..end - at]);
                try_bytes(&format!("pattern {i} at {at}"), bytes);
            }
            for bit in [0, 3, 7] {
                let mut bytes = good.clone();
                bytes[at] ^= 1 << bit;
                try_bytes(&format!("bit {bit} at {at}"), bytes);
            }
            try_bytes(&format!("cut at {at}"), good[..at].to_vec());
        }
    }
    assert!(read > 100 && refused > 10_000, "{read} read, {refused} refused: this test has lost its subject");
}

const WIDE: &str = "1 1:1 5:2\n-1 2:1 2147483647:1\n1 1:2 3:1\n-1 2:2 2147483647:2\n1 1:1 4:1\n-1 2:1 4:2\n";

const MODEL: &str = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 4\nrho 0\nlabel 1 -1\nnr_sv 2 2\n\
                     SV\n1 1:1\n0.5 2147483647:1\n-1 2:1\n-0.5 3:1 2147483646:2\n";

/// One test, because the counts are the whole program's.
#[test]
fn memory_stays_below_a_multiple_of_the_bytes_read_plus_the_limit() {
    let usual = Wishes::default();
    let wide = data("wide.svm", WIDE.as_bytes(), &usual).expect("a sparse table");
    model("wide.model", MODEL.as_bytes(), &wide);
    // Every learner, with every kernel that is likely to ask for dense rows.
    for entry in Learner::ALL {
        for (&task, line) in
            entry.tasks.iter().flat_map(|task| [None, Some("linear"), Some("poly")].map(|k| (task, k)))
        {
            let wishes = Wishes {
                task: Some(task),
                learner: Some(entry.name.into()),
                kernel: line.map(String::from),
                ..Wishes::default()
            };
            data("wide.svm", WIDE.as_bytes(), &wishes);
        }
    }

    // A model whose classes, columns or rows are only claimed.
    let small =
        io::read_bytes("s.svm", b"1 1:1 2:2\n-1 1:-1 2:1\n1 1:2 2:3\n-1 1:-2 2:0\n", &ReadOptions::default());
    let small = small.expect("data");
    let plain =
        Plan::new(&small, &usual, exec()).and_then(|plan| plan.fit(exec(), &mut silent())).expect("a model");
    let text: serde_json::Value = serde_json::from_str(&plain.to_json().expect("numbers")).expect("JSON");
    let with = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut text = text.clone();
        change(&mut text["model"]["machine"]);
        text.to_string()
    };
    let names = with(&|body| body["role"]["classes"] = (0..100_000).map(|i| format!("c{i}")).collect());
    model("names.json", names.as_bytes(), &small);
    let columns = with(&|body| {
        body["expansion"]["centres"]["kind"] = "sparse".into();
        body["expansion"]["centres"]["columns"] = (1u64 << 62).into();
    });
    model("columns.json", columns.as_bytes(), &small);
    let rows = with(&|body| body["expansion"]["centres"]["rows"] = (1u64 << 62).into());
    model("rows.json", rows.as_bytes(), &small);

    // Columns with names, a fiftieth of the twenty million that were tried first: the multiple is the same.
    let names: Vec<String> = (0..400_000).map(|i| format!("c{i}")).collect();
    let zeros = vec!["0"; names.len()].join(",");
    let table = format!("{}\n{zeros}\n{zeros}\n", names.join(","));
    let wide = data("names.csv", table.as_bytes(), &usual).expect("a table, however long its header");
    assert!(wide.len() == 2 && wide.points.dim() >= names.len() - 1, "{}", wide.points.dim());

    // A kernel whose features are all words within two letters of those that occur.
    let sequence = |i: usize| format!("{}\t{}\n", i % 2, "ACGTTGCA".repeat(3 + i % 3));
    let sequences: String = (0..20).map(sequence).collect();
    let steep = Wishes { kernel: Some("mismatch(k=5, m=2, letters=255)".into()), ..Wishes::default() };
    data("words.seq", sequences.as_bytes(), &steep);

    // A picture of sixty million grey values in sixty thousand bytes.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(b"P5\n60000 1000\n255\n").expect("memory");
    for _ in 0..1000 {
        packed.write_all(&vec![0; 60_000]).expect("memory");
    }
    data("bomb.pgm.gz", &packed.finish().expect("memory"), &usual);

    foreign();
}
