//! Models in LIBSVM's format: against its own `svm-train` and `svm-predict` where they are installed, and against its
//! documented layout, written down here a second time, everywhere.

#![expect(clippy::print_stderr, reason = "a test that finds no LIBSVM says so")]

mod peer;
mod property;
mod text;

use mercer::data::{Csr, Labels, Points, Targets};
use mercer_testkit::toy;

struct Data {
    x: Vec<f64>,
    d: usize,
    reals: Vec<f64>,
    classes: Vec<f64>,
}

/// Rows with some zeros, a number and one of four classes each; class numbers in no order.
fn data(n: usize, seed: u64) -> Data {
    let d = 5;
    let x: Vec<f64> = toy::normals(n, d, seed)
        .iter()
        .map(|v| if v.abs() < 0.4 { 0.0 } else { (v * 1e4).round() / 1e4 })
        .collect();
    let reals = x.chunks(d).map(|r| r[0] + (2.0 * r[1]).sin() - r[2] * r[3]).collect();
    let classes =
        x.chunks(d).map(|r| [3.0, -1.0, 10.0, 2.0][usize::from(r[0] > 0.0) + 2 * usize::from(r[1] > 0.3)]);
    Data { classes: classes.collect(), x, d, reals }
}

fn dense(x: &[f64], d: usize) -> Points {
    Points::dense(x.to_vec(), d).expect("whole rows")
}

fn sparse(points: &Points) -> Points {
    let (mut csr, view) = (Csr { start: vec![0], ..Csr::default() }, points.view());
    for i in 0..view.n {
        let row = view.row(i).to_f64();
        for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            csr.column.push(j as u32);
            csr.value.push(*v);
        }
        csr.start.push(csr.column.len());
    }
    Points::sparse(csr, view.d).expect("rising columns")
}

fn labels(classes: &[f64]) -> Targets {
    Targets::Classes(Labels::new(classes.iter().map(|c| format!("{c}"))))
}

/// Three classes in an order that is not ours, written by hand.
const THREE: &str = "svm_type c_svc\nkernel_type linear\nnr_class 3\ntotal_sv 4\nrho 0.5 -1 2\nlabel 7 -2 3\n\
                     probA -1 -2 -3\nprobB 0.1 0.2 0.3\nnr_sv 1 2 1\nSV\n\
                     1 0.5 1:1 2:2 \n-0.25 2 1:-1 \n-0.75 1 2:3 \n-0.5 -3 1:4 2:-1 \n";
