//! Pictures.
#![no_main]

use mercer::data::io::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    use Format::{Bmp, Gif, Jpeg, Png, Pnm, Tiff, Webp};
    mercer_fuzz::read(&[Png, Pnm, Jpeg, Bmp, Gif, Tiff, Webp].map(Some), bytes);
});
