//! Predictions in the form of the rows: the same columns that `mercer predict` writes.

use bytes::Bytes;
use mercer::data::io::{Format, write_to};
use mercer::data::{Dataset, Labels, Points, Targets};
use mercer::model::{Prediction, Probabilities};
use mercer_report::Predictions;

use super::Form;
use crate::batch::Answer;
use crate::error::Refusal;
use crate::models::Served;
use crate::outputs::Output;

/// Predictions as bytes, with their content type.
pub(super) fn answer(
    served: &Served,
    answer: &Answer,
    outputs: &[Output],
    form: Form,
) -> Result<(&'static str, Bytes), Refusal> {
    let found = own(answer, outputs);
    let mut table = Predictions::new(&served.model, &found);
    for output in outputs {
        let names: Vec<String> = match output {
            Output::Score => served.classes.iter().map(|class| format!("score of {class}")).collect(),
            Output::Distance => served.classes.iter().map(|class| format!("distance to {class}")).collect(),
            Output::Denoised => column_names(served, *output),
            Output::Features => {
                // The library calls all outputs decision values.
                table.columns = column_names(served, *output);
                continue;
            }
            Output::Rejected => {
                push(&mut table, vec!["rejected".into()], &flags(answer));
                continue;
            }
            Output::Label | Output::Decision | Output::Probability => continue,
        };
        push(&mut table, names, answer.computed.values(*output, &answer.rows));
    }
    let bytes = if form == Form::Npy { npy(&table, &found)? } else { text(&table, &found, form)? };
    Ok((form.kind(), Bytes::from(bytes)))
}

fn flags(answer: &Answer) -> Vec<f64> {
    let rejected = answer.computed.prediction.rejected.get(answer.rows.clone()).unwrap_or_default();
    rejected.iter().map(|rejected| f64::from(u8::from(*rejected))).collect()
}

fn column_names(served: &Served, output: Output) -> Vec<String> {
    let width = output.width(&served.model);
    let names = &served.model.names.columns;
    match output {
        Output::Denoised if names.len() == width => names.clone(),
        Output::Denoised => (1..=width).map(|j| format!("x{j}")).collect(),
        _ => (1..=width).map(|j| format!("component {j}")).collect(),
    }
}

/// More columns, rows x names.
fn push(table: &mut Predictions, names: Vec<String>, values: &[f64]) {
    let width = names.len().max(1);
    table.columns.extend(names);
    let lines = values.chunks(width).map(<[f64]>::to_vec);
    if table.values.is_empty() {
        table.values = lines.collect();
    } else {
        table.values.iter_mut().zip(lines).for_each(|(row, line)| row.extend(line));
    }
}

/// What was computed for this request alone.
fn own(answer: &Answer, outputs: &[Output]) -> Prediction {
    let (found, rows) = (&answer.computed.prediction, &answer.rows);
    let values =
        |output: Output| outputs.contains(&output).then(|| answer.computed.values(output, rows).to_vec());
    Prediction {
        rows: rows.len(),
        targets: match &found.targets {
            _ if !outputs.contains(&Output::Label) => Targets::None,
            Targets::Classes(labels) => Targets::Classes(Labels {
                names: labels.names.clone(),
                of_row: labels.of_row[rows.clone()].to_vec(),
            }),
            Targets::Reals(y) => Targets::Reals(y[rows.clone()].to_vec()),
            Targets::None => Targets::None,
        },
        decision: values(Output::Decision).or_else(|| values(Output::Features)),
        scores: None,
        probabilities: values(Output::Probability)
            .map(|values| Probabilities { values, contradict: Vec::new() }),
        rejected: Vec::new(),
        reject: None,
    }
}

fn text(table: &Predictions, found: &Prediction, form: Form) -> Result<Vec<u8>, Refusal> {
    let labelled = !table.predictions.is_empty();
    let format = match form {
        Form::Json => return Ok(mercer_report::json(table).into_bytes()),
        Form::Csv | Form::Other if labelled => return Ok(table.lines(',', true).into_bytes()),
        Form::Tsv if labelled => return Ok(table.lines('\t', true).into_bytes()),
        Form::JsonLines => Format::JsonLines,
        Form::Tsv => Format::Tsv,
        _ => Format::Csv,
    };
    let data = if labelled { table.dataset()? } else { numbers(table, found.rows)? };
    let mut out = Vec::new();
    write_to(&mut out, "the response", &data, format)?;
    Ok(out)
}

/// Columns of numbers alone.
fn numbers(table: &Predictions, rows: usize) -> Result<Dataset, Refusal> {
    let width = table.columns.len();
    debug_assert_eq!(table.values.len(), rows, "a line per row");
    let points = Points::dense(table.values.concat(), width)?;
    Ok(Dataset { column_names: Some(table.columns.clone()), ..Dataset::new(points, Targets::None)? })
}

/// An array of NumPy: the further columns where there are any, else the predictions, as numbers or as text of fixed width.
fn npy(table: &Predictions, found: &Prediction) -> Result<Vec<u8>, Refusal> {
    let rows = found.rows;
    let numbers =
        |values: &mut dyn Iterator<Item = &f64>| values.flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let (descr, shape, body) = match &found.targets {
        _ if !table.columns.is_empty() => {
            let body = numbers(&mut table.values.iter().flatten());
            ("<f8".to_owned(), format!("({rows}, {})", table.columns.len()), body)
        }
        Targets::Classes(labels) => {
            let width = labels.names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(1);
            let mut body: Vec<u8> = Vec::with_capacity(4 * width * rows);
            for i in 0..labels.len() {
                let letters =
                    labels.name_of(i).chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
                body.extend(letters.flat_map(u32::to_le_bytes));
            }
            (format!("<U{width}"), format!("({rows},)"), body)
        }
        Targets::Reals(y) => ("<f8".to_owned(), format!("({rows},)"), numbers(&mut y.iter())),
        Targets::None => return Err(Refusal::bad("no output was requested of the model")),
    };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic, version, length and header together are a multiple of 64 bytes.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.bytes());
    out.extend(body);
    Ok(out)
}
