//! Your data: files that pages bring, read as the command reads them; models and what can be downloaded of them.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use mercer::data::io::{self, LabelColumn, ReadOptions};
use mercer::data::{Dataset, ImageShape, Targets};
use mercer::model::{Model, Query, Task};
use mercer_report::{DataInfo, Predictions, json as report_json, text as report_text};
use mercer_serve::error::Refusal;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::reply::{Reply, download as file, json, parse};
use crate::rooms::digits::pixels;
use crate::rooms::written::{python_text, quoted};
use crate::server::Failure;
use crate::state::{From, Given, Kept, Lab, Set};

/// Rows of images that are shown at first.
const IMAGES: usize = 24;

/// Opens what the command line named: data files and models. Returns the part of the address that shows it.
pub(crate) fn open(lab: &Arc<Lab>, paths: &[PathBuf]) -> Result<String, Failure> {
    let mut room = String::new();
    for path in paths {
        std::fs::metadata(path).map_err(|e| mercer::Error::io(path, e))?;
        let name =
            path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
        if path.is_file() && is_model(&name, &beginning(path)?) {
            let model = Model::read_within(path, lab.exec.memory())?;
            let kept = keep_model(lab, name, model, &path.display().to_string());
            room = format!("#data?model={}", kept.id);
            continue;
        }
        let given = Arc::new(Given { name, from: From::Disk(path.clone()) });
        lab.store().files.push(Arc::clone(&given));
        let set = store(lab, &given, &Reading::default())?;
        room = format!("#data?set={}", set.id);
    }
    Ok(room)
}

fn beginning(path: &Path) -> mercer::Result<Vec<u8>> {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(Model::HEAD as u64).read_to_end(&mut head));
    read.map_err(|e| mercer::Error::io(path, e))?;
    Ok(head)
}

/// Whether a file is a model, whole or broken. A broken model is told as such, not as data of no known format.
fn is_model(name: &str, bytes: &[u8]) -> bool {
    name.ends_with(".mercer") || Model::is_beginning(bytes)
}

fn keep_model(lab: &Lab, name: String, model: Model, path: &str) -> Arc<Kept> {
    lab.keep(|id| Kept {
        id,
        command: format!("mercer explain {}", quoted(path)),
        python: format!("import mercer\n\nmodel = mercer.load({})\n", python_text(path)),
        name,
        model,
        set: None,
        train: Vec::new(),
        held: Vec::new(),
        report: None,
    })
}

/// `POST api/files/NAME`: a file's bytes. A model is kept as one; everything else is data.
pub(crate) fn upload(lab: &Arc<Lab>, name: &str, body: Bytes) -> Reply {
    if is_model(name, &body) {
        // What a page brings is its own, unlike a file of the server.
        let model = Model::from_any(name, &body).map_err(|why| Refusal::bad(why.to_string()))?;
        let kept = keep_model(lab, name.to_owned(), model, name);
        return json(&json!({ "model": kept.id }));
    }
    let mut store = lab.store();
    store.files.push(Arc::new(Given { name: name.to_owned(), from: From::Page(body) }));
    json(&json!({ "file": store.files.len() - 1 }))
}

/// `GET api/files`: what there is.
pub(crate) fn files(lab: &Lab) -> Reply {
    let store = lab.store();
    let sets: Vec<Value> = store
        .sets
        .iter()
        .map(|set| json!({ "id": set.id, "name": set.file.name, "rows": set.data.len() }))
        .collect();
    let models: Vec<Value> = store
        .models
        .iter()
        .map(|kept| json!({ "id": kept.id, "name": kept.name, "kind": kept.model.kind() }))
        .collect();
    json(&json!({ "sets": sets, "models": models }))
}

/// How a file is to be read, as far as a page says.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Reading {
    /// The label column: `auto`, `none`, a name or a number.
    label: String,
    /// `auto`, `classes`, `reals` or `none`.
    targets: String,
    /// `auto`, or an encoding of text.
    encoding: String,
    /// Height and width of rows that are images.
    image: Option<[usize; 2]>,
}

#[derive(Deserialize)]
struct Wanted {
    file: usize,
    #[serde(flatten)]
    how: Reading,
}

/// `POST api/sets`: reads a file, once more where it is to be read in another way.
pub(crate) fn read(lab: &Arc<Lab>, body: &[u8]) -> Reply {
    let ask: Wanted = parse(body)?;
    let given = lab.file(ask.file)?;
    let set = store(lab, &given, &ask.how)?;
    shown(lab, &set)
}

fn store(lab: &Lab, given: &Arc<Given>, how: &Reading) -> mercer::Result<Arc<Set>> {
    let mut flags = String::new();
    let mut options = ReadOptions { memory: Some(lab.exec.memory()), ..ReadOptions::default() };
    if !how.label.is_empty() && how.label != "auto" {
        let Ok(label) = how.label.parse::<LabelColumn>();
        options.label = label;
        let _ = write!(flags, " --label {}", quoted(&how.label));
    }
    if !how.targets.is_empty() && how.targets != "auto" {
        options.targets = how.targets.parse()?;
        let _ = write!(flags, " --targets {}", how.targets);
    }
    if !how.encoding.is_empty() && how.encoding != "auto" {
        options.encoding = Some(how.encoding.parse()?);
        let _ = write!(flags, " --encoding {}", how.encoding);
    }
    let mut data = match &given.from {
        From::Page(bytes) => {
            io::read_bytes(&given.name, bytes, &options).map_err(|why| packed(bytes, why))?
        }
        From::Disk(path) => io::read(path, &options)?,
    };
    if let Some([height, width]) = how.image {
        data.points = data.points.with_image(ImageShape::grey(height, width))?;
        let _ = write!(flags, " --image {height}x{width}");
    }
    let mut store = lab.store();
    let set = Arc::new(Set { id: store.sets.len(), file: Arc::clone(given), flags, data });
    store.sets.push(Arc::clone(&set));
    Ok(set)
}

