//! Image-local kernel values `k_p^{2,2}` a second, beside what numpy and scipy can do.
//!
//! A careful numpy user computes the sum over windows as one product of matrices a window, squared and added up; a plain
//! one multiplies images and filters them with scipy. Mercer's arithmetic is `5 r + 2` operations a pixel and value for a
//! pyramid that reaches r pixels; set beside the machine's rate of fused multiply-adds, that says how far from the floor
//! it runs (machines that add beside multiplying can pass 100 %).
//!
//! Then what the values are for: fits of all USPS digits, plain and with virtual support vectors, which no peer has.

use anyhow::{Result, bail};
use serde_json::json;

use crate::python::Python;
use crate::report::Report;
use crate::rounds::{self, Task, of};
use crate::side::Side;
use crate::{Args, sets};

/// Set, side of an image, diameter, rows.
const CASES: [(&str, usize, usize, usize); 2] = [("usps", 16, 7, 2000), ("mnist10k", 28, 9, 1000)];
/// Rows for the peer that filters image by image.
const FEW: usize = 200;
/// Rows of the whole USPS matrix.
const WHOLE: usize = 7291;

pub(crate) fn run(args: &Args) -> Result<Report> {
    let python = Python::ready()?;
    python.need(&["numpy", "scipy"])?;
    let threads = args.threads();
    let mut sides = [Side::mercer(threads)?, Side::peer("numpy", &python, "local_kernel.py", &[], threads)?];
    let mut report = Report::new("local-kernel");
    for (set, side, p, n) in CASES {
        let case = format!("{set} {n}x{side}x{side} p={p}");
        if args.wants(&case) {
            one(&mut sides, &mut report, args, &case, (set, side, p, n))?;
        }
    }
    let case = format!("usps {WHOLE}x16x16 p=7");
    if args.wants(&case) {
        load(&mut sides[..1], "usps", 16, WHOLE)?;
        let request = json!({"do": "local", "p": 7, "side": 16, "n": WHOLE});
        let whole = [Task { label: "mercer".into(), side: 0, request }];
        let outcomes = rounds::run(&mut sides[..1], &whole, args)?;
        let seconds = of(&outcomes, "mercer")?.seconds;
        let values = (WHOLE * (WHOLE + 1)) as f64 / 2.0;
        report.note(&case, "mercer, the whole symmetric matrix", seconds, "s");
        report.note(&case, "mercer, values", values / seconds / 1e6, "million/s");
        if threads > 1 {
            let mut alone = [Side::mercer(1)?];
            load(&mut alone, "usps", 16, WHOLE)?;
            let outcomes = rounds::run(&mut alone, &whole, args)?;
            let ratio = of(&outcomes, "mercer")?.seconds / seconds;
            report.note(&case, format!("{threads} threads are faster than one"), ratio, "times");
        }
    }
    let case = "usps, ten machines";
    if args.wants(case) {
        fits(&mut sides[..1], &mut report, args, case)?;
    }
    Ok(report)
}

/// Fits of all USPS digits: kernel and transformations.
const FITS: [(&str, &str, &str); 4] = [
    ("poly d=3", "poly(degree=3, scale=1/256)", ""),
    ("poly d=3, virtual shift=1", "poly(degree=3, scale=1/256)", "shift=1"),
    ("k_7^{2,2}", "local(p=7)", ""),
    ("k_7^{2,2}, virtual shift=1", "local(p=7)", "shift=1"),
];

fn fits(sides: &mut [Side], report: &mut Report, args: &Args, case: &str) -> Result<()> {
    let split = sets::Set::named("usps").load()?;
    let x = sets::hand_out(&split.train, "local-train")?;
    let test = sets::hand_out(&split.test, "local-test")?;
    let labels = |path: &std::path::Path| path.with_extension("labels.npy");
    let files = json!({"do": "load", "x": x, "y": labels(&x), "test_x": test, "test_y": labels(&test)});
    sides[0].ask(&files)?;
    let tasks = FITS.map(|(label, kernel, moved)| Task {
        label: label.to_owned(),
        side: 0,
        request: json!({"do": "digits", "kernel": kernel, "virtual": moved, "side": 16, "c": 10.0}),
    });
    let outcomes = rounds::run(sides, &tasks, args)?;
    for (label, _, moved) in FITS {
        let outcome = of(&outcomes, label)?;
        report.note(case, format!("{label}, fit"), outcome.seconds, "s");
        let error = outcome.answer["error_percent"].as_f64().unwrap_or(f64::NAN);
        report.note(case, format!("{label}, test error"), error, "%");
        if let Some(plain) = label.strip_suffix(", virtual shift=1").filter(|_| !moved.is_empty()) {
            let ratio = outcome.seconds / of(&outcomes, plain)?.seconds;
            report.note(case, format!("{label}, beside the plain fit"), ratio, "times");
        }
    }
    Ok(())
}

fn load(sides: &mut [Side], set: &str, side: usize, n: usize) -> Result<()> {
    let (data, origin) = sets::rows_like(set, n, side * side)?;
    eprintln!("bench: {n} images of {side} x {side}, {origin}");
    let path = sets::hand_out(&data, &format!("local-{side}-{n}"))?;
    sides.iter_mut().try_for_each(|side| side.ask(&json!({"do": "load", "x": path})).map(|_| ()))
}

fn one(
    sides: &mut [Side],
    report: &mut Report,
    args: &Args,
    case: &str,
    (set, side, p, n): (&str, usize, usize, usize),
) -> Result<()> {
    load(sides, set, side, n)?;
    let task = |label: &str, at: usize, verb: &str, n: usize| Task {
        label: label.to_owned(),
        side: at,
        request: json!({"do": verb, "p": p, "side": side, "n": n, "dtype": "float32"}),
    };
    let tasks = [
        task("mercer", 0, "local", n),
        task("mercer, few", 0, "local", FEW),
        task("numpy, a product a window", 1, "products", n),
        task("scipy, filtered products", 1, "filters", FEW),
        task("numpy product", 1, "product", 4096),
    ];
    let outcomes = rounds::run(sides, &tasks, args)?;
    for (ours, peer) in [("mercer", "numpy, a product a window"), ("mercer, few", "scipy, filtered products")]
    {
        let (mercer, peer) = (of(&outcomes, ours)?, of(&outcomes, peer)?);
        let (a, b) = (mercer.answer["check"].as_f64(), peer.answer["check"].as_f64());
        match (a, b) {
            (Some(a), Some(b)) if (a - b).abs() <= 1e-4 * a.abs().max(1e-3) => {}
            _ => bail!("{case}: Mercer and {} disagree on k(x_0, x_1): {a:?} and {b:?}", peer.label),
        }
        let rows = if ours == "mercer" { case.to_owned() } else { format!("{case}, first {FEW}") };
        report.row(&rows, &peer.label, peer.seconds, mercer.seconds);
    }
    let values = (n * (n + 1)) as f64 / 2.0 / of(&outcomes, "mercer")?.seconds;
    let operations = values * (side * side) as f64 * (5 * (p / 2) + 2) as f64;
    let fused = 4096.0_f64.powi(3) / of(&outcomes, "numpy product")?.seconds;
    report.note(case, "mercer, values", values / 1e6, "million/s");
    report.note(case, "mercer, operations", operations / 1e9, "billion/s");
    report.note(case, "machine's fused multiply-adds (numpy product)", fused / 1e9, "billion/s");
    report.note(case, "mercer / machine", 100.0 * operations / fused, "%");
    Ok(())
}
