//! The beginning and end of a fit: checked parameters and rows, the kernel, and the resulting machine.

use std::time::Instant;

use super::Declared;
use super::classified::places;
use super::common::{basis_or_default, kernel_or_default, on_rows};
use super::svc::collapsed;
use crate::data::Points;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram::{self, Rows};
use crate::kernel::Kernel;
use crate::model::{Learner, Machine, Role, Sample};
use crate::watch::Info;

/// A checked sample with the kernel and the execution context of the fit.
pub(in crate::model) struct Given<'a> {
    pub(in crate::model) kernel: Kernel,
    pub(in crate::model) sample: Sample<'a>,
    pub(in crate::model) exec: Exec,
    clock: Instant,
}

impl<'a> Given<'a> {
    /// For learners that require a conditionally positive definite kernel.
    pub(in crate::model) fn new(params: &dyn Declared, sample: Sample<'a>, exec: Exec) -> Result<Self> {
        Self::begun(params, sample, exec, kernel_or_default)
    }

    /// For learners that accept any kernel functions.
    pub(in crate::model) fn basis(params: &dyn Declared, sample: Sample<'a>, exec: Exec) -> Result<Self> {
        Self::begun(params, sample, exec, basis_or_default)
    }

    fn begun(
        params: &dyn Declared,
        sample: Sample<'a>,
        exec: Exec,
        kernel: fn(Option<&Kernel>, &Sample<'_>) -> Result<Kernel>,
    ) -> Result<Self> {
        let clock = Instant::now();
        params.check()?;
        sample.check_on(exec)?;
        Ok(Given { kernel: kernel(params.kernel(), &sample)?, sample, exec, clock })
    }

    /// Calls with the rows of the kernel matrix: the sample's own, or computed from its points.
    pub(in crate::model) fn on_rows<T>(&self, call: impl FnOnce(&dyn Rows) -> Result<T>) -> Result<T> {
        on_rows(&self.kernel, &self.sample, self.exec, call)
    }

    /// The points of some rows.
    pub(in crate::model) fn points(&self, rows: &[u32]) -> Points {
        self.sample.points.gather(&places(rows))
    }

    /// The kernel matrix on some rows, in f64. Fails if `copies` copies of it would not fit into the memory budget:
    /// learners make a copy or two of their own.
    pub(in crate::model) fn matrix(&self, rows: &[u32], copies: usize) -> Result<Vec<f64>> {
        let (n, most) = (rows.len(), ((self.exec.budget() / (8 * copies)) as f64).sqrt() as usize);
        if n > most {
            let allowed =
                format!("at most {most} within this memory; learners svc and kfd-greedy accept any number");
            return Err(Error::param("training rows", n, allowed));
        }
        match self.sample.gram {
            Some(gram) => Ok(gram::exact(gram.subset(rows).as_ref(), self.exec)),
            None => Ok(gram::square::<f64>(&self.kernel, self.points(rows).view(), self.exec)?.to_vec()),
        }
    }

    /// The machine with these coefficients, n x k; its support are the rows with a non-zero one.
    pub(in crate::model) fn machine(
        &self,
        rows: &[u32],
        coef: Vec<f64>,
        offset: Vec<f64>,
        role: Role,
        learner: Learner,
        info: Info,
    ) -> Result<Machine> {
        let lines = rows.iter().zip(coef.chunks(offset.len().max(1)));
        let support = lines.filter(|(_, c)| c.iter().any(|c| *c != 0.0)).map(|(&i, _)| i).collect();
        let whole = Expansion::new(self.kernel.clone(), self.points(rows), coef, offset)?;
        let machine = Machine::new(collapsed(whole, self.exec)?, role, learner, info);
        Ok(self.timed(Machine { support, ..machine }))
    }

    /// The machine with the duration of the fit.
    pub(in crate::model) fn timed(&self, mut machine: Machine) -> Machine {
        machine.info.seconds = self.clock.elapsed().as_secs_f64();
        machine
    }
}
