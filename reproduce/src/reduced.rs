//! What the experiments on reduced sets have in common: ten machines on the smoothed USPS digits, made smaller.

use mercer::Result;
use mercer::data::Dataset;
use mercer::expansion::Expansion;
use mercer::kernel::Kernel;
use mercer::model::Machine;
use mercer::model::{CompressParams, Model};
use mercer::reduce::reduced_set::{ReducedSetParams, Size};

use crate::data::{Split, Usps};
use crate::digits::{C, error_percent};
use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row, Unit};

/// The papers' kernel on the digits, `exp(-|x - y|^2 / 128)`.
pub(crate) const KERNEL: Kernel = Kernel::Rbf { gamma: 1.0 / 128.0 };

/// The ten machines, against the rest, and the digits they were trained on.
pub(crate) struct Ten {
    pub digits: Split,
    pub whole: Machine,
}

impl Lab<'_> {
    /// The papers' ten machines on the smoothed digits.
    pub(crate) fn ten_machines(&mut self) -> Result<Ten> {
        let digits = self.usps(Usps::Smoothed)?;
        self.step("ten machines", 0, 1)?;
        let whole = self.classifier(KERNEL, C, &digits.train)?;
        Ok(Ten { digits, whole })
    }

    /// The machines with other vectors and thresholds recomputed on the training digits, for several sizes of one kind: test
    /// error, vectors and the relative error in feature space.
    pub(crate) fn tried(&mut self, ten: &Ten, set: &ReducedSetParams, tries: &[Try]) -> Result<Vec<Row>> {
        let params = CompressParams { set: set.clone(), ..CompressParams::default() };
        Ok(self.compressed(ten, &params, tries)?.0)
    }

    /// The same, with the machines.
    pub(crate) fn compressed(
        &mut self,
        ten: &Ten,
        params: &CompressParams,
        tries: &[Try],
    ) -> Result<(Vec<Row>, Vec<Machine>)> {
        let model = Model::from(ten.whole.clone());
        let wanted: Vec<_> = tries.iter().map(|t| (Size::Vectors(t.vectors), t.descent)).collect();
        let (exec, train) = (self.exec(), &ten.digits.train);
        let small = model.compress_path(params, &wanted, Some(train), exec, &mut mercer::watch::silent())?;
        let (mut rows, mut machines) = (Vec::new(), Vec::new());
        for (t, small) in tries.iter().zip(small) {
            let test = &ten.digits.test;
            let staged =
                Dataset { points: small.model.stages.apply(test.points.view(), exec)?, ..test.clone() };
            let machine = small.model.machine;
            let error = error_percent(&machine, &staged, exec)?;
            let paper = t.paper.and_then(|p| self.paper(p));
            rows.push(t.row("test error", paper, error, Unit::Percent, Better::Lower));
            rows.push(t.row("vectors", None, vectors(&machine.expansion), Unit::Count, Better::Near));
            let off = 100.0 * small.about.set.error;
            rows.push(t.row("|Psi - Psi'| / |Psi|", None, off, Unit::Percent, Better::Lower));
            machines.push(machine);
        }
        Ok((rows, machines))
    }
}

impl Ten {
    /// The machines of some tries with coefficients trained anew on the training digits.
    pub(crate) fn retrained(
        &self,
        lab: &Lab<'_>,
        group: &'static str,
        tries: &[Try],
        machines: &[Machine],
    ) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for (t, machine) in tries.iter().zip(machines) {
            let model = Model::from(machine.clone()).retrained(&self.digits.train, 0, lab.exec())?;
            let machine = &model.machine;
            let error = error_percent(machine, &self.digits.test, lab.exec())?;
            let t = Try { group, ..t.clone() };
            let paper = t.paper.and_then(|p| lab.paper(p));
            rows.push(t.row("test error", paper, error, Unit::Percent, Better::Lower));
            rows.push(t.row("vectors", None, vectors(&machine.expansion), Unit::Count, Better::Near));
        }
        Ok(rows)
    }
}

/// A row of an experiment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Try {
    pub group: &'static str,
    pub setting: String,
    pub vectors: usize,
    pub descent: Option<usize>,
    pub paper: Option<f64>,
}

impl Try {
    fn row(
        &self,
        quantity: &'static str,
        paper: Option<f64>,
        mercer: f64,
        unit: Unit,
        better: Better,
    ) -> Row {
        Row {
            group: self.group.into(),
            setting: self.setting.clone(),
            quantity,
            paper,
            mercer,
            unit,
            better,
            chosen: Chosen::Paper,
        }
    }
}

/// Vectors a machine, on average: coefficients that are not zero.
pub(crate) fn vectors(f: &Expansion) -> f64 {
    f.coef().iter().filter(|c| **c != 0.0).count() as f64 / f.outputs() as f64
}

/// The machines as they are, to compare with.
pub(crate) fn uncompressed(lab: &Lab<'_>, ten: &Ten) -> Result<Vec<Row>> {
    let whole = Try { group: "uncompressed", setting: "all SVs".into(), ..Try::default() };
    let error = error_percent(&ten.whole, &ten.digits.test, lab.exec())?;
    let paper = lab.paper(4.4);
    Ok(vec![
        whole.row("test error", paper, error, Unit::Percent, Better::Lower),
        whole.row("vectors", None, vectors(&ten.whole.expansion), Unit::Count, Better::Near),
        whole.row("|Psi - Psi'| / |Psi|", None, 0.0, Unit::Percent, Better::Lower),
    ])
}

/// A try at each of the paper's sizes, beside its errors where they are of this kind.
pub(crate) fn by_size(
    lab: &Lab<'_>,
    group: &'static str,
    paper: &[(usize, f64)],
    of_paper: bool,
) -> Vec<Try> {
    let one = |&(vectors, error): &(usize, f64)| Try {
        group,
        setting: format!("{vectors} per machine"),
        vectors,
        descent: None,
        paper: of_paper.then_some(error),
    };
    sizes(lab, paper).iter().map(one).collect()
}

/// Only so many of the sizes where the run is on a part of the data.
pub(crate) fn sizes<'s, T>(lab: &Lab<'_>, all: &'s [T]) -> &'s [T] {
    if lab.settings.rows.is_some() { &all[..2.min(all.len())] } else { all }
}
