//! Rows of the sub-matrices of pairs of classes, with shared values computed once.
//!
//! One-vs-one training of c classes solves c (c - 1) / 2 problems, each on two classes a and b. Kernel values between
//! a and b belong to one pair alone; values within a are needed by c - 1 pairs. So the square block of each class is
//! computed once, when its first pair needs it, and kept, and the values between classes are computed on demand.
//! Together that is half of the whole matrix, and no value is computed twice.

use std::borrow::Cow;
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::data::Points;
use crate::error::Result;
use crate::exec::Exec;
use crate::gram::block::{self, block_strided};
use crate::gram::side::{Layout, Side};
use crate::gram::{KernelRows, Owner, RowCache, Rows, apply, door};
use crate::kernel::Kernel;
use crate::num::{Buffer, tiles};

/// Points sorted by class, prepared for one kernel.
pub struct Classes<'a> {
    kernel: &'a Kernel,
    points: &'a Points,
    layout: Layout,
    class: Vec<Class>,
    exec: Exec,
    /// All rows, where a device keeps them.
    device: Option<Box<dyn Rows>>,
}

#[derive(Debug)]
struct Class {
    rows: Vec<usize>,
    side: Side<f32>,
    diag: Vec<f64>,
    square: OnceLock<Buffer<f32>>,
    /// Whether the square block is kept: it may not fit into memory, or not be worth it.
    keep: bool,
}

impl std::fmt::Debug for Classes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Classes")
            .field("kernel", self.kernel)
            .field("class", &self.class)
            .finish_non_exhaustive()
    }
}

impl<'a> Classes<'a> {
    /// The points' rows by class. Square blocks are kept, the smallest first, as long as they fit into the memory budget
    /// and are worth their memory.
    pub fn new(
        kernel: &'a Kernel,
        points: &'a Points,
        of_row: &[u32],
        classes: usize,
        exec: Exec,
    ) -> Result<Self> {
        let view = points.view();
        block::check(kernel, view, view, exec.memory())?;
        let layout = Layout::of(kernel, view, exec);
        let mut rows = vec![Vec::new(); classes];
        of_row.iter().enumerate().for_each(|(i, &k)| rows[k as usize].push(i));
        let ready = |rows: Vec<usize>| {
            let own = points.gather(&rows);
            let mut diag = vec![0.0; rows.len()];
            kernel.diag(own.view(), &mut diag);
            let side = Side::new(kernel, own.view(), &layout, exec)?;
            Ok(Class { rows, side, diag, square: OnceLock::new(), keep: false })
        };
        let class: Result<Vec<Class>> = if exec.threads() == 1 {
            rows.into_iter().map(ready).collect()
        } else {
            rows.into_par_iter().map(ready).collect()
        };
        let mut class = class?;
        let cost = class.iter().map(|c| c.side.cost()).fold(0.0, f64::max);
        let mut room = exec.budget().min(RowCache::<f32>::worth_keeping(cost));
        let mut order: Vec<usize> = (0..class.len()).collect();
        order.sort_by_key(|&c| class[c].rows.len());
        for c in order {
            let bytes = class[c].rows.len().pow(2).saturating_mul(size_of::<f32>());
            class[c].keep = bytes <= room;
            room = room.saturating_sub(bytes);
        }
        Ok(Classes { kernel, points, layout, class, exec, device: door::rows(kernel, view, exec)? })
    }

    /// Computes values within a class on demand and does not keep them: for classes of which few rows will be needed.
    pub fn on_demand(&mut self, class: usize) {
        self.class[class].keep = false;
    }

    /// The indices of a class's rows in the whole set.
    pub fn rows(&self, class: usize) -> &[usize] {
        &self.class[class].rows
    }

