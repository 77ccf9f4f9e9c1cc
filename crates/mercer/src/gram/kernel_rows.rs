//! Rows of a kernel matrix, computed from points on demand.

use std::borrow::Cow;

use crate::data::{Points, View};
use crate::error::Result;
use crate::exec::Exec;
use crate::gram::apply::apply;
use crate::gram::side::{Layout, Side};
use crate::gram::{Matrix, Owner, Rows};
use crate::gram::{block, door};
use crate::kernel::{Form, Kernel};
use crate::num::Buffer;

/// A kernel and points: f32 values by matrix products, f64 sums.
///
/// Where the call's device supports them, the rows are kept on the device.
pub struct KernelRows<'a> {
    kernel: &'a Kernel,
    points: Cow<'a, Points>,
    source: Source,
    diag: Vec<f64>,
}

/// Where rows are computed.
enum Source {
    Here(Side<f32>),
    Device(Box<dyn Rows>),
}

impl std::fmt::Debug for KernelRows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KernelRows")
            .field("kernel", self.kernel)
            .field("n", &self.diag.len())
            .finish_non_exhaustive()
    }
}

impl<'a> KernelRows<'a> {
    /// Rows over these points. Fails where the kernel cannot be computed on them.
    pub fn new(kernel: &'a Kernel, points: &'a Points, exec: Exec) -> Result<Self> {
        let view = points.view();
        if !exec.device().is_cpu() {
            block::check(kernel, view, view, exec.memory())?;
            if let Some(rows) = door::rows(kernel, view, exec)? {
                let diag = rows.diag();
                return Ok(KernelRows {
                    kernel,
                    points: Cow::Borrowed(points),
                    source: Source::Device(rows),
                    diag,
                });
            }
        }
        let layout = Layout::of(kernel, view, exec);
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
        Ok(KernelRows { kernel, points, source: Source::Here(side), diag })
    }

    /// The whole matrix. Half of the values are computed and mirrored.
    pub fn whole_matrix(&self, exec: Exec) -> Matrix {
        let n = self.diag.len();
        let mut out = Buffer::stale(n * n);
        self.fill(&mut out, exec);
        Matrix::from_f32(out, n)
    }
}

impl Rows for KernelRows<'_> {
    fn len(&self) -> usize {
        self.diag.len()
    }

    fn diag(&self) -> Vec<f64> {
        self.diag.clone()
    }

    fn block(&self, rows: &[u32], out: &mut [f32], exec: Exec) {
        match &self.source {
            Source::Here(side) => block::block(self.kernel, &side.gather(rows), side, out, exec),
            Source::Device(own) => own.block(rows, out, exec),
        }
    }

    fn apply(&self, rows: &[u32], coef: &[f64], out: &mut [f64], exec: Exec) {
        if let Source::Device(own) = &self.source {
            return own.apply(rows, coef, out, exec);
        }
        let centres = self.points.gather(&rows.iter().map(|&i| i as usize).collect::<Vec<_>>());
        let view: View<'_> = self.points.view();
        apply::<f64>(self.kernel, centres.view(), coef, view, out, exec)
            .expect("kernel and points were checked when these rows were made");
    }

    fn apply_at(&self, rows: &[u32], coef: &[f64], at: &[u32], out: &mut [f64], exec: Exec) {
        let of = |rows: &[u32]| self.points.gather(&rows.iter().map(|&i| i as usize).collect::<Vec<_>>());
        apply::<f64>(self.kernel, of(rows).view(), coef, of(at).view(), out, exec)
            .expect("kernel and points were checked when these rows were made");
    }

    fn times(&self, x: &[f64], out: &mut [f64]) -> bool {
        match &self.source {
            Source::Here(_) => false,
            Source::Device(own) => own.times(x, out),
        }
    }

    fn subset(&self, keep: &[u32]) -> Box<dyn Rows + '_> {
        let side = match &self.source {
            Source::Here(side) => side.gather(keep),
            Source::Device(own) => return own.subset(keep),
        };
        let rows: Vec<usize> = keep.iter().map(|&i| i as usize).collect();
        Box::new(KernelRows {
            kernel: self.kernel,
            points: Cow::Owned(self.points.gather(&rows)),
            source: Source::Here(side),
            diag: rows.iter().map(|&i| self.diag[i]).collect(),
        })
    }

    fn fill(&self, out: &mut [f32], exec: Exec) {
        match &self.source {
            // A device that keeps no rows may still compute the whole matrix; if that fails, the CPU does.
            Source::Here(side) => {
                if !door::square(self.kernel, self.points.view(), out, exec).unwrap_or(false) {
                    block::symmetric(self.kernel, side, out, exec);
                }
            }
            Source::Device(own) => own.fill(out, exec),
        }
    }

    fn whole(&self) -> Option<&[f32]> {
        match &self.source {
            Source::Here(_) => None,
            Source::Device(own) => own.whole(),
        }
    }

    fn rounded(&self) -> bool {
        match &self.source {
            Source::Here(_) => true,
            Source::Device(own) => own.rounded(),
        }
    }

    fn owner(&self) -> Option<Owner> {
        match &self.source {
            Source::Here(_) => None,
            Source::Device(own) => own.owner(),
        }
    }

    fn cost(&self) -> f64 {
        match &self.source {
            Source::Here(side) => side.cost(),
            Source::Device(own) => own.cost(),
        }
    }
}

/// Whether a kernel takes its values from a precomputed matrix rather than from points.
pub fn is_precomputed(kernel: &Kernel) -> bool {
    kernel.form() == Form::Precomputed
}
