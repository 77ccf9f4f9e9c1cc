//! Small images as PNG inside a page.
//!
//! An 8 x 8 image takes some 150 bytes this way and 2 kB as SVG rectangles. The format is four chunks with checksums
//! around compressed rows; no more of it is needed here.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::data::ImageShape;

/// How values become colours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ink {
    /// From nothing at the first value to full ink at the second: dark on light paper, light on dark.
    Plain(f64, f64),
    /// From black at the first value to white at the second, as image viewers expect.
    Grey(f64, f64),
    /// Blue above 0, orange below, deeper the nearer to plus or minus this value.
    Signed(f64),
}

/// The address of an image as `<img src>` takes it. Channels are averaged.
pub(super) fn data_uri(pixels: &[f64], shape: ImageShape, ink: Ink) -> String {
    format!("data:image/png;base64,{}", base64(&png(pixels, shape, ink)))
}

/// Images side by side in one PNG file, `across` of them in a line, with a thin gap between.
pub fn sheet(images: &[Vec<f64>], shape: ImageShape, across: usize, ink: Ink) -> Vec<u8> {
    let ImageShape { height, width, channels } = shape;
    let across = across.clamp(1, images.len().max(1));
    let down = images.len().div_ceil(across).max(1);
    let whole = ImageShape::grey(down * (height + 1) - 1, across * (width + 1) - 1);
    let paper = match ink {
        Ink::Plain(low, _) | Ink::Grey(low, _) => low,
        Ink::Signed(_) => 0.0,
    };
    let mut pixels = vec![paper; whole.len()];
    for (at, image) in images.iter().enumerate() {
        let (top, left) = (at / across * (height + 1), at % across * (width + 1));
        for (p, value) in image.chunks(channels.max(1)).enumerate().take(height * width) {
            let mean = value.iter().sum::<f64>() / channels.max(1) as f64;
            pixels[(top + p / width) * whole.width + left + p % width] = mean;
        }
    }
    png(&pixels, whole, ink)
}

fn png(pixels: &[f64], shape: ImageShape, ink: Ink) -> Vec<u8> {
    let ImageShape { height, width, channels } = shape;
    let value =
        |at: usize| pixels[at * channels..(at + 1) * channels].iter().sum::<f64>() / channels.max(1) as f64;
    let byte = |share: f64| (255.0 * share.clamp(0.0, 1.0)).round() as u8;
    // Grey with alpha is colour type 4, colours with alpha 6. Ink is opacity, so that the paper shows through.
    let (kind, bytes) = match ink {
        Ink::Plain(..) => (4, 2),
        Ink::Grey(..) => (0, 1),
        Ink::Signed(_) => (6, 4),
    };
    let mut raw = Vec::with_capacity(height * (1 + bytes * width));
    for y in 0..height {
        raw.push(0);
        for x in 0..width {
            let v = value(y * width + x);
            match ink {
                Ink::Plain(low, high) => {
                    raw.extend([0, byte((v - low) / if high > low { high - low } else { 1.0 })]);
                }
                Ink::Grey(low, high) => {
                    raw.push(byte((v - low) / if high > low { high - low } else { 1.0 }));
                }
                Ink::Signed(most) => {
                    let [r, g, b] = if v > 0.0 { [0, 114, 178] } else { [213, 94, 0] };
                    raw.extend([r, g, b, byte(v.abs() / if most > 0.0 { most } else { 1.0 })]);
                }
            }
        }
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&raw).expect("memory takes every byte");
    let packed = packed.finish().expect("memory takes every byte");
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    header.extend([8, kind, 0, 0, 0]);
    chunk(&mut out, *b"IHDR", &header);
    chunk(&mut out, *b"IDAT", &packed);
    chunk(&mut out, *b"IEND", &[]);
    out
}

fn chunk(out: &mut Vec<u8>, name: [u8; 4], content: &[u8]) {
    out.extend((content.len() as u32).to_be_bytes());
    let start = out.len();
    out.extend(name);
    out.extend(content);
    let mut sum = flate2::Crc::new();
    sum.update(&out[start..]);
    out.extend(sum.sum().to_be_bytes());
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let word = part.iter().enumerate().fold(0, |word, (i, b)| word | u32::from(*b) << (16 - 8 * i));
        for i in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * i)) as usize & 63] as char;
            out.push(if i <= part.len() { letter } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn base64_is_that_of_everyone() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn the_rows_come_back() {
        let shape = ImageShape::grey(2, 2);
        let file = png(&[0.0, 16.0, 8.0, -3.0], shape, Ink::Plain(0.0, 16.0));
        let packed = &file[8 + 25 + 8..file.len() - 12 - 4];
        let mut raw = Vec::new();
        flate2::read::ZlibDecoder::new(packed).read_to_end(&mut raw).expect("whole");
        assert_eq!(raw, [0, 0, 0, 0, 255, 0, 0, 128, 0, 0]);
        // The checksum of an empty end chunk, as in every PNG file.
        assert_eq!(file[file.len() - 4..], [0xae, 0x42, 0x60, 0x82]);
        let signed = png(&[1.0, -2.0, 0.0, 0.0], shape, Ink::Signed(2.0));
        assert_eq!(signed[25], 6);
    }
}
