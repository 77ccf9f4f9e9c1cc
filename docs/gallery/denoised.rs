//! Denoising by kernel principal components: points around a half circle are pulled onto it. Writes `denoised.svg`.

use mercer::data::toy;
use mercer::prelude::*;
use mercer_report::svg::{Layer, Plane};

/// Projects points onto four components and draws their pre-images.
pub(crate) fn main() -> mercer::Result<()> {
    let (points, _) = toy::half_circle(250, 1);
    let params = KpcaParams { kernel: Some(Kernel::Rbf { gamma: 2.0 }), components: Some(4), ..KpcaParams::default() };
    let sample = Sample::new(&points, &Targets::None);
    let machine = params.fit(sample, Exec::default(), &mut watch::silent())?;
    let back = machine.components()?;
    let back = back.denoise(points.view(), 4, &PreimageParams::default(), Exec::default(), &mut watch::silent())?;
    let places = |points: &Points| -> Vec<(f64, f64)> {
        (0..points.len()).map(|i| points.row(i).to_f64()).map(|p| (p[0], p[1])).collect()
    };
    let noisy = places(&points);
    let (x, y) = (Plane::range(noisy.iter().map(|p| p.0)), Plane::range(noisy.iter().map(|p| p.1)));
    let layers = vec![Layer::Points { at: noisy, class: 0 }, Layer::Points { at: places(&back.points), class: 1 }];
    let mut plane = Plane::new("Points before and after denoising", x, y, layers);
    plane.names = vec!["noisy".into(), "denoised".into()];
    std::fs::write("denoised.svg", plane.draw().standalone()).map_err(|e| Error::io("denoised.svg", e))
}
