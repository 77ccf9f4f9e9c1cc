//! Noisy digits brought back from their components (Schoelkopf et al. 1999, Figs. 8 to 10).
//!
//! Components of 300 smoothed digits of each kind, linear and under `exp(-|x-y|^2 / (0.5 * 256))`; 50 test digits of each
//! kind get Gaussian noise of deviation 0.5, or speckle: a pixel in five turned black or white. Projected onto the first n
//! components and brought back, they are compared with what they were. Mean of five draws of digits and noise. The best n
//! of each kind is taken on the test digits, as the paper does. Then width and n are chosen on training digits that the
//! first draw holds out, once for each noise, and judged on the test digits of every draw, beside the same linear best.

use mercer::Result;
use mercer::data::{Dataset, Points, noise};
use mercer::kernel::Kernel;
use mercer::model::{Components, Machine};
use mercer::reduce::preimage::PreimageParams;
use mercer_report::drives;
use mercer_report::html::{Figure, Ink, Tile, Tiles};
use mercer_report::svg::{Axis, Chart, Series};

use crate::Experiment;
use crate::components::{mean_squared, plain};
use crate::data::{Split, USPS, Usps};
use crate::kernels::rbf;
use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "denoise-usps",
    shows: "Kernel components denoise digits better than linear ones",
    paper: "Schoelkopf et al. 1999, Figs. 8 to 10",
    notes: &[
        "Mean of five draws; squared distance of a digit of 256 pixels in [-1, 1] from its noise-free image.",
        "At the paper's width the numbers of components are the best on the test digits, as in the paper.",
        "Width and number by held-out digits are chosen on training digits of the first draw; the linear number stays \
         the best on the test digits.",
    ],
    needs: &[USPS],
    needs_full: &[USPS],
    seconds: 100,
    full: None,
    run,
};

/// The paper's own numbers of components, those of its figures, and some between.
const LINEAR: [usize; 9] = [1, 4, 8, 16, 32, 48, 64, 128, 256];
const KERNEL: [usize; 10] = [1, 4, 16, 32, 64, 128, 256, 384, 512, 768];
/// The paper's width in units of 256, and what held-out digits choose from.
const PAPER: f64 = 0.5;
const WIDTHS: [f64; 5] = [PAPER, 0.35, 0.25, 0.2, 0.15];
const HELD: [usize; 6] = [128, 256, 512, 1024, 1536, 2048];
const DRAWS: usize = 5;
/// Digits in a line of a picture.
const SHOWN: usize = 10;

/// What is done to digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// Of deviation 0.5 on every pixel.
    Gaussian,
    /// One pixel in five black or white.
    Speckle,
}

impl Noise {
    /// Both.
    pub const BOTH: [Noise; 2] = [Noise::Gaussian, Noise::Speckle];

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Noise::Gaussian => "gaussian",
            Noise::Speckle => "speckle",
        }
    }

    /// How many times better the paper's kernel components are than its linear ones.
    fn factor(self) -> f64 {
        match self {
            Noise::Gaussian => 1.6,
            Noise::Speckle => 1.2,
        }
    }

    fn on(self, points: &Points, seed: u64) -> Result<Points> {
        match self {
            Noise::Gaussian => noise::gaussian(points, 0.5, seed),
            Noise::Speckle => noise::speckle(points, 0.2, (-1.0, 1.0), seed),
        }
    }
}

/// Digits to learn from, held out of them, and to test with, of each kind: one draw.
#[derive(Debug, Clone)]
pub struct NoisyDigits {
    /// 300 training digits of each kind.
    pub train: Points,
    /// 50 others of each kind.
    pub held: Points,
    /// 50 test digits of each kind, without noise.
    pub test: Points,
    seed: u64,
}

/// What held-out digits choose: a width and a number of components.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The kernel is `exp(-|x-y|^2 / (256 width))`.
    pub width: f64,
    /// Components.
    pub used: usize,
    /// The squared error on the held-out digits.
    pub error: f64,
}

