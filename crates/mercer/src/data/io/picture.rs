//! Pictures: PNG, the plain formats PGM and PPM, and what `photo` decodes. A file is one row of pixels, a folder of
//! files one row each.
//!
//! Values are from 0 to 255 for any bit depth; 16-bit values become fractions. Grey pictures have one value per pixel
//! and colour pictures three; palettes are looked up, and transparent pixels are refused. [`ReadOptions::resize`] and
//! [`ReadOptions::grey`] bring pictures of different sizes and colours to one shape. In a folder, files are read in
//! the order of their names; where it has folders of pictures instead, each is a class. What a header declares is
//! held against the bytes that are there: deflate packs a thousand to one at best.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use png::{BitDepth, ColorType, Decoder, Encoder, Limits, Transformations};

use super::foreign::decoded;
use super::labels::TargetKind;
use super::limits::Budget;
use super::source::{Input, fault};
use super::{Format, ReadOptions};
use crate::data::image::resized;
use crate::data::{Dataset, ImageShape, Labels, Points, Targets};
use crate::error::{Error, Result};
use crate::watch::Note;

/// Bytes or pixels that one byte of a file can unpack to, at most: deflate packs a thousand to one.
pub(super) const MOST_PACKED: u128 = 1100;

/// Whether the bytes begin a PNG file.
pub(super) fn is_png(head: &[u8]) -> bool {
    head.starts_with(b"\x89PNG\r\n\x1a\n")
}

/// Whether the bytes begin a PGM or PPM file: `P2`, `P3`, `P5` or `P6`, then a size or a remark.
pub(super) fn is_pnm(head: &[u8]) -> bool {
    let [b'P', b'2' | b'3' | b'5' | b'6', after, rest @ ..] = head else { return false };
    let next = rest.iter().find(|b| !b.is_ascii_whitespace());
    after.is_ascii_whitespace() && next.is_some_and(|b| b.is_ascii_digit() || *b == b'#')
}

/// The format of the bytes of a picture that `photo` decodes.
pub(super) fn photo_format(head: &[u8]) -> Option<Format> {
    match head {
        [0xff, 0xd8, 0xff, ..] => Some(Format::Jpeg),
        // The letters alone may begin a text: four bytes are reserved, and zero.
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Some(Format::Bmp),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Format::Gif),
        [b'I', b'I', 42, 0, ..] | [b'M', b'M', 0, 42, ..] => Some(Format::Tiff),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Format::Webp),
        _ => None,
    }
}

/// A picture in memory.
#[derive(Debug)]
pub(super) struct Picture {
    pixels: Vec<f32>,
    shape: ImageShape,
}

impl Picture {
    /// A picture of one to four samples a pixel; of two and four, the last is how opaque it is. Values are not changed by
    /// it, so that anything but opaque is refused.
    pub(super) fn of_samples(
        values: Vec<f32>,
        samples: usize,
        shape: ImageShape,
        name: &str,
    ) -> Result<Self> {
        let (channels, alpha) = match samples {
            2 => (1, true),
            4 => (3, true),
            other => (other, false),
        };
        let shape = ImageShape { channels, ..shape };
        if !alpha {
            return Ok(Picture { pixels: values, shape });
        }
        if values.chunks_exact(samples).any(|pixel| pixel[channels] < 255.0) {
            let expected = "an opaque picture: put it on a background of one colour first";
            return Err(fault(name, Some("transparent pixels"), expected));
        }
        let pixels = values.chunks_exact(samples).flat_map(|pixel| &pixel[..channels]).copied().collect();
        Ok(Picture { pixels, shape })
    }

