//! Whatever the content says: formats, and gz, xz and zst.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mercer_fuzz::read(&[None], bytes));
