//! Files larger than `--memory`: trained and predicted in blocks, within that memory, and with nothing left behind.

#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};

use crate::run::Folder;

/// Rows of one digit per column: eight bytes in memory, two in the file. With labels, sorted by class.
fn digits(rows: usize, columns: usize) -> String {
    let mut state = 1_u64;
    let mut out = String::with_capacity(rows * (2 * columns + 2));
    for i in 0..rows {
        let class = i * 2 / rows;
        for _ in 0..columns {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let digit = (state >> 33) % 8 + class as u64;
            out.push(char::from(b'0' + digit as u8));
            out.push(',');
        }
        out.push_str(["no\n", "yes\n"][class]);
    }
    out
}

const ROWS: usize = 120_000;

fn folder() -> Folder {
    Folder::new().with("big.csv", digits(ROWS, 40))
}

const TRAIN: &str = "train big.csv --learner large --set centres=100 --gamma 0.001 --memory 70M --threads 2";

/// Runs it and watches its peak memory; KiB.
fn peak(folder: &Folder, line: &str) -> (u64, String, String) {
    let mut child = folder
        .command(&line.split_whitespace().collect::<Vec<_>>())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().expect("a child").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0);
        most = most.max(now);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{line}: {out}{err}");
    (most, out, err)
}

#[test]
fn memory_is_kept_to_and_predictions_are_those_of_the_whole_file() {
    let folder = folder();
    let names = || {
        let mut names: Vec<String> = std::fs::read_dir(folder.path("."))
            .expect("a folder")
            .filter_map(|e| e.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    };
    let (most, out, err) = peak(&folder, &format!("{TRAIN} -o big.mercer"));
    assert!(out.contains("120,000 rows, 40 features"), "{out}");
    assert!(err.contains("they are read in blocks; they are converted to a file without a name"), "{err}");
    assert!(most < 70 << 10, "{most} KiB");
    assert_eq!(names(), ["big.csv", "big.mercer"]);
    let (most, _, _) =
        peak(&folder, "predict big.csv big.mercer -o blocks.csv --decision --memory 70M --threads 2");
    assert!(most < 70 << 10, "{most} KiB");
    folder.mercer("predict big.csv big.mercer -o whole.csv --decision -q").fine();
    let (blocks, whole) = (folder.read("blocks.csv"), folder.read("whole.csv"));
    assert_eq!(blocks.lines().count(), ROWS + 1);
    let number = |line: &str| line.rsplit_once(',').and_then(|(_, v)| v.parse::<f64>().ok());
    for (a, b) in blocks.lines().zip(whole.lines()).skip(1) {
        let (a, b) = (number(a).expect("a number"), number(b).expect("a number"));
        assert!((a - b).abs() <= 1e-9, "{a} {b}");
    }
    let right =
        blocks.lines().skip(1).enumerate().filter(|(i, l)| l.starts_with("yes") == (i * 2 >= ROWS)).count();
    // 40 columns with means 1 apart at a standard deviation of 2.3: the best rule is right on 91.6 %.
    assert!((0.905..0.925).contains(&(right as f64 / ROWS as f64)), "{right}");
    folder.mercer("predict big.csv big.mercer -o lines.txt -q --memory 70M").fine();
    assert_eq!(
        folder.read("lines.txt").lines().next(),
        blocks.lines().nth(1).and_then(|l| l.split(',').next())
    );
}

#[test]
fn a_full_disk_and_too_little_memory_are_told_and_leave_nothing() {
    let folder = folder();
    let program = env!("CARGO_BIN_EXE_mercer");
    // A file may grow to 4 MiB: less than the rows take.
    let output = Command::new("sh")
        .args(["-c", &format!("trap '' XFSZ; ulimit -f 8192; exec '{program}' {TRAIN} -q -o big.mercer")])
        .current_dir(folder.path(""))
        .stdin(Stdio::null())
        .output()
        .expect("sh is there");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.starts_with("error: ") && err.to_lowercase().contains("file too large"), "{err}");
    assert!(!folder.path("big.mercer").exists());
    let small = folder.mercer(&format!("{} -q -o big.mercer", TRAIN.replace("70M", "8M")));
    assert_eq!(small.code, 1, "{small:?}");
    assert!(small.err.contains("--memory SIZE raises the limit"), "{small:?}");
    let nowhere = folder.mercer(&format!("{TRAIN} -q -o big.mercer --scratch not/there"));
    assert!(nowhere.code == 1 && nowhere.err.contains("not/there"), "{nowhere:?}");
    assert!(!folder.path("big.mercer").exists());
}