    /// The matrix of two classes: first the rows of `a`, then those of `b`.
    pub fn pair(&self, a: usize, b: usize) -> PairRows<'_> {
        let (a, b) = (&self.class[a], &self.class[b]);
        let device = self.device.as_ref().map(|all| {
            let keep: Vec<u32> = a.rows.iter().chain(&b.rows).map(|&i| i as u32).collect();
            all.subset(&keep)
        });
        PairRows { all: self, a, b, device }
    }

    /// Computes all square blocks that are kept. Otherwise the first pair of a class does so.
    pub fn compute_squares(&self, exec: Exec) {
        self.class.iter().filter(|c| !c.rows.is_empty()).for_each(|c| {
            self.square(c, exec);
        });
    }

    /// Whether the square block of a class has been computed.
    pub fn kept(&self, class: usize) -> bool {
        self.class[class].square.get().is_some()
    }

    fn square<'c>(&self, class: &'c Class, exec: Exec) -> Option<&'c [f32]> {
        if !class.keep {
            return None;
        }
        let square = class.square.get_or_init(|| {
            let n = class.rows.len();
            let mut out = Buffer::stale(n * n);
            let own = || self.points.gather(&class.rows);
            // If a device that keeps no rows fails, compute on the CPU.
            if exec.device().is_cpu()
                || !door::square(self.kernel, own().view(), &mut out, exec).unwrap_or(false)
            {
                block::symmetric(self.kernel, &class.side, &mut out, exec);
            }
            out
        });
        Some(square)
    }
}

/// The matrix of two classes.
pub struct PairRows<'a> {
    all: &'a Classes<'a>,
    a: &'a Class,
    b: &'a Class,
    /// The same rows, where a device keeps them.
    device: Option<Box<dyn Rows + 'a>>,
}

impl std::fmt::Debug for PairRows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PairRows").field("a", self.a).field("b", self.b).finish_non_exhaustive()
    }
}

impl PairRows<'_> {
    /// The points of both classes, unprepared.
    fn points(&self) -> Points {
        let rows: Vec<usize> = self.a.rows.iter().chain(&self.b.rows).copied().collect();
        self.all.points.gather(&rows)
    }

    /// The index of a row of the pair among all points.
    fn row(&self, i: u32) -> usize {
        let (i, na) = (i as usize, self.a.rows.len());
        if i < na { self.a.rows[i] } else { self.b.rows[i - na] }
    }

    /// Writes rows of one class (indices within it) to `out`, at the columns of that class: within the class they are
    /// copied from its square block; against the other class they are computed.
    fn inside(&self, class: &Class, rows: &[u32], out: &mut [f32], stride: usize, exec: Exec) {
        let n = class.rows.len();
        if rows.is_empty() || n == 0 {
            return;
        }
        if let Some(square) = self.all.square(class, exec) {
            for (&r, out) in rows.iter().zip(out.chunks_mut(stride)) {
                out[..n].copy_from_slice(&square[r as usize * n..(r as usize + 1) * n]);
            }
        } else {
            block_strided(self.all.kernel, &class.side.gather(rows), &class.side, out, stride, exec);
        }
    }

    /// Rows of the first class, then rows of the second; one product per class.
    fn block_by_class(&self, rows: &[u32], out: &mut [f32], exec: Exec) {
        let (na, n) = (self.a.rows.len(), self.len());
        let (first, second) = rows.split_at(rows.partition_point(|&r| (r as usize) < na));
        let second: Vec<u32> = second.iter().map(|r| r - na as u32).collect();
        let (upper, lower) = out.split_at_mut(first.len() * n);
        if !first.is_empty() {
            self.inside(self.a, first, upper, n, exec);
            let some = self.a.side.gather(first);
            block_strided(self.all.kernel, &some, &self.b.side, &mut upper[na..], n, exec);
        }
        if !second.is_empty() {
            let some = self.b.side.gather(&second);
            block_strided(self.all.kernel, &some, &self.a.side, lower, n, exec);
            self.inside(self.b, &second, &mut lower[na..], n, exec);
        }
    }
}