/// Mean squared errors of one noise, one a draw.
#[derive(Default)]
struct Errors {
    linear: Vec<Vec<f64>>,
    kernel: Vec<Vec<f64>>,
    chosen: Vec<f64>,
}

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    lab.step("reading", 0, 1)?;
    let digits = lab.usps(Usps::Smoothed)?;
    let draws = if lab.settings.rows.is_some() { 1 } else { DRAWS };
    let mut errors = [Errors::default(), Errors::default()];
    let mut choices: Option<[Choice; 2]> = None;
    for draw in 0..draws {
        let parts = NoisyDigits::draw(&digits, draw)?;
        lab.step(format!("draw {}, linear", draw + 1), draw, draws)?;
        let pca = lab.components(Kernel::Linear, &parts.train, 256, true)?;
        let most = if draw == 0 { HELD[HELD.len() - 1] } else { KERNEL[KERNEL.len() - 1] };
        lab.step(format!("draw {}, width {PAPER}", draw + 1), draw, draws)?;
        let model = lab.components(rbf(PAPER, 256), &parts.train, most, true)?;
        for (of, noise) in errors.iter_mut().zip(Noise::BOTH) {
            let noisy = parts.noisy(noise)?;
            of.linear.push(judged(lab, &pca, &noisy, &parts.test, &LINEAR)?);
            of.kernel.push(judged(lab, &model, &noisy, &parts.test, &KERNEL)?);
        }
        if draw == 0 {
            pictures(lab, &pca, &model, &parts)?;
        }
        let held = match choices {
            Some(held) => held,
            None => *choices.insert(parts.validated(lab, Some(&model))?),
        };
        for ((of, noise), choice) in errors.iter_mut().zip(Noise::BOTH).zip(held) {
            let Choice { width, used, .. } = choice;
            lab.step(format!("draw {}, width {width}", draw + 1), draw, draws)?;
            let (error, found) = parts.restored(lab, noise, choice)?;
            of.chosen.push(error);
            if draw == 0 {
                let name = noise.name();
                strips(
                    lab,
                    &parts.test,
                    &found,
                    &format!("{name} noise, {used} kernel components, width {width}"),
                );
            }
        }
    }
    let mut rows = Vec::new();
    for (at, (of, noise)) in errors.iter().zip(Noise::BOTH).enumerate() {
        rows.extend(told(lab, noise, of, choices.map(|all| all[at])));
    }
    Ok(rows)
}

/// The errors after so many components each; those that there are not count as all.
fn judged(
    lab: &mut Lab<'_>,
    model: &Machine,
    noisy: &Points,
    clean: &Points,
    counts: &[usize],
) -> Result<Vec<f64>> {
    let wanted = clean.view().to_f64()?;
    counts.iter().map(|&n| Ok(mean_squared(&lab.restored(model, noisy, n)?, &wanted, clean.dim()))).collect()
}