    /// The picture in the size and colour asked for.
    fn shaped(mut self, name: &str, budget: Budget, options: &ReadOptions) -> Result<Self> {
        let model = options.model_image.filter(|_| options.resize.is_none());
        if (options.grey || model.is_some_and(|shape| shape.channels == 1)) && self.shape.channels == 3 {
            // How bright the eye takes red, green and blue to be: ITU-R BT.601.
            let grey = |p: &[f32]| 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
            self.pixels = self.pixels.chunks_exact(3).map(grey).collect();
            self.shape.channels = 1;
        }
        if model.is_some_and(|shape| shape.channels == 3) && self.shape.channels == 1 {
            budget.check_table(name, self.shape.height, self.shape.width.saturating_mul(3), 4)?;
            self.pixels = self.pixels.iter().flat_map(|&v| [v; 3]).collect();
            self.shape.channels = 3;
        }
        let size = options.resize.or_else(|| model.map(|shape| (shape.height, shape.width)));
        if let Some((height, width)) = size.filter(|&s| s != (self.shape.height, self.shape.width)) {
            if height == 0 || width == 0 {
                return Err(Error::param("image", format!("{height}x{width}"), "at least 1x1"));
            }
            budget.check_table(name, height, width.saturating_mul(self.shape.channels), 4)?;
            self.pixels = resized(&self.pixels, self.shape, height, width);
            (self.shape.height, self.shape.width) = (height, width);
        }
        Ok(self)
    }
}

pub(super) fn read_png(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    let bytes = input.whole(EACH)?;
    single(png(&bytes, &input.name, input.budget)?, input, options)
}

/// Reads a picture of any format that `photo` decodes.
pub(super) fn read_photo(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    let bytes = input.whole(EACH)?;
    single(photo(&bytes, &input.name, input.budget)?, input, options)
}

#[cfg(feature = "pictures")]
use super::photo::decode as photo;

#[cfg(not(feature = "pictures"))]
fn photo(_: &[u8], name: &str, _: Budget) -> Result<Picture> {
    Err(super::source::absent(name, "JPEG, BMP, GIF, TIFF and WebP pictures", "pictures"))
}

pub(super) fn read_pnm(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    let bytes = input.whole(EACH)?;
    single(pnm(&bytes, &input.name, input.budget)?, input, options)
}

fn single(picture: Picture, input: &Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    let Picture { pixels, shape } = picture.shaped(&input.name, input.budget, options)?;
    let mut data = Dataset::new(Points::dense_f32(pixels, shape.len())?.with_image(shape)?, Targets::None)?;
    if options.labels.is_none() {
        data.row_names = Some(vec![stem(&input.name)]);
    }
    Ok(data)
}

/// Bytes in memory per byte of a picture at least: a grey value becomes a number of four bytes.
const EACH: u64 = 4;

