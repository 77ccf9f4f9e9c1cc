//! Reading and writing models in LIBSVM's text format.
//!
//! All five of its machines and all its kernels can be read. Models that LIBSVM's `svm-predict` can evaluate can be
//! written: regression and ridge as `epsilon_svr` or `nu_svr`, one-vs-one classifiers as `c_svc` or `nu_svc`,
//! one-class hyperplanes, and spheres under a Gaussian, which are equivalent to hyperplanes. LIBSVM supports neither
//! stages nor one-vs-rest; such models are refused with a message.
//!
//! Signs: in LIBSVM a pair of classes has a positive output for the one that comes first in *its* order of labels,
//! which is that of the training rows; here a positive output means the class whose name comes second, and of two
//! classes the names are in order. Where that differs, outputs of pairs change sign, with their coefficients, offset
//! and sigmoid. Three and more classes keep LIBSVM's order, so that ties between votes are broken in the same way.

mod classes;
mod text;
mod write;

use std::path::Path;

use crate::data::io::{read_whole, write_atomic};
use crate::error::{Error, Result};
use crate::exec::half_of_ram;
use crate::expansion::Expansion;
use crate::kernel::Kernel;
use crate::model::{Ball, Learner, Loss, Machine, Model, OneClassParams, Origin, Readout, Role, SvrParams};
use crate::watch::Info;
pub(in crate::model) use classes::by_class;
use text::{Machine as Kind, Text};

impl Model {
    /// Reads a LIBSVM model file.
    pub fn load_libsvm(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = read_whole(path, half_of_ram() as u64)?;
        Self::from_libsvm(&path.display().to_string(), &bytes)
    }

    /// A model from LIBSVM's text; `name` stands for the file in messages.
    ///
    /// The file does not contain the number of columns, so the model accepts points of any width
    /// ([`Model::any_columns`]).
    ///
    /// ```
    /// use mercer::{Exec, data::Points, model::Model};
    /// let text = "svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho -0.5\nSV\n2 1:1 3:1\n-1 2:4\n";
    /// let model = Model::from_libsvm("m", text.as_bytes())?;
    /// let x = Points::dense(vec![1.0, 1.0, 1.0, 9.0], 4)?;
    /// assert_eq!(model.decision(x.view(), Exec::one())?, [2.0 * 2.0 - 4.0 + 0.5]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn from_libsvm(name: &str, bytes: &[u8]) -> Result<Self> {
        let text = text::read(name, bytes)?;
        let mut info = Info {
            notes: vec![format!("read from a LIBSVM {} model", text.machine.name()).into()],
            ..Info::default()
        };
        if !text.density.is_empty() {
            info.note("its one-class density marks were ignored");
        }
        let machine = match text.machine {
            Kind::CSvc | Kind::NuSvc => classes::read(name, text, info)?,
            Kind::OneClass => {
                let params =
                    OneClassParams { kernel: Some(text.kernel.clone()), ..OneClassParams::default() };
                Machine::new(single(text)?, Role::Novelty, Learner::OneClass(params), info)
            }
            Kind::EpsilonSvr | Kind::NuSvr => {
                let loss = if text.machine == Kind::NuSvr { Loss::Nu } else { Loss::Epsilon };
                let params = SvrParams { kernel: Some(text.kernel.clone()), loss, ..SvrParams::default() };
                let noise = text.prob_a.first().copied();
                let mut machine = Machine::new(single(text)?, Role::Numbers, Learner::Svr(params), info);
                noise.into_iter().for_each(|scale| machine.tell("noise", scale));
                machine
            }
        };
        let origin = Origin { foreign: true, ..Origin::default() };
        Ok(Model { any_columns: true, ..Model::from(Machine { origin, ..machine }) })
    }

    /// Writes a LIBSVM model file. Fails for models that LIBSVM cannot evaluate.
    pub fn save_libsvm(&self, path: impl AsRef<Path>) -> Result<()> {
        let (path, text) = (path.as_ref(), self.to_libsvm()?);
        write_atomic(path, |out| out.write_all(text.as_bytes()).map_err(|e| Error::io(path, e)))
    }

    /// The model as LIBSVM's text. Fails for models that LIBSVM cannot evaluate.
    pub fn to_libsvm(&self) -> Result<String> {
        if let Some(stage) = self.stages.list.first() {
            let why =
                format!("LIBSVM's files hold no stages, and this model has one first: {}", stage.describe());
            return Err(Error::Unsupported(why));
        }
        if !self.layers.is_empty() {
            let why = "LIBSVM's format does not support kernel PCA features, which this model uses".into();
            return Err(Error::Unsupported(why));
        }
        let (m, f) = (&self.machine, &self.machine.expansion);
        let text = match (&m.role, &m.readout) {
            (Role::Classes(_), Readout::Plain | Readout::Pairs(_)) => classes::write(m)?,
            (Role::Numbers, Readout::Plain) => {
                let nu = matches!(&m.learner, Learner::Svr(p) if p.loss == Loss::Nu);
                let kind = if nu { Kind::NuSvr } else { Kind::EpsilonSvr };
                Text { prob_a: m.fact("noise").into_iter().collect(), ..written(kind, f)? }
            }
            (Role::Novelty, Readout::Plain) => written(Kind::OneClass, f)?,
            (Role::Novelty, Readout::Ball(ball)) => written(Kind::OneClass, &plane(f, ball)?)?,
            (Role::Features(_), _) => {
                let why =
                    "LIBSVM's format does not support kernel PCA features, which this model uses".into();
                return Err(Error::Unsupported(why));
            }
            _ => {
                let why = format!("LIBSVM's format does not support models of kind {}", self.kind());
                return Err(Error::Unsupported(why));
            }
        };
        let mut out = Vec::new();
        text.write(&mut out).map_err(|e| Error::io("LIBSVM text", e))?;
        Ok(String::from_utf8(out).expect("numbers and names of kernels are text"))
    }
}