/// The rows of one noise, and its picture.
fn told(lab: &mut Lab<'_>, noise: Noise, of: &Errors, held: Option<Choice>) -> Vec<Row> {
    let (name, factor) = (noise.name(), noise.factor());
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let by_count = |of: &[Vec<f64>], count: usize| -> Vec<f64> {
        (0..count).map(|n| mean(&of.iter().map(|draw| draw[n]).collect::<Vec<_>>())).collect()
    };
    let (linear, kernel) = (by_count(&of.linear, LINEAR.len()), by_count(&of.kernel, KERNEL.len()));
    let chosen = mean(&of.chosen);
    let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
    let (k, l) = (least(&kernel), least(&linear));
    let group = format!("{name} noise");
    let held = held.map_or_else(String::new, |c| format!(": width {}, n={}", c.width, c.used));
    let mut rows = vec![
        plain(&group, "best of each", "linear / kernel", lab.paper(factor), l / k, Better::Higher),
        Row {
            chosen: Chosen::Validation,
            ..plain(
                &group,
                format!("held-out digits{held}"),
                "linear / kernel",
                None,
                l / chosen,
                Better::Higher,
            )
        },
    ];
    let equal = KERNEL
        .iter()
        .zip(&kernel)
        .filter_map(|(n, e)| LINEAR.iter().position(|m| m == n).map(|j| linear[j] / e));
    let most = equal.fold(0.0, f64::max);
    let eight = lab.paper(8.0).filter(|_| noise == Noise::Gaussian);
    rows.push(plain(&group, "at equal n, most", "linear / kernel", eight, most, Better::Higher));
    let group = format!("{name} noise, errors");
    let error = |setting: String, e: f64| plain(&group, setting, "squared error", None, e, Better::Lower);
    rows.extend(LINEAR.iter().zip(&linear).map(|(n, e)| error(format!("linear n={n}"), *e)));
    rows.extend(KERNEL.iter().zip(&kernel).map(|(n, e)| error(format!("kernel n={n}"), *e)));
    rows.push(Row { chosen: Chosen::Validation, ..error("kernel, held-out digits".into(), chosen) });
    let points = |counts: &[usize], errors: &[f64]| -> Vec<(f64, f64)> {
        counts.iter().map(|n| *n as f64).zip(errors.iter().copied()).collect()
    };
    let series = vec![
        Series::line("linear", points(&LINEAR, &linear)).colour(1),
        Series::line("kernel", points(&KERNEL, &kernel)).colour(0),
    ];
    let (x, y) = (Axis::new("components").log(), Axis::new("squared error").log());
    lab.draw(Figure::svg(
        Chart::new(&format!("Errors, {name} noise"), x, y, series).draw(),
        format!("{name} noise: squared error by number of components, at the paper's width."),
    ));
    rows
}

/// The first eigenvectors in two ways (the paper's Fig. 8), the scree, and digits before and after (its Fig. 10).
fn pictures(lab: &mut Lab<'_>, pca: &Machine, model: &Machine, parts: &NoisyDigits) -> Result<()> {
    lab.step("drawing", 0, 1)?;
    let machines = (pca, model);
    let (pca, model) = (pca.components()?, model.components()?);
    let share = |m: Components<'_>| -> Vec<(f64, f64)> {
        m.shares().iter().take(512).enumerate().map(|(k, s)| ((k + 1) as f64, *s)).collect()
    };
    let series =
        vec![Series::line("linear", share(pca)).colour(1), Series::line("kernel", share(model)).colour(0)];
    let (x, y) = (Axis::new("component").log(), Axis::new("fraction of the variance").log());
    lab.draw(Figure::svg(
        Chart::new("Variance of each component", x, y, series).draw(),
        "Fraction of the variance explained by each component, at the paper's width.",
    ));
    let Some(shape) = parts.train.image() else { return Ok(()) };
    let axes: Vec<usize> = (0..9).map(|p| (1 << p) - 1).filter(|&a| a < model.count()).collect();
    let exec = lab.exec();
    let mut tiles = Vec::new();
    for &axis in &axes {
        let params = PreimageParams::default();
        let point = lab.watched(|watch| model.show_axis(axis, &params, exec, watch))?;
        tiles.push(Tile::new(point.view().to_f64()?, (axis + 1).to_string()));
    }
    let tiles = Tiles { shape, ink: Ink::Levels(-1.0, 1.0), tiles };
    lab.draw(Figure::tiles(tiles, "Pre-images of kernel eigenvectors."));
    for (of, words) in [(model, "Kernel eigenvectors"), (pca, "Linear eigenvectors")] {
        let some: Vec<usize> = axes.iter().copied().filter(|&a| a < of.count()).collect();
        if let Some(tiles) = drives(of, &some, exec)? {
            lab.draw(Figure::tiles(tiles, format!("{words}: effect of single pixels on their features.")));
        }
    }
    strips(lab, &parts.test, &parts.test.view().to_f64()?, "Test digits as they were");
    for noise in Noise::BOTH {
        let (name, noisy) = (noise.name(), parts.noisy(noise)?);
        strips(lab, &parts.test, &noisy.view().to_f64()?, &format!("With {name} noise"));
        for (of, used, words) in [(machines.0, 32, "linear"), (machines.1, 256, "kernel")] {
            let found = lab.restored(of, &noisy, used)?;
            strips(lab, &parts.test, &found, &format!("{name} noise, {used} {words} components"));
        }
    }
    Ok(())
}

