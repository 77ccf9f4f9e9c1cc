//! `mercer convert`: a model in another format.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use mercer::data::io::write_atomic;
use mercer::model::{Model, onnx};
use mercer::{Error, Result};
use mercer_report::Converted;

use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::model;

/// Write a model in another format
///
/// MODEL may be Mercer's own file, its JSON form, or LIBSVM's text. LIBSVM text
/// supports neither scaling nor one-vs-rest; models that use them are refused with a message.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer convert iris.mercer --to libsvm -o iris.model
  mercer convert libsvm.model --to safetensors -o digits.mercer
  mercer convert iris.mercer --to onnx -o iris.onnx
  mercer convert iris.mercer --to json -o iris.json")]
pub(crate) struct Convert {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// The format
    #[arg(long, value_name = "FORMAT")]
    to: To,

    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum To {
    /// LIBSVM's model text
    Libsvm,
    /// ONNX, scaling included
    Onnx,
    /// JSON with all parameters and arrays
    Json,
    /// Mercer's own file
    Safetensors,
}

impl To {
    /// Writes a model; returns the format's name and who reads it.
    pub(crate) fn write(self, model: &Model, out: &Path) -> Result<(&'static str, &'static str)> {
        Ok(match self {
            To::Libsvm => {
                model.save_libsvm(out)?;
                ("libsvm", "svm-predict and scikit-learn's LIBSVM wrappers read it.")
            }
            To::Onnx => {
                let bytes = onnx::write(model)?;
                write_atomic(out, |file| file.write_all(&bytes).map_err(|e| Error::io(out, e)))?;
                ("onnx", "Runs in ONNX runtimes; the preprocessing of columns is included.")
            }
            To::Json => {
                model.save_json(out)?;
                ("json", "Kernel, centres, coefficients, offsets; Mercer reads it back to the last bit.")
            }
            To::Safetensors => {
                model.save(out)?;
                ("safetensors", "Mercer's own file; any safetensors library opens its arrays.")
            }
        })
    }
}

impl Command for Convert {
    const PATH: &'static [&'static str] = &["convert"];

    fn files(&self) -> std::result::Result<Files, Failure> {
        Ok(Files::none().reads([&self.model]).writes([&self.out]))
    }

    fn run(self, context: &Context) -> Done {
        let model = model::read(&self.model, context.exec)?;
        let (format, remark) = self.to.write(&model, &self.out)?;
        context.tell(&Converted::new(self.out, format, remark))
    }
}
