//! Pictures decoded by the crate `image`: JPEG, BMP, GIF (its first frame), TIFF and WebP.
//!
//! They are rotated by their metadata. Declared sizes are checked against the bytes present, and a JPEG file must be
//! complete, because its decoder fills missing parts with grey.

use std::io::Cursor;

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use super::foreign::decoded;
use super::limits::Budget;
use super::picture::{MOST_PACKED, Picture};
use super::source::fault;
use crate::data::ImageShape;
use crate::error::Result;

/// Decodes a picture; `None` as the format stands for whichever it is.
pub(super) fn decode(bytes: &[u8], name: &str, budget: Budget) -> Result<Picture> {
    let known = [ImageFormat::Jpeg, ImageFormat::Bmp, ImageFormat::Gif, ImageFormat::Tiff, ImageFormat::WebP];
    let format = image::guess_format(bytes).ok().filter(|format| known.contains(format));
    let Some(format) = format else {
        return Err(fault(
            name,
            Some("other bytes"),
            "a picture: PNG, PGM, PPM, JPEG, BMP, GIF, TIFF or WebP",
        ));
    };
    if format == ImageFormat::Jpeg && !has_end(bytes) {
        return Err(fault(name, Some("a JPEG file that is cut off"), "a whole picture"));
    }
    decoded(name, &format!("{format:?}"), || photo(bytes, format, name, budget))?
}

fn photo(bytes: &[u8], format: ImageFormat, name: &str, budget: Budget) -> Result<Picture> {
    let bad = |e: image::ImageError| {
        fault(name, Some(&format!("a {format:?} file that cannot be read ({e})")), "a whole picture")
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(budget.bytes());
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(bad)?;
    let (width, height) = decoder.dimensions();
    if u128::from(width) * u128::from(height) > MOST_PACKED * bytes.len() as u128 {
        let got = format!("a header that declares {width} x {height} pixels in {} bytes", bytes.len());
        return Err(fault(name, Some(&got), "a picture that its bytes can hold"));
    }
    budget.check_table(name, height as usize, (width as usize).saturating_mul(4), 4)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder).map_err(bad)?;
    picture.apply_orientation(orientation);
    let (height, width) = (picture.height() as usize, picture.width() as usize);
    let eight = |values: Vec<u8>| values.into_iter().map(f32::from).collect::<Vec<_>>();
    let sixteen = |values: Vec<u16>| values.into_iter().map(|v| f32::from(v) / 257.0).collect();
    let (values, samples): (Vec<f32>, usize) = match picture {
        DynamicImage::ImageLuma8(p) => (eight(p.into_raw()), 1),
        DynamicImage::ImageLumaA8(p) => (eight(p.into_raw()), 2),
        DynamicImage::ImageRgb8(p) => (eight(p.into_raw()), 3),
        DynamicImage::ImageRgba8(p) => (eight(p.into_raw()), 4),
        DynamicImage::ImageLuma16(p) => (sixteen(p.into_raw()), 1),
        DynamicImage::ImageLumaA16(p) => (sixteen(p.into_raw()), 2),
        DynamicImage::ImageRgb16(p) => (sixteen(p.into_raw()), 3),
        DynamicImage::ImageRgba16(p) => (sixteen(p.into_raw()), 4),
        _ => return Err(fault(name, Some("pixels of real numbers"), "values of 8 or 16 bits")),
    };
    Picture::of_samples(values, samples, ImageShape { height, width, channels: samples }, name)
}

