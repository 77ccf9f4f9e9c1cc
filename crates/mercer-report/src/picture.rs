//! Images as text, dark on light or light on dark as the terminal has it: more ink for larger values.

use mercer::data::ImageShape;

const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
/// Images up to this wide get two characters a pixel; wider ones one, with two rows of pixels a line.
const SMALL: usize = 12;
/// Wider images are shown by averages of neighbouring pixels.
const WIDEST: usize = 36;

/// One image as lines of equal length, `low` without ink and `high` all ink. Channels are averaged.
///
/// ```
/// use mercer::data::ImageShape;
/// use mercer_report::picture;
/// let lines = picture(&[0.0, 1.0, 0.5, 0.0], ImageShape::grey(2, 2), 0.0, 1.0);
/// assert_eq!(lines, ["  ██", "▒▒  "]);
/// ```
pub fn picture(pixels: &[f64], shape: ImageShape, low: f64, high: f64) -> Vec<String> {
    let ImageShape { height, width, channels } = shape;
    let range = if high > low { high - low } else { 1.0 };
    let (across, wide) = if width <= SMALL { (1, 2) } else { (width.div_ceil(WIDEST), 1) };
    let down = if width <= SMALL { 1 } else { 2 * across };
    let shade = |y: usize, x: usize| {
        let (mut sum, mut cells) = (0.0, 0.0);
        for row in y..(y + down).min(height) {
            for column in x..(x + across).min(width) {
                let at = (row * width + column) * channels;
                sum += pixels[at..at + channels].iter().sum::<f64>();
                cells += channels as f64;
            }
        }
        let ink = ((sum / cells - low) / range).clamp(0.0, 1.0);
        SHADES[(ink * (SHADES.len() - 1) as f64).round() as usize]
    };
    (0..height)
        .step_by(down)
        .map(|y| (0..width).step_by(across).flat_map(|x| std::iter::repeat_n(shade(y, x), wide)).collect())
        .collect()
}

/// The part of some images outside which all of them are as blank as their first pixel, with its shape.
pub(crate) fn cropped(images: &[Vec<f64>], shape: ImageShape) -> (Vec<Vec<f64>>, ImageShape) {
    let ImageShape { height, width, channels } = shape;
    let blank = images.first().and_then(|image| image.first()).copied().unwrap_or(0.0);
    let used = |y: usize, x: usize| {
        let at = (y * width + x) * channels;
        images.iter().any(|image| image[at..at + channels].iter().any(|&v| v != blank))
    };
    let rows = ends(height, |y| (0..width).any(|x| used(y, x)));
    let columns = ends(width, |x| (0..height).any(|y| used(y, x)));
    let cut = |image: &Vec<f64>| {
        let line =
            |y: usize| &image[(y * width + columns.start) * channels..(y * width + columns.end) * channels];
        rows.clone().flat_map(line).copied().collect()
    };
    let shape = ImageShape { height: rows.len(), width: columns.len(), channels };
    (images.iter().map(cut).collect(), shape)
}

/// From the first to the last place that is used; everything where none is.
fn ends(len: usize, used: impl Fn(usize) -> bool) -> std::ops::Range<usize> {
    let first = (0..len).find(|&i| used(i)).unwrap_or(0);
    let last = (0..len).rev().find(|&i| used(i)).unwrap_or(len.saturating_sub(1));
    first..last + 1
}

/// A picture and what it shows.
pub(crate) struct Captioned {
    pub(crate) caption: String,
    pub(crate) lines: Vec<String>,
}

/// Pictures of one size side by side under their captions, in lines of `room` characters, at most so many lines of
/// them.
pub(crate) fn side_by_side(pictures: &[Captioned], room: usize, most: usize) -> Vec<String> {
    const GAP: usize = 3;
    let longest = |p: &Captioned| p.lines.iter().chain([&p.caption]).map(|l| l.chars().count()).max();
    let width = pictures.iter().filter_map(longest).max().unwrap_or(0).max(1);
    let mut out = Vec::new();
    for group in pictures.chunks(((room + GAP) / (width + GAP)).max(1)).take(most) {
        let height = group.iter().map(|p| p.lines.len()).max().unwrap_or(0);
        let row = |cell: &dyn Fn(&Captioned) -> String| {
            let cells: Vec<String> = group.iter().map(|p| format!("{:width$}", cell(p))).collect();
            cells.join(&" ".repeat(GAP))
        };
        out.push(row(&|p| p.caption.clone()));
        out.extend((0..height).map(|y| row(&|p| p.lines.get(y).cloned().unwrap_or_default())));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_images_shrink_and_keep_their_proportions() {
        let shape = ImageShape { height: 100, width: 100, channels: 3 };
        let lines = picture(&vec![1.0; shape.len()], shape, 0.0, 1.0);
        assert_eq!(lines.len(), 17);
        assert!(lines.iter().all(|l| l.chars().count() == 34 && l.chars().all(|c| c == '█')));
    }

    #[test]
    fn only_what_fits_is_shown() {
        let entry = |c: &str| Captioned { caption: c.to_owned(), lines: vec!["####".to_owned(); 2] };
        let four = [entry("a"), entry("b"), entry("c"), entry("d")];
        let lines = side_by_side(&four, 18, 1);
        assert_eq!(lines, ["a      b      c   ", "####   ####   ####", "####   ####   ####"]);
        assert_eq!(side_by_side(&four, 12, 2).len(), 6);
    }

    #[test]
    fn blank_margins_are_cut_from_all_alike() {
        let shape = ImageShape::grey(4, 5);
        let image = |at: &[usize]| {
            let mut image = vec![-1.0; shape.len()];
            at.iter().for_each(|&p| image[p] = 1.0);
            image
        };
        let (images, shape) = cropped(&[image(&[6]), image(&[13])], shape);
        assert_eq!(shape, ImageShape::grey(2, 3));
        assert_eq!(images[0], [1.0, -1.0, -1.0, -1.0, -1.0, -1.0]);
        let all = vec![vec![0.0; 20]];
        assert_eq!(cropped(&all, ImageShape::grey(4, 5)), (all, ImageShape::grey(4, 5)));
    }
}