fn stem(name: &str) -> String {
    Path::new(name).file_stem().map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

fn png(bytes: &[u8], name: &str, budget: Budget) -> Result<Picture> {
    decoded(name, "PNG", || png_decoded(bytes, name, budget))?
}

fn png_decoded(bytes: &[u8], name: &str, budget: Budget) -> Result<Picture> {
    let bad = |e: png::DecodingError| fault(name, Some(&format!("a damaged PNG file ({e})")), "a whole one");
    let limits = Limits { bytes: usize::try_from(budget.bytes()).unwrap_or(usize::MAX) };
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(Transformations::EXPAND);
    let info = decoder.read_header_info().map_err(bad)?;
    let (width, height) = (info.width as usize, info.height as usize);
    let raw = info.raw_row_length_from_width(info.width) as u128 * height as u128;
    if raw > MOST_PACKED * bytes.len() as u128 {
        let got = format!("a header that declares {width} x {height} pixels in {} bytes", bytes.len());
        return Err(fault(name, Some(&got), "a picture that its bytes can hold"));
    }
    budget.check_table(name, height, width.saturating_mul(4), 4)?;
    let mut reader = decoder.read_info().map_err(bad)?;
    let size = reader.output_buffer_size();
    let mut out = vec![0; size.ok_or_else(|| fault(name, Some("a picture too large"), "one that fits"))?];
    let frame = reader.next_frame(&mut out).map_err(bad)?;
    let samples = frame.color_type.samples();
    let values: Vec<f32> = if frame.bit_depth == BitDepth::Sixteen {
        out.as_chunks::<2>().0.iter().map(|pair| f32::from(u16::from_be_bytes(*pair)) / 257.0).collect()
    } else {
        out.iter().map(|&v| f32::from(v)).collect()
    };
    Picture::of_samples(values, samples, ImageShape { height, width, channels: samples }, name)
}

/// The header's words and where the pixels begin, then pixels as text (P2, P3) or bytes (P5, P6).
fn pnm(bytes: &[u8], name: &str, budget: Budget) -> Result<Picture> {
    let mut at = 2;
    let mut number = |what: &str, most: usize| -> Result<usize> {
        let word = word(bytes, &mut at);
        let number = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
        number.filter(|n| (1..=most).contains(n)).ok_or_else(|| {
            fault(name, Some(&format!("{what} {:?}", String::from_utf8_lossy(word))), format!("1 to {most}"))
        })
    };
    if !is_pnm(bytes) {
        return Err(fault(name, Some("other bytes"), "a PGM or PPM file: P2, P3, P5 or P6 and a size"));
    }
    let (width, height) = (number("width", 1 << 24)?, number("height", 1 << 24)?);
    let white = number("white level", 65535)?;
    let channels = if matches!(bytes[1], b'3' | b'6') { 3 } else { 1 };
    let shape = ImageShape { height, width, channels };
    let count = height as u128 * width as u128 * channels as u128;
    // A value takes at least a byte, and in text a blank with it.
    if count > bytes.len() as u128 {
        let got = format!("{width} x {height} pixels in {} bytes", bytes.len());
        return Err(fault(name, Some(&got), "as many values as the header declares"));
    }
    budget.check_table(name, height, width * channels, 4)?;
    let count = count as usize;
    let scale = 255.0 / white as f32;
    let too_few = || fault(name, Some("the end of the file"), format!("{count} values of at most {white}"));
    let values: Vec<u16> = if matches!(bytes[1], b'2' | b'3') {
        let next = |_| std::str::from_utf8(word(bytes, &mut at)).ok().and_then(|w| w.parse().ok());
        (0..count).map(next).collect::<Option<_>>().ok_or_else(too_few)?
    } else {
        // One blank ends the header.
        let data = bytes.get(at + 1..).unwrap_or_default();
        if white < 256 {
            data.get(..count).ok_or_else(too_few)?.iter().map(|&v| u16::from(v)).collect()
        } else {
            let pairs = data.as_chunks::<2>().0.get(..count).ok_or_else(too_few)?;
            pairs.iter().map(|&pair| u16::from_be_bytes(pair)).collect()
        }
    };
    if values.iter().any(|&v| usize::from(v) > white) {
        return Err(too_few());
    }
    Ok(Picture { pixels: values.into_iter().map(|v| f32::from(v) * scale).collect(), shape })
}

/// The next word of a header; `#` begins a remark that ends with its line.
fn word<'b>(bytes: &'b [u8], at: &mut usize) -> &'b [u8] {
    loop {
        match bytes.get(*at) {
            Some(b'#') => *at += bytes[*at..].iter().position(|&b| b == b'\n').unwrap_or(bytes.len() - *at),
            Some(b) if b.is_ascii_whitespace() => *at += 1,
            _ => break,
        }
    }
    let start = *at;
    *at += bytes[start..]
        .iter()
        .position(|b| b.is_ascii_whitespace() || *b == b'#')
        .unwrap_or(bytes.len() - start);
    &bytes[start..*at]
}

/// The one picture that a data set of one row is, its values from 0 to 255.
fn only(data: &Dataset, name: &str) -> Result<(Vec<u8>, ImageShape)> {
    let Some(shape) = data.points.image().filter(|shape| matches!(shape.channels, 1 | 3)) else {
        return Err(Error::Unsupported(format!("{name}: rows have no image shape")));
    };
    if data.len() != 1 {
        return Err(fault(name, Some(&format!("{} rows", data.len())), "one image: a file holds no more"));
    }
    // `as` keeps values within 0 and 255.
    let bytes = data.points.view().to_f64()?.iter().map(|v| v.round() as u8).collect();
    Ok((bytes, shape))
}

