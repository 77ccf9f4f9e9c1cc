//! The stop at the kernels.

use mercer::Result;
use mercer::kernel::{Kernel, default_gamma};
use mercer_report::html::{Figure, Section};
use mercer_report::svg::{Axis, Chart, Plane, Series, spectrum};
use mercer_report::{KernelCheck, Stop, number};

use super::guide::Guide;

/// What a kernel is, and how one sees points.
pub(super) fn kernels(guide: &Guide<'_>) -> Result<Stop> {
    let data = guide.toy("banana", 400)?;
    let gamma = default_gamma(data.points.view()).unwrap_or(1.0);
    // Two digits are as many as the guess deserves.
    let kernel = Kernel::parse(&format!("rbf(gamma={gamma:.2})"))?;
    let check = KernelCheck::on(&kernel, "the tour", &data, guide.seed, guide.exec)?;
    let directions = check.points.as_ref().map_or(f64::NAN, |sight| sight.directions);
    let eigenvalues: Vec<f64> =
        check.points.as_ref().map(|sight| sight.eigenvalues.clone()).unwrap_or_default();
    let values = data.points.view().to_f64()?;
    let points: Vec<(f64, f64)> = values.chunks(2).map(|p| (p[0], p[1])).collect();
    let labels = data.targets.classes()?;
    let mut section = Section::new(
        "Kernels",
        format!(
            "A kernel measures the similarity of two points and thereby maps them to a feature space in which linear methods \
             suffice. There are {} kernels to choose from and to combine; the variance of these points suggests `{}`. The \
             eigenvalues of the kernel matrix are the variances along the principal directions of feature space: about {} \
             of its infinitely many dimensions matter.",
            Kernel::ALL.len(),
            check.kernel,
            number(directions.round())
        ),
    );
    section.figures = vec![
        Figure::svg(
            Plane::scatter("Two crescents", &points, &labels.of_row, &labels.names).draw(),
            "Two classes that are not linearly separable.",
        ),
        Figure::svg(shapes()?, "Values of some kernels between x and the point 1."),
        Figure::svg(
            spectrum("Eigenvalues of the Gram matrix", "eigenvalue", &eigenvalues, true),
            "Variance of the crescents along the principal directions of feature space.",
        ),
    ];
    section.commands = vec![
        ("mercer kernel list".into(), "every kernel with its formula".into()),
        ("mercer kernel check LINE DATA".into(), "checks a kernel on data".into()),
        ("mercer kernel gram DATA -k LINE -o FILE".into(), "computes the kernel matrix".into()),
    ];
    let seen =
        format!("{} kernels and their algebra; {} fits the crescents", Kernel::ALL.len(), check.kernel);
    let stop = Stop::new("Kernels", seen, "mercer kernel check LINE DATA", section);
    Ok(stop.fact("kernel", check.kernel).fact("directions", directions))
}

/// The shapes of some kernels.
fn shapes() -> Result<mercer_report::svg::Svg> {
    let line = |name: &str| -> Result<Series> {
        let kernel = Kernel::parse(name)?;
        let at = |i: i32| f64::from(i) / 50.0;
        let value = |x: f64| kernel.value(mercer::data::Row::F64(&[x]), mercer::data::Row::F64(&[1.0]));
        Ok(Series::line(name, (-100..=200).map(|i| (at(i), value(at(i)))).collect()))
    };
    let series = ["rbf(gamma=1)", "laplacian(gamma=1)", "imq(c=1)", "poly(degree=2, scale=0.25)"].map(line);
    let series = series.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(Chart::new("Shapes of kernels", Axis::new("x"), Axis::new("k(x, 1)").range(0.0, 1.4), series).draw())
}
