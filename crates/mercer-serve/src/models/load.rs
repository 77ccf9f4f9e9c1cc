//! Loading: a file is read and its checksum verified, the model is asked once with its own centres, and only then served.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mercer::data::{Data, ImageShape};
use mercer::model::Model;
use mercer::{Error, Exec, Result};
use sha2::{Digest as _, Sha256};

use super::places::{self, Found};
use crate::outputs::{Output, offered};
use crate::pace::Pace;

/// Centres that a model is asked with before it is served.
const ASKED: usize = 8;

/// A model that is served.
#[derive(Debug)]
pub struct Served {
    /// Its name.
    pub name: String,
    /// Its version: the number in the file's name, else the beginning of the file's SHA-256.
    pub version: String,
    /// The number, where the version is one.
    pub number: Option<u64>,
    /// The file it comes from.
    pub path: PathBuf,
    /// The SHA-256 of the file, in hexadecimal digits.
    pub digest: String,
    /// The model; equal files share one.
    pub model: Arc<Model>,
    /// What it can be asked for.
    pub outputs: Vec<Output>,
    /// What its class labels are called.
    pub classes: Vec<String>,
    /// How many columns rows have, where that is fixed.
    pub columns: Option<usize>,
    /// Whether rows are cells of a table, of numbers or text.
    pub table: bool,
    /// The letters of sequences, where rows are sequences.
    pub alphabet: Option<String>,
    /// The shape of rows that are images.
    pub image: Option<ImageShape>,
    /// How long it takes per row.
    pub(crate) pace: Pace,
}

/// Reads a file and makes sure that what it holds can predict.
pub(super) fn load(found: &Found, exec: Exec, loaded: &[Arc<Served>]) -> Result<Arc<Served>> {
    // Once: a file that is replaced in the meantime must not give one version its name and another its model.
    let bytes = whole(&found.path, exec.memory())?;
    let mut digest = String::new();
    for byte in Sha256::digest(&bytes) {
        let _ = write!(digest, "{byte:02x}");
    }
    let known = loaded.iter().find(|served| served.digest == digest);
    let model = if let Some(served) = known {
        Arc::clone(&served.model)
    } else {
        let model = Model::from_any(&found.path.display().to_string(), &bytes)?.prepared();
        ask(&model)?;
        Arc::new(model)
    };
    let version = found.number.map_or_else(|| digest[..12].to_owned(), |number| number.to_string());
    let centres = model.entry().centres().view();
    let alphabet = match centres.data {
        Data::Sequences { alphabet, .. } => Some(String::from_utf8_lossy(alphabet).into_owned()),
        _ => None,
    };
    let columns = model.columns();
    Ok(Arc::new(Served {
        name: found.name.clone(),
        version,
        number: found.number,
        path: found.path.clone(),
        digest,
        outputs: offered(&model),
        classes: model.classes(),
        table: !model.coding().is_empty(),
        image: centres.image.filter(|shape| columns.is_none_or(|d| d == shape.len())),
        alphabet,
        columns,
        model,
        pace: Pace::default(),
    }))
}

/// The bytes of a file that fits into memory.
fn whole(path: &Path, memory: u64) -> Result<Vec<u8>> {
    let refused = |e| Error::io(path, e);
    // Looked at before it is opened: to open a pipe waits for whoever writes into it.
    places::stamp(path).map_err(refused)?;
    let file = std::fs::File::open(path).map_err(refused)?;
    let needed = file.metadata().map_err(refused)?.len();
    if needed > memory {
        return Err(Error::Memory { what: path.display().to_string(), needed, allowed: memory });
    }
    let mut bytes = Vec::new();
    // A file that grows meanwhile is not read beyond that.
    file.take(memory).read_to_end(&mut bytes).map_err(refused)?;
    Ok(bytes)
}

/// Asks a model for its outputs at some of its own centres, which are finite numbers or an error.
fn ask(model: &Model) -> Result<()> {
    let entry = model.entry();
    let centres = entry.centres().view();
    // Under a precomputed kernel a centre is a row number, and its kernel values are not in the file.
    if matches!(centres.data, Data::RowNumbers(_)) {
        return Ok(());
    }
    let some = centres.slice(0..centres.n.min(ASKED));
    if model.layers.is_empty() {
        model.machine.decision(some, Exec::one()).map(drop)
    } else {
        entry.evaluate(some, Exec::one()).map(drop)
    }
}