/// Whether a JPEG file has its end: segments are walked by their lengths, so that a thumbnail inside one does not count.
fn has_end(bytes: &[u8]) -> bool {
    let mut at = 2;
    loop {
        // Markers are 0xff and a code; 0xff may be repeated, and inside a scan 0xff 0 is a value.
        let Some(found) = bytes.get(at..).and_then(|rest| rest.iter().position(|&b| b == 0xff)) else {
            return false;
        };
        at += found + 1;
        match bytes.get(at) {
            None => return false,
            Some(0xd9) => return true,
            Some(0 | 0x01 | 0xd0..=0xd8) => at += 1,
            Some(0xff) => {}
            Some(_) => {
                let Some(&[high, low]) = bytes.get(at + 1..at + 3) else { return false };
                at += 1 + usize::from(u16::from_be_bytes([high, low])).max(2);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Format, ReadOptions, read, read_bytes};
    use super::*;

    /// A picture of a ramp, as a file.
    fn file(format: ImageFormat, picture: &DynamicImage) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        picture.write_to(&mut out, format).expect("encoded");
        out.into_inner()
    }

    fn ramp() -> DynamicImage {
        DynamicImage::ImageRgb8(image::RgbImage::from_fn(16, 8, |x, y| {
            image::Rgb([x as u8 * 16, y as u8 * 32, 90])
        }))
    }

    fn formats() -> [(ImageFormat, Format); 5] {
        [
            (ImageFormat::Jpeg, Format::Jpeg),
            (ImageFormat::Bmp, Format::Bmp),
            (ImageFormat::Gif, Format::Gif),
            (ImageFormat::Tiff, Format::Tiff),
            (ImageFormat::WebP, Format::Webp),
        ]
    }

    #[test]
    fn every_format_is_told_by_its_bytes_and_gives_the_picture() {
        for (kind, format) in formats() {
            let data = read_bytes("p", &file(kind, &ramp()), &ReadOptions::default()).expect("a picture");
            assert_eq!(data.format, Some(format));
            assert_eq!(
                data.points.image(),
                Some(ImageShape { height: 8, width: 16, channels: 3 }),
                "{format}"
            );
            let pixels = data.points.view().to_f64().expect("numbers");
            // JPEG and the palette of GIF change values a little.
            let near = if matches!(kind, ImageFormat::Jpeg | ImageFormat::Gif) { 24.0 } else { 0.0 };
            for (at, got) in pixels.iter().enumerate() {
                let want = f64::from(ramp().as_bytes()[at]);
                assert!((got - want).abs() <= near, "{format}, value {at}: {got} and not {want}");
            }
        }
    }

    #[test]
    fn sixteen_bits_are_kept_and_transparency_is_refused() {
        let deep =
            DynamicImage::ImageLuma16(image::ImageBuffer::from_raw(2, 1, vec![65_535, 129]).expect("two"));
        let data =
            read_bytes("p", &file(ImageFormat::Tiff, &deep), &ReadOptions::default()).expect("16 bits");
        let pixels = data.points.view().to_f64().expect("numbers");
        assert!((pixels[0] - 255.0).abs() <= 1e-4 && (pixels[1] - 129.0 / 257.0).abs() <= 1e-4, "{pixels:?}");
        for (alpha, fine) in [(255, true), (254, false)] {
            let picture = image::RgbaImage::from_pixel(2, 2, image::Rgba([1, 2, 3, alpha]));
            let bytes = file(ImageFormat::WebP, &DynamicImage::ImageRgba8(picture));
            match read_bytes("p.webp", &bytes, &ReadOptions::default()) {
                Ok(data) => assert!(fine && data.dim() == 12),
                Err(e) => assert!(!fine && e.to_string().contains("transparent pixels"), "{e}"),
            }
        }
    }

    #[test]
    fn cut_and_damaged_files_are_refused() {
        for (kind, format) in formats() {
            let bytes = file(kind, &ramp());
            for end in [bytes.len() / 3, bytes.len() / 2, bytes.len() * 9 / 10] {
                assert!(
                    read_bytes("p", &bytes[..end], &ReadOptions::default()).is_err(),
                    "{format} cut at {end}"
                );
            }
            let mut broken = bytes.clone();
            broken[2..20].fill(0xaa);
            let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
            assert!(read_bytes("p", &broken, &options).is_err(), "{format} with a broken header");
        }
    }

    #[test]
    fn folders_of_mixed_pictures_need_one_size_and_colour() {
        let folder = tempfile::tempdir().expect("a folder");
        for (kind, format) in formats() {
            let picture =
                ramp().resize_exact(10 + 2 * format as u32, 9, image::imageops::FilterType::Triangle);
            let name = format!("{format}.{}", format.info().extensions[0]);
            std::fs::write(folder.path().join(name), file(kind, &picture)).expect("written");
        }
        let grey = DynamicImage::ImageLuma8(image::GrayImage::from_pixel(5, 5, image::Luma([200])));
        std::fs::write(folder.path().join("z.jpg"), file(ImageFormat::Jpeg, &grey)).expect("written");
        let refused = read(folder.path(), &ReadOptions::default()).expect_err("sizes").to_string();
        assert!(refused.contains("--image HxW"), "{refused}");
        let resized = ReadOptions { resize: Some((6, 4)), ..ReadOptions::default() };
        let refused = read(folder.path(), &resized).expect_err("colours").to_string();
        assert!(refused.contains("--grey"), "{refused}");
        let data = read(folder.path(), &ReadOptions { grey: true, ..resized }).expect("one shape");
        assert_eq!((data.len(), data.points.image()), (6, Some(ImageShape::grey(6, 4))));
        let last = data.points.view().row(5).to_f64();
        assert!(last.iter().all(|v| (v - 200.0).abs() <= 2.0), "{last:?}");
    }
}
