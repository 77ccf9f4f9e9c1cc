//! Small images as PNG inside a page.
//!
//! An 8 x 8 image takes some 150 bytes this way and 2 kB as SVG rectangles.

use png::ColorType;

use crate::data::ImageShape;
use crate::data::io::png_bytes;

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
    let channels = shape.channels.max(1);
    let byte = |share: f64| (255.0 * share.clamp(0.0, 1.0)).round() as u8;
    let share = |v: f64, low: f64, high: f64| byte((v - low) / if high > low { high - low } else { 1.0 });
    let values = pixels.chunks(channels).map(|pixel| pixel.iter().sum::<f64>() / channels as f64);
    // Ink is opacity, so that the paper shows through.
    let (kind, samples): (ColorType, Vec<u8>) = match ink {
        Ink::Plain(low, high) => {
            (ColorType::GrayscaleAlpha, values.flat_map(|v| [0, share(v, low, high)]).collect())
        }
        Ink::Grey(low, high) => (ColorType::Grayscale, values.map(|v| share(v, low, high)).collect()),
        Ink::Signed(most) => {
            let colour = |v: f64| {
                let [r, g, b] = if v > 0.0 { [0, 114, 178] } else { [213, 94, 0] };
                [r, g, b, share(v.abs(), 0.0, most)]
            };
            (ColorType::Rgba, values.flat_map(colour).collect())
        }
    };
    png_bytes(&samples, shape, kind)
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

    #[test]
    fn base64_is_that_of_everyone() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    fn samples(file: &[u8]) -> (ColorType, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().expect("a header");
        let mut out = vec![0; reader.output_buffer_size().expect("small")];
        let frame = reader.next_frame(&mut out).expect("whole");
        (frame.color_type, out)
    }

    #[test]
    fn the_rows_come_back() {
        let shape = ImageShape::grey(2, 2);
        let file = png(&[0.0, 16.0, 8.0, -3.0], shape, Ink::Plain(0.0, 16.0));
        assert_eq!(samples(&file), (ColorType::GrayscaleAlpha, vec![0, 0, 0, 255, 0, 128, 0, 0]));
        let signed = png(&[1.0, -2.0, 0.0, 0.0], shape, Ink::Signed(2.0));
        let (kind, values) = samples(&signed);
        assert_eq!((kind, &values[..8]), (ColorType::Rgba, &[0, 114, 178, 128, 213, 94, 0, 255][..]));
    }
}