/// The expansion of a machine with one output: LIBSVM's is `sum coef k - rho`.
fn single(text: Text) -> Result<Expansion> {
    Expansion::new(text.kernel, text.centres, text.coef, vec![-text.rho[0]])
}

/// A machine with one output as text.
fn written(machine: Kind, f: &Expansion) -> Result<Text> {
    let (kernel, factor) = exchangeable(f.kernel())?;
    Ok(Text {
        machine,
        kernel,
        classes: 2,
        rho: vec![-f.offset()[0]],
        label: Vec::new(),
        prob_a: Vec::new(),
        prob_b: Vec::new(),
        density: Vec::new(),
        counts: Vec::new(),
        coef: f.coef().iter().map(|c| factor * c).collect(),
        centres: f.centres().clone(),
    })
}

/// The hyperplane equivalent to a sphere under constant k(x, x): `R^2 - |Phi(x) - c|^2 = 2 c . Phi(x) + const`.
fn plane(f: &Expansion, ball: &Ball) -> Result<Expansion> {
    let (Kernel::Rbf { .. }, own) = exchangeable(f.kernel())? else {
        let why = format!(
            "LIBSVM does not support spheres, and under {} a sphere is not equivalent to a hyperplane",
            f.kernel()
        );
        return Err(Error::Unsupported(why));
    };
    f.scaled(2.0).with_offset(vec![ball.radius2 - own - ball.norm2])
}

/// The LIBSVM kernel of which a kernel is a multiple, and the factor, which is moved to the coefficients.
fn exchangeable(kernel: &Kernel) -> Result<(Kernel, f64)> {
    match kernel {
        Kernel::Linear | Kernel::Poly { .. } | Kernel::Rbf { .. } | Kernel::Precomputed => {
            Ok((kernel.clone(), 1.0))
        }
        &Kernel::Sigmoid { amplitude, scale, shift } => {
            Ok((Kernel::Sigmoid { amplitude: 1.0, scale, shift }, amplitude))
        }
        Kernel::Scaled { factor, of } => exchangeable(of).map(|(kernel, inner)| (kernel, factor * inner)),
        other => {
            let have = "linear, polynomial, rbf, sigmoid, precomputed and multiples of them";
            Err(Error::Unsupported(format!("LIBSVM has no kernel {other}; it has {have}")))
        }
    }
}