/// A refusal of an archive, with what to do instead.
fn packed(bytes: &[u8], why: mercer::Error) -> mercer::Error {
    if !bytes.starts_with(b"PK\x03\x04") {
        return why;
    }
    mercer::Error::Unsupported(format!(
        "{why}; zip archives of other files are not supported: unpack it, and drop one file or start `mercer lab FOLDER`"
    ))
}

/// `GET api/sets/ID`: what is in a data set, and what looks wrong.
pub(crate) fn set(lab: &Lab, id: usize) -> Reply {
    let set = lab.set(id)?;
    shown(lab, &set)
}

fn shown(lab: &Lab, set: &Set) -> Reply {
    let data = &set.data;
    let info = DataInfo::new(&set.file.name, data, data.dim() <= 60);
    let facts: Value = serde_json::from_str(&report_json(&info)).unwrap_or(Value::Null);
    let targets = match &data.targets {
        Targets::Classes(labels) => {
            let counts: Vec<Value> =
                labels.names.iter().zip(labels.counts()).map(|(name, n)| json!([name, n])).collect();
            json!({ "kind": "classes", "classes": counts })
        }
        Targets::Reals(_) => json!({ "kind": "numbers" }),
        Targets::None => json!({ "kind": "none" }),
    };
    let file = lab.store().files.iter().position(|given| Arc::ptr_eq(given, &set.file));
    let plane = (data.dim() == 2 && data.points.view().is_numbers() && data.len() <= 3000)
        .then(|| data.points.view().to_f64().ok())
        .flatten();
    let of_row = match &data.targets {
        Targets::Classes(labels) if plane.is_some() => Some(labels.of_row.clone()),
        _ => None,
    };
    json(&json!({
        "id": set.id, "file": file, "name": set.file.name, "rows": data.len(), "columns": data.dim(), "info": facts,
        "text": report_text(&info, false), "targets": targets, "target": data.target_name, "names": data.column_names,
        "encoding": set.flags.split(" --encoding ").nth(1).and_then(|rest| rest.split(' ').next()),
        "guessed": data.target_from.as_ref().is_some_and(|from| from.guessed),
        "images": images(data, &(0..data.len().min(IMAGES)).collect::<Vec<_>>()),
        "image": data.points.image().map(|shape| [shape.height, shape.width, shape.channels]),
        "plane": plane, "classes": of_row,
    }))
}

/// Rows as grey pictures, where they are images.
pub(crate) fn images(data: &Dataset, rows: &[usize]) -> Option<Value> {
    let shape = data.points.image()?;
    let points = data.points.gather(rows);
    let points = points.grey().unwrap_or(points);
    let shape = points.image().unwrap_or(shape);
    let grey = shape.height * shape.width == points.dim();
    let all: Vec<Value> = (0..points.len()).filter(|_| grey).map(|row| json!({ "row": rows[row], "label": label(&data.targets, rows[row]), "pixels": pixels(&points, row) })).collect();
    Some(json!({ "height": shape.height, "width": shape.width, "rows": all }))
}

/// What the data says of a row.
pub(crate) fn label(targets: &Targets, row: usize) -> Option<String> {
    match targets {
        Targets::Classes(labels) => Some(labels.name_of(row).to_owned()),
        Targets::Reals(values) => Some(mercer_report::number(values[row])),
        Targets::None => None,
    }
}

/// `GET api/models/ID`: what a model is.
pub(crate) fn model(lab: &Lab, id: usize) -> Reply {
    let kept = lab.model(id)?;
    let described = kept.model.describe();
    json(&json!({
        "id": kept.id, "name": kept.name, "set": kept.set.as_ref().map(|set| set.id), "about": described,
        "command": kept.command, "python": kept.python, "report": kept.report.is_some(), "held": kept.held.len(),
        "trained": kept.train.len(),
    }))
}

/// `GET api/models/ID/FILE`: the model, its report, or predictions of its held-out rows.
pub(crate) fn download(lab: &Lab, id: usize, what: &str) -> Reply {
    let kept = lab.model(id)?;
    let stem = kept.name.trim_end_matches(".mercer");
    match what {
        "model" => Ok(file("application/octet-stream", &format!("{stem}.mercer"), kept.model.to_bytes()?)),
        "report" => match &kept.report {
            Some(page) => Ok(file("text/html; charset=utf-8", &format!("{stem}.html"), page.clone())),
            None => Err(Refusal::missing("this model was not trained in the lab: it has no report")),
        },
        "predictions" => {
            let set =
                kept.set.as_ref().ok_or_else(|| Refusal::missing("this model has no data in the lab"))?;
            let rows = if kept.held.is_empty() { &kept.train } else { &kept.held };
            let data = set.data.gather(rows);
            let features = kept.model.task() == Task::Features;
            let query = Query {
                predictions: !features,
                decision: true,
                probabilities: kept.model.machine.has_probabilities(),
                ..Query::NOTHING
            };
            let found = kept.model.predict_data(&data, &query, lab.exec)?;
            let text = Predictions::new(&kept.model, &found).spreadsheet_safe().lines(',', true);
            Ok(file("text/csv; charset=utf-8", &format!("{stem}-predictions.csv"), text))
        }
        _ => Err(Refusal::missing(format!("no file `{what}`"))),
    }
}