pub(super) fn write_png(out: &mut dyn Write, data: &Dataset, name: &str, _memory: u64) -> Result<()> {
    let (bytes, shape) = only(data, name)?;
    let kind = if shape.channels == 3 { ColorType::Rgb } else { ColorType::Grayscale };
    out.write_all(&png_bytes(&bytes, shape, kind)).map_err(|e| Error::io(name, e))
}

pub(super) fn write_pnm(out: &mut dyn Write, data: &Dataset, name: &str, _memory: u64) -> Result<()> {
    let (bytes, shape) = only(data, name)?;
    let kind = if shape.channels == 3 { 6 } else { 5 };
    write!(out, "P{kind}\n{} {}\n255\n", shape.width, shape.height)
        .and_then(|()| out.write_all(&bytes))
        .map_err(|e| Error::io(name, e))
}

/// A PNG file of 8-bit samples.
fn png_bytes(samples: &[u8], shape: ImageShape, kind: ColorType) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, shape.width as u32, shape.height as u32);
    encoder.set_color(kind);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header().expect("memory takes every byte, and images have pixels");
    writer.write_image_data(samples).expect("as many samples as the header says");
    writer.finish().expect("memory takes every byte");
    out
}

/// Whether a path is one of pictures: a folder, or a file with a picture's extension.
pub fn is_picture(path: &Path) -> bool {
    path.is_dir() || Format::of_path(path).is_some_and(Format::is_picture)
}

/// All pictures of a folder, one per row; their names are the rows' names, behind those of the folders they are in.
pub(super) fn read_folder(folder: &Path, options: &ReadOptions) -> Result<Dataset> {
    let (files, folders) = listed(folder)?;
    let name = folder.display().to_string();
    let mut all = Vec::new();
    for file in &files {
        all.push((file.clone(), None));
    }
    let mut unread = Vec::new();
    if files.is_empty() {
        for class in folders {
            let label = class.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (own, deeper) = listed(&class)?;
            all.extend(own.into_iter().map(|file| (file, Some(label.clone()))));
            unread.extend(deeper);
        }
    } else {
        unread = folders;
    }
    if all.is_empty() {
        let expected =
            "pictures that end in .png, .jpg, .pgm, .ppm, .bmp, .gif, .tif or .webp, or folders of them";
        return Err(fault(&name, Some("a folder without pictures"), expected));
    }
    let len = |(file, _): &(PathBuf, _)| std::fs::metadata(file).map_or(0, |about| about.len());
    let budget = Budget::of(options).with_source(Some(all.iter().map(len).sum()));
    let (mut pixels, mut first): (Vec<f32>, Option<(ImageShape, &Path)>) = (Vec::new(), None);
    for (file, _) in &all {
        let Picture { pixels: own, shape } = read_one(file, budget, options)?;
        let (wanted, from) = *first.get_or_insert((shape, file));
        if shape != wanted {
            let words = |s: ImageShape| format!("{} x {} pixels of {} values", s.height, s.width, s.channels);
            let hint = if (shape.height, shape.width) == (wanted.height, wanted.width) {
                "pass --grey to make all pictures grey"
            } else {
                "pass --image HxW to resize all pictures"
            };
            let expected = format!("{}, as {} has; {hint}", words(wanted), from.display());
            return Err(fault(&file.display().to_string(), Some(&words(shape)), expected));
        }
        pixels.extend(own);
        budget.check(&name, None, pixels.len(), 4)?;
    }
    let (shape, _) = first.expect("there is at least one picture");
    let labels = (options.targets != TargetKind::None && files.is_empty())
        .then(|| Targets::Classes(Labels::new(all.iter().map(|(_, class)| class.as_deref().unwrap_or("")))));
    let points = Points::dense_f32(pixels, shape.len())?.with_image(shape)?;
    let mut data = Dataset::new(points, labels.unwrap_or(Targets::None))?;
    let named = |(file, class): &(PathBuf, Option<String>)| {
        let own = stem(&file.to_string_lossy());
        class.as_ref().map_or(own.clone(), |class| format!("{class}/{own}"))
    };
    data.row_names = Some(all.iter().map(named).collect());
    data.note(format!("read as a folder of {} pictures", all.len()));
    let left: usize = unread.iter().map(|folder| pictures_below(folder, DEPTH)).sum();
    if left > 0 {
        let (pictures, are) = if left == 1 { ("picture", "is") } else { ("pictures", "are") };
        data.note(Note::warning(format!(
            "{name}: {left} {pictures} in deeper folders {are} not read: the pictures of a class lie in one folder"
        )));
    }
    Ok(data)
}

