//! The library's words as Python's exceptions and dictionaries.

use mercer::Error;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::Value;

/// An error with the library's own words. What the system refused is an `OSError`, what does not
/// fit into the memory limit a `MemoryError`, all else a `ValueError`.
pub(crate) fn raise(error: Error) -> PyErr {
    match error {
        Error::Io { path, source } => {
            PyOSError::new_err((source.raw_os_error(), source.to_string(), path.display().to_string()))
        }
        Error::Memory { .. } => PyMemoryError::new_err(error.to_string()),
        Error::Cancelled => PyRuntimeError::new_err("stopped before there was a result"),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// Parameters that Python wrote as JSON.
pub(crate) fn json(text: &str) -> PyResult<Value> {
    serde_json::from_str(text).map_err(|e| PyValueError::new_err(format!("parameters: {e}")))
}
