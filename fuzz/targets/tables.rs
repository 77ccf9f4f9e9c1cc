//! Tables in formats of other programs: JSON lines and Excel workbooks.
#![no_main]

use mercer::data::io::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mercer_fuzz::read(&[Some(Format::JsonLines), Some(Format::Xlsx)], bytes));
