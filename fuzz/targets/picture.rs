//! PNG, PGM and PPM pictures.
#![no_main]

use mercer::data::io::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mercer_fuzz::read(&[Some(Format::Png), Some(Format::Pnm)], bytes));
