//! Rows of a kernel matrix computed from points when they are asked for.

use std::borrow::Cow;

use crate::data::{Points, View};
use crate::error::Result;
use crate::exec::Exec;
use crate::gram::apply::Centres;
use crate::gram::block;
use crate::gram::side::{Layout, Side};
use crate::gram::{Matrix, Rows};
use crate::kernel::{Form, Kernel};
use crate::num::Buffer;

/// A kernel and points: values in f32 by matrix products, exact sums in f64.
#[derive(Debug, Clone)]
pub struct KernelRows<'a> {
    kernel: &'a Kernel,
    points: Cow<'a, Points>,
    side: Side<f32>,
    diag: Vec<f64>,
}

impl<'a> KernelRows<'a> {
    /// Rows over these points. Fails where the kernel cannot be computed on them.
    pub fn new(kernel: &'a Kernel, points: &'a Points, exec: Exec) -> Result<Self> {
        let layout = Layout::of(kernel, points.view());
        Self::under(kernel, Cow::Borrowed(points), &layout, exec)
    }

    /// Rows over points that share a layout with others.
    pub(super) fn under(
        kernel: &'a Kernel,
        points: Cow<'a, Points>,
        layout: &Layout,
        exec: Exec,
    ) -> Result<Self> {
        let view = points.view();
        block::check(kernel, view, view, exec.memory())?;
        let side = Side::new(kernel, view, layout, exec)?;
        let mut diag = vec![0.0; view.n];
        kernel.diag(view, &mut diag);
        Ok(KernelRows { kernel, points, side, diag })
    }

    /// The whole matrix, computed once. Half the values are computed, the rest mirrored.
    pub fn whole_matrix(&self, exec: Exec) -> Matrix {
        let n = self.side.len();
        let mut out = Buffer::stale(n * n);
        block::symmetric(self.kernel, &self.side, &mut out, exec);
        Matrix::from_f32(out, n)
    }
}

impl Rows for KernelRows<'_> {
    fn len(&self) -> usize {
        self.side.len()
    }

    fn diag(&self) -> Vec<f64> {
        self.diag.clone()
    }

    fn block(&self, rows: &[u32], out: &mut [f32], exec: Exec) {
        block::block(self.kernel, &self.side.gather(rows), &self.side, out, exec);
    }

    fn apply(&self, rows: &[u32], coef: &[f64], out: &mut [f64], exec: Exec) {
        let centres = self.points.gather(&rows.iter().map(|&i| i as usize).collect::<Vec<_>>());
        let view: View<'_> = self.points.view();
        Centres::<f64>::new(self.kernel, centres.view(), coef, view, exec)
            .and_then(|centres| centres.apply(view, out, exec))
            .expect("kernel and points were checked when these rows were made");
    }

    fn subset(&self, keep: &[u32]) -> Box<dyn Rows + '_> {
        let rows: Vec<usize> = keep.iter().map(|&i| i as usize).collect();
        Box::new(KernelRows {
            kernel: self.kernel,
            points: Cow::Owned(self.points.gather(&rows)),
            side: self.side.gather(keep),
            diag: rows.iter().map(|&i| self.diag[i]).collect(),
        })
    }

    fn fill(&self, out: &mut [f32], exec: Exec) {
        block::symmetric(self.kernel, &self.side, out, exec);
    }

    fn cost(&self) -> f64 {
        self.side.cost()
    }
}

/// Whether a kernel takes its values from a precomputed matrix rather than from points.
pub fn is_precomputed(kernel: &Kernel) -> bool {
    kernel.form() == Form::Precomputed
}