/// Folders within folders that are looked into for pictures that are not read.
const DEPTH: usize = 8;

/// The number of pictures in a folder and in those below it. What cannot be looked into has none.
fn pictures_below(folder: &Path, depth: usize) -> usize {
    let Ok((files, folders)) = listed(folder) else { return 0 };
    // A link may lead back to where it is.
    let deeper = folders.iter().filter(|folder| depth > 0 && !folder.is_symlink());
    files.len() + deeper.map(|folder| pictures_below(folder, depth - 1)).sum::<usize>()
}

fn read_one(file: &Path, budget: Budget, options: &ReadOptions) -> Result<Picture> {
    let mut input = Input::open(file, budget)?;
    let bytes = input.whole(EACH)?;
    let picture = if is_png(&bytes) {
        png(&bytes, &input.name, budget)
    } else if photo_format(&bytes).is_some() {
        photo(&bytes, &input.name, budget)
    } else {
        pnm(&bytes, &input.name, budget)
    };
    picture?.shaped(&input.name, budget, options)
}

/// Pictures and folders in a folder, by name.
fn listed(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(|e| Error::io(folder, e))?.path());
    }
    paths.sort();
    let folders = paths.iter().filter(|path| path.is_dir()).cloned().collect();
    paths.retain(|path| !path.is_dir() && is_picture(path));
    Ok((paths, folders))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::NoteKind;

    fn budget() -> Budget {
        Budget::new(Some(1 << 20), None)
    }

    /// A PNG file of some samples.
    fn made(
        kind: ColorType,
        depth: BitDepth,
        width: u32,
        height: u32,
        samples: &[u8],
        palette: &[u8],
    ) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = Encoder::new(&mut out, width, height);
        encoder.set_color(kind);
        encoder.set_depth(depth);
        if !palette.is_empty() {
            encoder.set_palette(palette.to_vec());
        }
        let mut writer = encoder.write_header().expect("a header");
        writer.write_image_data(samples).expect("samples");
        writer.finish().expect("an end");
        out
    }

    #[test]
    fn every_kind_of_png_has_values_from_0_to_255() {
        let of = |bytes: &[u8]| png(bytes, "p", budget()).expect("a picture");
        let eight = BitDepth::Eight;
        let grey = of(&made(ColorType::Grayscale, eight, 2, 1, &[7, 255], &[]));
        assert_eq!((grey.pixels, grey.shape), (vec![7.0, 255.0], ImageShape::grey(1, 2)));
        let alpha = of(&made(ColorType::GrayscaleAlpha, eight, 2, 1, &[7, 255, 9, 255], &[]));
        assert_eq!((alpha.pixels, alpha.shape.channels), (vec![7.0, 9.0], 1));
        let rgba = of(&made(ColorType::Rgba, eight, 1, 1, &[1, 2, 3, 255], &[]));
        assert_eq!((rgba.pixels, rgba.shape.channels), (vec![1.0, 2.0, 3.0], 3));
        let clear = png(&made(ColorType::Rgba, eight, 1, 1, &[1, 2, 3, 4], &[]), "p", budget());
        assert!(clear.expect_err("not opaque").to_string().contains("transparent pixels"));
        let deep = of(&made(ColorType::Grayscale, BitDepth::Sixteen, 2, 1, &[255, 255, 1, 1], &[]));
        assert_eq!(deep.pixels, [255.0, 1.0]);
        // Eight pixels of one bit, and a palette of two colours.
        let bits = of(&made(ColorType::Grayscale, BitDepth::One, 8, 1, &[0b1010_0000], &[]));
        assert_eq!(bits.pixels, [255.0, 0.0, 255.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let palette = of(&made(ColorType::Indexed, eight, 2, 1, &[1, 0], &[1, 2, 3, 4, 5, 6]));
        assert_eq!((palette.pixels, palette.shape.channels), (vec![4.0, 5.0, 6.0, 1.0, 2.0, 3.0], 3));
    }

    #[test]
    fn plain_pictures_are_read_as_text_and_bytes() {
        let of =
            |bytes: &[u8]| pnm(bytes, "p", budget()).map(|p| (p.pixels, p.shape.height, p.shape.channels));
        assert_eq!(of(b"P2 # a remark\n2 1\n15\n0 15\n").expect("text"), (vec![0.0, 255.0], 1, 1));
        assert_eq!(of(b"P5\n1 2\n255\n\x07\xff").expect("bytes"), (vec![7.0, 255.0], 2, 1));
        assert_eq!(of(b"P6 1 1 255\n\x01\x02\x03").expect("colours"), (vec![1.0, 2.0, 3.0], 1, 3));
        assert_eq!(of(b"P5 1 1 65535\n\xff\xff").expect("two bytes per value"), (vec![255.0], 1, 1));
        for bad in [
            &b"P5\n1 2\n255\n\x07"[..],
            b"P2 2 1 15 0 16",
            b"P2 0 1 15",
            b"P5 9999 9999 255\n",
            b"P2 1",
            b"P9 1 1 1 1",
        ] {
            assert!(of(bad).is_err(), "{:?}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn pictures_that_are_not_read_are_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let put = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
            std::fs::write(path, made(ColorType::Grayscale, BitDepth::Eight, 1, 1, &[7], &[]))
                .expect("written");
        };
        let warnings = || -> Vec<String> {
            let data = read_folder(folder.path(), &ReadOptions::default()).expect("pictures");
            let warned = data.notes.iter().filter(|note| note.kind == NoteKind::Warning);
            warned.map(|note| note.text.clone()).collect()
        };
        ["a/1.png", "b/1.png", "b/2.png"].into_iter().for_each(put);
        assert!(warnings().is_empty());
        ["a/deep/1.png", "b/deep/deeper/1.png", "b/deep/2.png"].into_iter().for_each(put);
        std::fs::write(folder.path().join("a/deep/notes.txt"), "no picture").expect("written");
        assert!(warnings()[0].contains(": 3 pictures in deeper folders are not read"), "{:?}", warnings());
        // Pictures beside folders: the folders are not classes.
        put("1.png");
        assert!(warnings()[0].contains(": 6 pictures in deeper folders are not read"), "{:?}", warnings());
    }

    #[test]
    fn a_header_gets_no_more_than_its_bytes_justify() {
        let mut bytes = made(ColorType::Grayscale, BitDepth::Eight, 1, 1, &[7], &[]);
        bytes[16..24].copy_from_slice(&[0, 0, 0x7f, 0xff, 0, 0, 0x7f, 0xff]);
        let mut sum = flate2::Crc::new();
        sum.update(&bytes[12..29]);
        bytes[29..33].copy_from_slice(&sum.sum().to_be_bytes());
        let error = png(&bytes, "p.png", Budget::new(None, None)).expect_err("a lie").to_string();
        assert!(error.starts_with("p.png: got a header that declares 32767 x 32767 pixels in"), "{error}");
    }
}
