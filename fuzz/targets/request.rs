//! Requests of the service: any bytes behind any header length are a request or a refusal with words; and any body is rows of
//! a model or a refusal, in every form.
#![no_main]

use std::path::Path;
use std::sync::{Arc, LazyLock};

use mercer::Exec;
use mercer_serve::Place;
use mercer_serve::models::{Registry, Served};
use mercer_serve::plain::{Form, rows};
use mercer_serve::shell::Limits;

/// Models of numbers, of a table and of sequences.
static MODELS: LazyLock<Vec<Arc<Served>>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/mercer-cli/tests/golden/v2");
    let registry = Registry::open(vec![Place::new(&folder)], Exec::one()).expect("golden models");
    let names: Vec<String> = registry.entries().keys().cloned().collect();
    names.iter().map(|name| registry.find(name, None).expect("a model").0).collect()
});

const FORMS: [Form; 6] = [Form::Json, Form::JsonLines, Form::Csv, Form::Tsv, Form::Npy, Form::Other];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((length, body)) = bytes.split_at_checked(2) else { return };
    let choice = usize::from(u16::from_le_bytes([length[0], length[1]]));
    for header in [None, Some(choice)] {
        match mercer_serve::v2::parse(body, header, 16) {
            Ok(request) => assert!(request.inputs.iter().all(|input| input.data.is_some())),
            Err(refusal) => assert!(refusal.status.is_client_error() && !refusal.message.is_empty()),
        }
    }
    let _ = Form::of_type(None, body);
    let (form, served) = (FORMS[choice % FORMS.len()], &MODELS[choice / FORMS.len() % MODELS.len()]);
    match rows(served, form, body, &Limits { rows: 1000, ..Limits::default() }, Exec::one()) {
        Ok(rows) => assert!(!rows.is_empty() && rows.len() <= 1000),
        Err(refusal) => assert!(refusal.status.is_client_error() && !refusal.message.is_empty()),
    }
});