impl Rows for PairRows<'_> {
    fn len(&self) -> usize {
        self.a.rows.len() + self.b.rows.len()
    }

    fn diag(&self) -> Vec<f64> {
        [self.a.diag.as_slice(), &self.b.diag].concat()
    }

    fn block(&self, rows: &[u32], out: &mut [f32], exec: Exec) {
        if let Some(device) = &self.device {
            return device.block(rows, out, exec);
        }
        let (na, n) = (self.a.rows.len(), self.len());
        if rows.is_sorted_by_key(|&r| r as usize >= na) {
            return self.block_by_class(rows, out, exec);
        }
        // One product per class, then copied to the requested order.
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&p| rows[p] as usize >= na);
        let mut lines = vec![0.0; rows.len() * n];
        self.block_by_class(&order.iter().map(|&p| rows[p]).collect::<Vec<_>>(), &mut lines, exec);
        for (line, p) in lines.chunks(n).zip(order) {
            out[p * n..(p + 1) * n].copy_from_slice(line);
        }
    }

    fn apply(&self, rows: &[u32], coef: &[f64], out: &mut [f64], exec: Exec) {
        if let Some(device) = &self.device {
            return device.apply(rows, coef, out, exec);
        }
        let points = self.points();
        let centres = points.gather(&rows.iter().map(|&i| i as usize).collect::<Vec<_>>());
        apply::<f64>(self.all.kernel, centres.view(), coef, points.view(), out, exec)
            .expect("kernel and points were checked when the classes were made");
    }

    fn apply_at(&self, rows: &[u32], coef: &[f64], at: &[u32], out: &mut [f64], exec: Exec) {
        let of =
            |rows: &[u32]| self.all.points.gather(&rows.iter().map(|&i| self.row(i)).collect::<Vec<_>>());
        apply::<f64>(self.all.kernel, of(rows).view(), coef, of(at).view(), out, exec)
            .expect("kernel and points were checked when the classes were made");
    }

    fn subset(&self, keep: &[u32]) -> Box<dyn Rows + '_> {
        if let Some(device) = &self.device {
            return device.subset(keep);
        }
        let points = self.all.points.gather(&keep.iter().map(|&i| self.row(i)).collect::<Vec<_>>());
        let rows = KernelRows::under(self.all.kernel, Cow::Owned(points), &self.all.layout, self.all.exec)
            .expect("kernel and points were checked when the classes were made");
        Box::new(rows)
    }

    fn owner(&self) -> Option<Owner> {
        self.device.as_ref().and_then(|device| device.owner())
    }

    fn fill(&self, out: &mut [f32], exec: Exec) {
        if let Some(device) = &self.device {
            return device.fill(out, exec);
        }
        let (na, nb) = (self.a.rows.len(), self.b.rows.len());
        let n = na + nb;
        assert_eq!(out.len(), n * n);
        let all = |n: usize| (0..n as u32).collect::<Vec<_>>();
        self.inside(self.a, &all(na), out, n, exec);
        if nb > 0 {
            self.inside(self.b, &all(nb), &mut out[na * n + na..], n, exec);
        }
        if na > 0 && nb > 0 {
            block_strided(self.all.kernel, &self.a.side, &self.b.side, &mut out[na..], n, exec);
            tiles::mirror(out, n, 0, na, na, nb);
        }
    }

    fn cost(&self) -> f64 {
        self.a.side.cost()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Csr;
    use mercer_testkit::{assert::all_close, toy};

    /// The same rows in every storage, with a kernel for each way in which blocks are computed.
    fn kinds(n: usize, d: usize) -> Vec<(Points, Kernel)> {
        let values: Vec<f64> =
            toy::normals(n, d, 1).iter().map(|&v| if v.abs() < 0.4 { 0.0 } else { v }).collect();
        let (mut start, mut column, mut value) = (vec![0], Vec::new(), Vec::new());
        for row in values.chunks(d) {
            for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                column.push(1000 * j as u32);
                value.push(v);
            }
            start.push(column.len());
        }
        let narrow = values.iter().map(|&v| v as f32).collect();
        let whole = values.iter().map(|&v| (v.abs() * 60.0).round()).collect();
        let points = [
            Points::dense(values, d),
            Points::dense_f32(narrow, d),
            Points::sparse(Csr { start, column, value }, 1000 * d),
            Points::dense(whole, d),
        ];
        let kernels = [
            "rbf(gamma=0.001)",
            "poly(degree=2, scale=0.01)",
            "linear + rbf(gamma=0.3)",
            "laplacian(gamma=0.1)",
        ];
        let of = |points: Points| kernels.map(|line| (points.clone(), line.parse().expect("a kernel")));
        points.into_iter().flat_map(|points| of(points.expect("whole rows"))).collect()
    }

    #[test]
    fn a_pair_is_the_matrix_of_its_rows_however_it_is_asked_for() {
        for (points, kernel) in kinds(90, 4) {
            for threads in [1, 2, 3, 7] {
                check_pair(&points, &kernel, Exec::new(threads));
            }
        }
    }

    fn check_pair(points: &Points, kernel: &Kernel, exec: Exec) {
        let n = points.len();
        let mut diag = vec![0.0; n];
        kernel.diag(points.view(), &mut diag);
        let scale = diag.iter().fold(1.0f64, |a, v| a.max(*v));
        let of_row: Vec<u32> = (0..n as u32).map(|i| (i * i) % 3).collect();
        for (memory, one) in [(0, false), (u64::MAX, false), (u64::MAX, true)] {
            let mut classes = Classes::new(kernel, points, &of_row, 3, exec.with_memory(memory))
                .expect("a kernel on numbers");
            if one {
                classes.on_demand(1);
            }
            let (a, b) = (classes.rows(1), classes.rows(0));
            let own = points.gather(&[a, b].concat());
            let plain = KernelRows::new(kernel, &own, Exec::one()).expect("a kernel on numbers");
            let pair = classes.pair(1, 0);
            let m = pair.len();
            assert_eq!(m, a.len() + b.len());
            all_close(&pair.diag(), &plain.diag(), 1e-15 * scale);
            let wide = |v: &[f32]| v.iter().map(|&v| f64::from(v)).collect::<Vec<_>>();
            let (mut got, mut want) = (vec![0.0; m * m], vec![0.0; m * m]);
            pair.fill(&mut got, exec);
            plain.fill(&mut want, Exec::one());
            all_close(&wide(&got), &wide(&want), 1e-6 * scale);
            // In order, mixed, of one class alone.
            let last = m as u32 - 1;
            for rows in [
                vec![0, 1, 2, last - 1, last],
                vec![last, 0, last - 2, 3, 1],
                vec![last, last - 3],
                vec![2, 0],
            ] {
                let (mut got, mut want) = (vec![0.0; rows.len() * m], vec![0.0; rows.len() * m]);
                pair.block(&rows, &mut got, exec);
                plain.block(&rows, &mut want, Exec::one());
                all_close(&wide(&got), &wide(&want), 1e-6 * scale);
                let (mut got, mut want) = (vec![0.0; m], vec![0.0; m]);
                let coef = toy::normals(rows.len(), 1, 2);
                pair.apply(&rows, &coef, &mut got, exec);
                plain.apply(&rows, &coef, &mut want, Exec::one());
                all_close(&got, &want, 1e-11 * scale);
                let at = [last, 0, 3];
                for some in [&pair as &dyn Rows, &plain] {
                    let mut got = vec![1.0; 3];
                    some.apply_at(&rows, &coef, &at, &mut got, exec);
                    let want: Vec<f64> = at.iter().map(|&i| want[i as usize] + 1.0).collect();
                    all_close(&got, &want, 1e-11 * scale);
                }
            }
        }
    }
}