/// A line of digits, one of each kind.
fn strips(lab: &mut Lab<'_>, like: &Points, pixels: &[f64], caption: &str) {
    let Some(shape) = like.image() else { return };
    let every = (like.len() / SHOWN).max(1);
    let tile = |row: usize| Tile::new(pixels[row * shape.len()..(row + 1) * shape.len()].to_vec(), "");
    let tiles = (0..like.len()).step_by(every).take(SHOWN).map(tile).collect();
    lab.draw(Figure::tiles(Tiles { shape, ink: Ink::Levels(-1.0, 1.0), tiles }, format!("{caption}.")));
}

impl NoisyDigits {
    /// A draw of the USPS digits; of parts of them fewer of each kind.
    pub fn draw(digits: &Split, draw: usize) -> Result<Self> {
        let (train, test, seed) = (&digits.train, &digits.test, 1000 + draw as u64);
        let (few, many) = (50.min(test.len() / 40), 300.min(train.len() / 20));
        let pick = |data: &Dataset| -> Result<Vec<Vec<usize>>> {
            let labels = data.targets.classes()?;
            let order = mercer::data::split::shuffle(data.len(), seed);
            let of = |k: u32| order.iter().copied().filter(|&i| labels.of_row[i] == k).collect();
            Ok((0..labels.names.len() as u32).map(of).collect())
        };
        let some = |of: &[Vec<usize>], from: usize, to: usize| -> Vec<usize> {
            of.iter()
                .flat_map(|rows| rows[from.min(rows.len())..to.min(rows.len())].iter().copied())
                .collect()
        };
        let (a, b) = (pick(train)?, pick(test)?);
        Ok(NoisyDigits {
            train: train.points.gather(&some(&a, 0, many)),
            held: train.points.gather(&some(&a, many, many + few)),
            test: test.points.gather(&some(&b, 0, few)),
            seed,
        })
    }

    /// The test digits with noise.
    pub fn noisy(&self, noise: Noise) -> Result<Points> {
        noise.on(&self.test, self.seed)
    }

    /// For each noise the width and number that leave the least error on held-out training digits.
    pub fn choose(&self, lab: &mut Lab<'_>) -> Result<[Choice; 2]> {
        self.validated(lab, None)
    }

    /// The same; `first` is the model of the first width, where it is there already.
    fn validated(&self, lab: &mut Lab<'_>, first: Option<&Machine>) -> Result<[Choice; 2]> {
        let mut best = [Choice { width: f64::NAN, used: 0, error: f64::INFINITY }; 2];
        let most = HELD[HELD.len() - 1];
        for (w, width) in WIDTHS.into_iter().enumerate() {
            lab.step(format!("held-out digits, width {width}"), w, WIDTHS.len())?;
            let own = match first.filter(|_| w == 0) {
                Some(model) => model,
                None => &lab.components(rbf(width, 256), &self.train, most, true)?,
            };
            for (best, noise) in best.iter_mut().zip(Noise::BOTH) {
                let noisy = noise.on(&self.held, self.seed + 77)?;
                for (error, used) in judged(lab, own, &noisy, &self.held, &HELD)?.into_iter().zip(HELD) {
                    if error < best.error {
                        *best = Choice { width, used: used.min(own.outputs()), error };
                    }
                }
            }
        }
        Ok(best)
    }

    /// The test digits brought back with a choice: the squared error that is left, and their pixels.
    pub fn restored(&self, lab: &mut Lab<'_>, noise: Noise, choice: Choice) -> Result<(f64, Vec<f64>)> {
        let model = lab.components(rbf(choice.width, 256), &self.train, choice.used, true)?;
        let found = lab.restored(&model, &self.noisy(noise)?, choice.used)?;
        let error = mean_squared(&found, &self.test.view().to_f64()?, self.test.dim());
        Ok((error, found))
    }
}
