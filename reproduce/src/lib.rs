//! The papers' experiments: one file each, the papers' numbers next to Mercer's.
//!
//! [`ALL`] is the table of experiments, which the command `mercer reproduce` and the tests read; [`run`] runs one. Seeds
//! are fixed. Numbers that come out worse than the paper's are reported as they are.
//!
//! ```
//! let experiment = mercer_reproduce::find("usps-kernels")?;
//! assert_eq!(experiment.paper, "Schoelkopf 1997, Table 2.4");
//! # Ok::<(), mercer::Error>(())
//! ```

mod auto_c;
mod benchmark;
mod components;
pub mod data;
mod denoise_curves;
mod denoise_gaussians;
mod denoise_usps;
mod digits;
mod dna;
mod fisher;
mod ida;
mod invariant_hyperplane;
mod kernels;
mod kpca_toys;
mod kpca_usps;
mod lab;
mod list;
mod local_kernels;
mod objects;
mod one_class;
mod outcome;
mod rbf_networks;
mod reduced;
mod reject;
mod rs_beyond;
mod rs_construction;
mod rs_selection_kpca;
mod rs_selection_l1;
mod span;
mod sv_overlap;
mod usps_kernels;
mod vc_degree;
mod virtual_sv_mnist;
mod virtual_sv_usps;
mod vsv_reduced_set;

use std::time::Instant;

use mercer::{Error, Result};

use crate::data::Set;
pub use crate::denoise_usps::{Choice, Noise, NoisyDigits};
pub use crate::lab::{Lab, Settings};
pub use crate::list::List;
pub use crate::outcome::{Better, Chosen, Outcome, Row, Unit};

/// An experiment of a paper.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// What `mercer reproduce` calls it.
    pub name: &'static str,
    /// What it shows, in a line.
    pub shows: &'static str,
    /// The paper by authors and year, and where in it.
    pub paper: &'static str,
    /// What a reader of the numbers should know.
    pub notes: &'static [&'static str],
    /// The data it reads.
    pub needs: &'static [Set],
    /// The data it reads when run in full.
    pub needs_full: &'static [Set],
    /// About how many seconds it takes on two cores.
    pub seconds: u32,
    /// About how many it takes in full, where that is another run.
    pub full: Option<u32>,
    run: fn(&mut Lab<'_>) -> Result<Vec<Row>>,
}

/// Every experiment.
pub static ALL: &[Experiment] = &[
    usps_kernels::EXPERIMENT,
    sv_overlap::EXPERIMENT,
    vc_degree::EXPERIMENT,
    auto_c::EXPERIMENT,
    span::EXPERIMENT,
    reject::EXPERIMENT,
    one_class::EXPERIMENT,
    local_kernels::EXPERIMENT,
    objects::EXPERIMENT,
    dna::EXPERIMENT,
    ida::EXPERIMENT,
    fisher::EXPERIMENT,
    rbf_networks::EXPERIMENT,
    kpca_usps::EXPERIMENT,
    kpca_toys::EXPERIMENT,
    denoise_gaussians::EXPERIMENT,
    denoise_curves::EXPERIMENT,
    denoise_usps::EXPERIMENT,
    rs_selection_kpca::EXPERIMENT,
    rs_selection_l1::EXPERIMENT,
    rs_construction::EXPERIMENT,
    rs_beyond::EXPERIMENT,
    virtual_sv_usps::EXPERIMENT,
    virtual_sv_mnist::EXPERIMENT,
    vsv_reduced_set::EXPERIMENT,
    invariant_hyperplane::EXPERIMENT,
];

/// The experiment of a name.
pub fn find(name: &str) -> Result<&'static Experiment> {
    ALL.iter().find(|e| e.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|e| e.name).collect();
        Error::param("experiment", name, format!("one of {}", names.join(", ")))
    })
}

/// Runs an experiment. Fails before it starts if data is missing, in words that say what and where.
pub fn run(experiment: &Experiment, lab: &mut Lab<'_>) -> Result<Outcome> {
    let clock = Instant::now();
    let needs = if lab.settings.full { experiment.needs_full } else { experiment.needs };
    data::check(needs, &lab.settings.folder)?;
    let rows = (experiment.run)(lab)?;
    let figures = lab.figures();
    Ok(Outcome { name: experiment.name, rows, seconds: clock.elapsed().as_secs_f64(), figures })
}
