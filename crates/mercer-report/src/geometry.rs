//! The shape of the surface onto which a kernel maps input space, at one point.

use serde::Serialize;

use crate::gram::matrix;
use crate::{Align, Page, Report, Table, number};
use mercer::data::Row;
use mercer::error::Result;
use mercer::kernel::Kernel;

/// Components of a tensor shown; more are counted.
const SHOWN: usize = 16;
/// Below this share of the largest a component is rounding.
const ROUNDING: f64 = 1e-12;

/// Tensors at a point. Components count from 0, the last index fastest.
#[derive(Debug, Clone, Serialize)]
pub struct Geometry {
    /// The kernel, as its line is printed.
    pub kernel: String,
    /// The point.
    pub at: Vec<f64>,
    /// Metric tensor `g_mn`, d x d.
    pub metric: Vec<Vec<f64>>,
    /// Square root of its determinant: how much larger a small piece of input space becomes.
    pub volume: f64,
    /// Christoffel symbols `Gamma^a_bc`, at `(a d + b) d + c`; none where they are not known in closed form.
    pub christoffel: Option<Vec<f64>>,
    /// Riemann curvature `R_nab^m`, at `((n d + a) d + b) d + m`; none where it is not known in closed form.
    pub riemann: Option<Vec<f64>>,
    /// Scalar curvature; none where it is not known in closed form.
    pub scalar_curvature: Option<f64>,
    /// Why there is no curvature, where there is none.
    pub refusal: Option<String>,
}

impl Geometry {
    /// The tensors of a kernel at a point. Fails for kernels without a second derivative.
    pub fn new(kernel: &Kernel, at: Vec<f64>) -> Result<Self> {
        let (x, d) = (Row::F64(&at), at.len());
        kernel.check(Some(d))?;
        Ok(Geometry {
            kernel: kernel.to_string(),
            metric: kernel.metric(x)?.chunks(d.max(1)).map(<[f64]>::to_vec).collect(),
            volume: kernel.volume(x)?,
            refusal: kernel.christoffel(x).err().map(|why| why.to_string()),
            christoffel: kernel.christoffel(x).ok(),
            riemann: kernel.riemann(x).ok(),
            scalar_curvature: kernel.scalar_curvature(x).ok(),
            at,
        })
    }
}

impl Report for Geometry {
    fn write(&self, page: &mut Page) {
        let at: Vec<String> = self.at.iter().map(|&v| number(v)).collect();
        page.title(&self.kernel, &format!("at ({})", at.join(", ")));
        page.blank();
        let mut facts = vec![("volume", format!("{}, the square root of det g", number(self.volume)))];
        facts.extend(self.scalar_curvature.map(|r| ("curvature", format!("{}, scalar", number(r)))));
        page.facts(facts);
        page.heading("Metric tensor g_mn");
        page.table(&matrix(&self.metric));
        let d = self.at.len();
        if let Some(values) = &self.christoffel {
            components(page, "Christoffel symbols Gamma^a_bc", "a b c", values, d);
        } else {
            page.heading("Curvature");
            page.paragraph(self.refusal.as_deref().unwrap_or("none"));
        }
        if let Some(values) = &self.riemann {
            components(page, "Riemann curvature R_nab^m", "n a b m", values, d);
        }
    }
}

/// The components that are not zero, with their indices from 1.
fn components(page: &mut Page, heading: &str, names: &str, values: &[f64], d: usize) {
    page.heading(heading);
    let size = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let held: Vec<(usize, f64)> =
        values.iter().copied().enumerate().filter(|(_, v)| v.abs() > ROUNDING * size.max(1e-300)).collect();
    if held.is_empty() {
        page.paragraph("all zero");
        return;
    }
    let order = names.split(' ').count();
    let mut table = Table::new().column(names, Align::Left).column("value", Align::Right);
    for &(at, value) in held.iter().take(SHOWN) {
        let index = |place: usize| (at / d.pow((order - 1 - place) as u32) % d + 1).to_string();
        let indices: Vec<String> = (0..order).map(index).collect();
        table.row([indices.join(" "), number(value)]);
    }
    page.table(&table);
    if held.len() > SHOWN {
        page.paragraph(&format!("and {} more; --format json has all", held.len() - SHOWN));
    }
}
