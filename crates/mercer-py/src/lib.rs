//! The compiled part of the Python package `mercer`: numpy arrays in, the library's models out.
//!
//! No mathematics here and no scikit-learn: this crate turns arrays into points, runs the library's learners on a thread
//! of their own while Python stays answerable, and hands fitted models back as one class. Estimators are written in Python
//! on top of it, under `python/mercer`.
#![forbid(unsafe_code)]
#![expect(clippy::needless_pass_by_value, reason = "what Python passes arrives as values of our own")]

mod arrays;
mod auto;
mod fit;
mod linear;
mod maps;
mod model;
mod parts;
mod remote;
mod run;
mod words;

/// The compiled part of the package `mercer`.
#[pyo3::pymodule]
mod _mercer {
    #[pymodule_export]
    use crate::auto::fit_auto;
    #[pymodule_export]
    use crate::fit::{fit, fit_components, fit_denoiser, learner_table, spectral_clusters};
    #[pymodule_export]
    use crate::linear::{fit_linear, fit_ridge};
    #[pymodule_export]
    use crate::maps::{Map, Stages, kernel_line, kernel_matrix, kernel_names};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::remote::search::{Judge, search};
    #[pymodule_export]
    use crate::remote::shard::{Centres, Shard, fit_large, fit_large_components, large_centres};

    /// The version of the package.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
