//! The whole symmetric Gaussian matrix of 7291 rows, beside the machine's own product rate.
//!
//! The work of the matrix is n (n + 1) d operations: half of a general product's, a multiply and an add each. Seconds
//! are those of the whole call, from points to finished values, memory included.

use anyhow::{Result, bail};
use serde_json::json;

use crate::python::Python;
use crate::report::Report;
use crate::rounds::{self, Task, of};
use crate::side::Side;
use crate::{Args, sets};

const N: usize = 7291;
/// A set to take rows from, and its columns.
const SHAPES: [(&str, usize); 2] = [("usps", 256), ("mnist10k", 784)];
/// Order of the square matrices whose product is the machine at its best.
const SQUARE: usize = 4096;
const MERCER: usize = 0;
const NUMPY: usize = 1;
const SKLEARN: usize = 2;

pub(crate) fn run(args: &Args) -> Result<Report> {
    let python = Python::ready()?;
    python.need(&["numpy", "scipy", "scikit-learn"])?;
    let threads = args.threads();
    let mut sides = [
        Side::mercer(threads)?,
        Side::peer("numpy", &python, "gram.py", &[], threads)?,
        Side::peer("scikit-learn", &python, "gram.py", &[], threads)?,
    ];
    let mut report = Report::new("gram");
    for (set, d) in SHAPES {
        let gamma = sets::Set::named(set).gamma;
        let wanted: Vec<(&str, &str)> = [("f32", "float32"), ("f64", "float64")]
            .into_iter()
            .filter(|(short, _)| args.wants(&format!("{N}x{d} {short}")))
            .collect();
        if wanted.is_empty() {
            continue;
        }
        let (data, origin) = sets::rows_like(set, N, d)?;
        eprintln!("bench: {N}x{d}, {origin}");
        let path = sets::hand_out(&data, &format!("gram-{d}"))?;
        for side in &mut sides {
            side.ask(&json!({"do": "load", "x": path}))?;
        }
        for (short, dtype) in wanted {
            one(&mut sides, &mut report, args, &format!("{N}x{d} {short}"), d, dtype, gamma)?;
        }
    }
    Ok(report)
}

fn one(
    sides: &mut [Side],
    report: &mut Report,
    args: &Args,
    case: &str,
    d: usize,
    dtype: &str,
    gamma: f64,
) -> Result<()> {
    let task = |label: &str, side: usize, verb: &str| Task {
        label: label.to_owned(),
        side,
        request: json!({"do": verb, "dtype": dtype, "gamma": gamma, "n": SQUARE}),
    };
    let tasks = [
        task("mercer", MERCER, "gram"),
        task("scikit-learn rbf_kernel", SKLEARN, "sklearn_rbf"),
        task("mercer product", MERCER, "product"),
        task("numpy product", NUMPY, "product"),
        task("numpy square product", NUMPY, "square"),
        task("numpy X X'", NUMPY, "gram_product"),
        task("numpy, in place", NUMPY, "numpy_rbf"),
    ];
    let outcomes = rounds::run(sides, &tasks, args)?;
    let mercer = of(&outcomes, "mercer")?;
    for peer in ["scikit-learn rbf_kernel", "numpy, in place"] {
        let peer = of(&outcomes, peer)?;
        let (ours, theirs) = (mercer.answer["check"].as_f64(), peer.answer["check"].as_f64());
        match (ours, theirs) {
            (Some(a), Some(b)) if (a - b).abs() <= 1e-4 => {}
            _ => bail!("{case}: Mercer and {} disagree on k(x_0, x_1): {ours:?} and {theirs:?}", peer.label),
        }
        report.row(case, &peer.label, peer.seconds, mercer.seconds);
    }

    let (n, d, m) = (N as f64, d as f64, SQUARE as f64);
    let rate = n * (n + 1.0) * d / mercer.seconds / 1e9;
    let seconds = |label: &str| of(&outcomes, label).map(|o| o.seconds);
    let product = 2.0 * n * n * d / seconds("numpy product")? / 1e9;
    let square = 2.0 * m.powi(3) / seconds("numpy square product")? / 1e9;
    let machine = product.max(square);
    report.note(case, "mercer, n(n+1)d operations", rate, "GFLOP/s");
    report.note(case, "machine's product rate (numpy, the better of both)", machine, "GFLOP/s");
    report.note(case, "mercer / machine's product rate", 100.0 * rate / machine, "%");
    report.note(case, format!("numpy general product, {N} x {d} x {N}"), product, "GFLOP/s");
    report.note(case, format!("numpy general product, {SQUARE} cubed"), square, "GFLOP/s");
    let ours = 2.0 * n * n * d / seconds("mercer product")? / 1e9;
    report.note(case, format!("mercer general product, {N} x {d} x {N}"), ours, "GFLOP/s");
    report.note(case, "numpy X @ X.T alone", seconds("numpy X X'")?, "s");
    for label in ["mercer", "scikit-learn rbf_kernel", "numpy, in place"] {
        if let Some(peak) = of(&outcomes, label)?.peak_mb {
            report.note(case, format!("peak memory, {label}"), peak, "MB");
        }
    }
    Ok(())
}
