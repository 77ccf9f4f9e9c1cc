//! Small images as PNG inside a page.
//!
//! An 8 x 8 image takes some 150 bytes this way and 2 kB as SVG rectangles.

use mercer::data::ImageShape;
use png::{BitDepth, ColorType, Compression, Encoder};

/// How values become colours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ink {
    /// Pictures: black at the first value, white at the second, whatever is around them. Three channels are red, green and
    /// blue; other numbers of channels are averaged.
    Levels(f64, f64),
    /// Signed quantities, such as weights: blue above 0, orange below, deeper the nearer to plus or minus this value.
    /// Channels are averaged.
    Signed(f64),
}

impl Ink {
    /// The levels of pictures with these values. Pictures keep their own black and white: 0 and 255 for bytes, 0 and 1 or
    /// -1 and 1 for values scaled so; other values go from their smallest to their largest.
    pub fn levels<'a>(values: impl IntoIterator<Item = &'a f64>) -> Self {
        let finite = values.into_iter().filter(|v| v.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
        if low > high {
            return Ink::Levels(0.0, 1.0);
        }
        // Pictures that were computed overshoot a little: that moves neither black nor white.
        let slack = 0.15 * (high - low);
        let scales = [(0.0, 1.0), (-1.0, 1.0), (0.0, 255.0)];
        // Nearly all of a scale's range must be in use, else the values have another one; bytes may be dark.
        let used = |(a, b): (f64, f64)| if b > 1.0 { high > 32.0 } else { high - low > 0.5 * (b - a) };
        let inside = |(a, b): (f64, f64)| low >= a - slack && high <= b + slack;
        let found = scales.into_iter().find(|&scale| inside(scale) && used(scale));
        let (low, high) = found.unwrap_or(if low >= -slack { (0.0, high) } else { (low, high) });
        Ink::Levels(low, high)
    }
}

/// The address of an image as `<img src>` takes it.
pub(super) fn data_uri(pixels: &[f64], shape: ImageShape, ink: Ink) -> String {
    format!("data:image/png;base64,{}", base64(&png(pixels, shape, ink)))
}

/// Images side by side in one PNG file, `across` of them in a line, with a thin gap between.
pub fn sheet(images: &[Vec<f64>], shape: ImageShape, across: usize, ink: Ink) -> Vec<u8> {
    let ImageShape { height, width, channels } = shape;
    let across = across.clamp(1, images.len().max(1));
    let down = images.len().div_ceil(across).max(1);
    let whole = ImageShape {
        height: down * (height + 1) - 1,
        width: across * (width + 1) - 1,
        channels: channels.max(1),
    };
    let paper = match ink {
        Ink::Levels(low, _) => low,
        Ink::Signed(_) => 0.0,
    };
    let mut pixels = vec![paper; whole.len()];
    for (at, image) in images.iter().enumerate() {
        let (top, left) = (at / across * (height + 1), at % across * (width + 1));
        for (p, value) in image.chunks(whole.channels).enumerate().take(height * width) {
            let at = ((top + p / width) * whole.width + left + p % width) * whole.channels;
            pixels[at..at + value.len()].copy_from_slice(value);
        }
    }
    png(&pixels, whole, ink)
}

fn png(pixels: &[f64], shape: ImageShape, ink: Ink) -> Vec<u8> {
    let channels = shape.channels.max(1);
    let byte = |share: f64| (255.0 * share.clamp(0.0, 1.0)).round() as u8;
    let share = |v: f64, low: f64, high: f64| byte((v - low) / if high > low { high - low } else { 1.0 });
    let values = pixels.chunks(channels).map(|pixel| pixel.iter().sum::<f64>() / channels as f64);
    let (kind, samples): (ColorType, Vec<u8>) = match ink {
        Ink::Levels(low, high) if channels == 3 => {
            (ColorType::Rgb, pixels.iter().map(|&v| share(v, low, high)).collect())
        }
        Ink::Levels(low, high) => (ColorType::Grayscale, values.map(|v| share(v, low, high)).collect()),
        // White where there is nothing, on light pages and on dark ones.
        Ink::Signed(most) => {
            let colour = |v: f64| {
                let full = if v > 0.0 { [0.0, 114.0, 178.0] } else { [213.0, 94.0, 0.0] };
                let depth = f64::from(share(v.abs(), 0.0, most)) / 255.0;
                full.map(|c| (255.0 + (c - 255.0) * depth).round() as u8)
            };
            (ColorType::Rgb, values.flat_map(colour).collect())
        }
    };
    encoded(&samples, shape, kind)
}

/// A PNG file of 8-bit samples.
fn encoded(samples: &[u8], shape: ImageShape, kind: ColorType) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, shape.width as u32, shape.height as u32);
    encoder.set_color(kind);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::High);
    let mut writer = encoder.write_header().expect("memory takes every byte, and images have pixels");
    writer.write_image_data(samples).expect("as many samples as the header says");
    writer.finish().expect("memory takes every byte");
    out
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
        let file = png(&[0.0, 16.0, 8.0, -3.0], shape, Ink::Levels(0.0, 16.0));
        assert_eq!(samples(&file), (ColorType::Grayscale, vec![0, 255, 128, 0]));
        let signed = png(&[1.0, -2.0, 0.0, 0.0], shape, Ink::Signed(2.0));
        let (kind, values) = samples(&signed);
        assert_eq!((kind, &values[..9]), (ColorType::Rgb, &[127, 184, 216, 213, 94, 0, 255, 255, 255][..]));
    }

    #[test]
    fn colours_stay_colours() {
        let shape = ImageShape { height: 1, width: 2, channels: 3 };
        let (red, sky) = ([255.0, 0.0, 0.0], [90.0, 160.0, 250.0]);
        let bytes = |pixels: &[[f64; 3]]| pixels.iter().flatten().map(|&v| v as u8).collect::<Vec<u8>>();
        let file = png(&[red, sky].concat(), shape, Ink::Levels(0.0, 255.0));
        assert_eq!(samples(&file), (ColorType::Rgb, bytes(&[red, sky])));
        let two = sheet(&[[red, sky].concat(), [sky, red].concat()], shape, 2, Ink::Levels(0.0, 255.0));
        assert_eq!(samples(&two), (ColorType::Rgb, bytes(&[red, sky, [0.0; 3], sky, red])));
    }

    #[test]
    fn pictures_keep_their_own_black_and_white() {
        for (values, levels) in [
            (vec![0.0, 255.0, 7.0], (0.0, 255.0)),
            // A dark photograph stays dark.
            (vec![3.0, 40.0], (0.0, 255.0)),
            (vec![-9.0, 250.0, 262.0], (0.0, 255.0)),
            (vec![0.0, 0.98], (0.0, 1.0)),
            (vec![0.1, 1.07], (0.0, 1.0)),
            (vec![-1.0, 0.99], (-1.0, 1.0)),
            (vec![0.0, 16.0], (0.0, 16.0)),
            (vec![-0.5, 16.5], (0.0, 16.5)),
            // Standardised values have no black of their own.
            (vec![-2.0, 3.5], (-2.0, 3.5)),
            (vec![0.0, 65535.0], (0.0, 65535.0)),
            (vec![f64::NAN], (0.0, 1.0)),
            (vec![], (0.0, 1.0)),
        ] {
            assert_eq!(Ink::levels(&values), Ink::Levels(levels.0, levels.1), "{values:?}");
        }
    }
}
