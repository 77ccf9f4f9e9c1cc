//! Reports on components: explained variance, and reconstruction.

use std::path::PathBuf;

use serde::Serialize;

use crate::html::{self, Figure, Ink, Section, Tile, Tiles};
use crate::svg::{self, Axis, Chart, Grid, Layer, Plane, Series};
use crate::{Align, Page, Report, Table, Tone, bytes, count, number, percent};
use mercer::data::{Dataset, Points};
use mercer::error::Result;
use mercer::exec::Exec;
use mercer::model::{self, Model, Tried};
use mercer::reduce::preimage::PreimageParams;
use mercer::watch::{Note, Watch};

/// Components named one by one.
const LISTED: usize = 8;
/// Components drawn.
const DRAWN: usize = 12;
/// Contour maps drawn.
const MAPS: usize = 6;
/// Pixels of an image of which each is tried alone, at most.
const PIXELS: usize = 4096;
/// Images shown before and after.
const SHOWN: usize = 24;
/// Shades of a contour map.
const LEVELS: u32 = 12;
/// Nodes of a contour map along each axis.
const NODES: usize = 90;

/// Components that were found and written.
#[derive(Debug, Clone, Serialize)]
pub struct FittedComponents {
    /// The data they were found in.
    pub source: String,
    /// Rows of it.
    pub rows: usize,
    /// The kernel's line.
    pub kernel: String,
    /// The stages before it, a line each.
    pub stages: Vec<String>,
    /// The share of the variance each carries.
    pub shares: Vec<f64>,
    /// What the fit says of itself.
    pub notes: Vec<Note>,
    /// The file.
    pub file: PathBuf,
    /// Bytes it takes.
    pub bytes: u64,
}

/// Rows that were denoised.
#[derive(Debug, Clone, Serialize)]
pub struct Denoised {
    /// The data.
    pub source: String,
    /// Rows of it.
    pub rows: usize,
    /// Squares that rows were cut into, and their sides in pixels.
    pub patches: Option<(usize, usize)>,
    /// The kernel's line.
    pub kernel: String,
    /// Components used; none where each square has its own.
    pub components: Option<usize>,
    /// Standard deviation of the noise taken to be there; none where a model was given.
    pub noise: Option<f64>,
    /// Mean squared error of held-out rows before denoising.
    pub before: Option<f64>,
    /// The numbers of components tried on them.
    pub tried: Vec<Tried>,
    /// The file.
    pub file: PathBuf,
    /// Bytes it takes.
    pub bytes: u64,
}

/// The components of a model.
fn components(model: &Model) -> Result<model::Components<'_>> {
    model.machine.components()
}

impl FittedComponents {
    /// Components in a model that is now in a file.
    pub fn new(source: impl Into<String>, rows: usize, model: &Model, file: PathBuf) -> Result<Self> {
        let kpca = components(model)?;
        let about = model.describe();
        Ok(FittedComponents {
            source: source.into(),
            rows,
            kernel: about.kernel,
            stages: about.stages,
            shares: kpca.shares(),
            notes: model.info().notes.clone(),
            bytes: std::fs::metadata(&file).map_or(0, |about| about.len()),
            file,
        })
    }
}

impl Report for FittedComponents {
    fn write(&self, page: &mut Page) {
        page.title(&self.source, &format!("{} rows", count(self.rows)));
        let mut facts = vec![("kernel", self.kernel.clone())];
        if !self.stages.is_empty() {
            facts.push(("stages", self.stages.join(", then ")));
        }
        let all: f64 = self.shares.iter().sum();
        facts.push(("components", format!("{}, {} of the variance", count(self.shares.len()), percent(all))));
        facts.push(("written", format!("{}, {}", self.file.display(), bytes(self.bytes as usize))));
        page.facts(facts);
        for note in &self.notes {
            page.remark(Tone::Quiet, '·', note);
        }
        page.heading("Explained variance");
        let mut table = Table::new()
            .column("", Align::Right)
            .column("share", Align::Right)
            .column("so far", Align::Right)
            .column("", Align::Left);
        let (mut sum, most) = (0.0, self.shares.first().copied().unwrap_or(1.0).max(f64::MIN_POSITIVE));
        for (k, share) in self.shares.iter().enumerate().take(LISTED) {
            sum += share;
            let bar = "█".repeat((24.0 * share / most).round() as usize);
            table.row([(k + 1).to_string(), percent(*share), percent(sum), bar]);
        }
        page.table(&table);
        page.blank();
        let file = self.file.display();
        page.command(&format!("mercer pca transform DATA {file} -o FEATURES.csv"), "features of rows");
        page.command(&format!("mercer pca inverse FEATURES.csv {file} -o ROWS.csv"), "and back");
    }
}

impl Report for Denoised {
    fn write(&self, page: &mut Page) {
        page.title(&self.source, &format!("{} rows", count(self.rows)));
        let mut facts = vec![("kernel", self.kernel.clone())];
        facts.extend(self.components.map(|components| ("components", count(components))));
        if let Some((squares, side)) = self.patches {
            facts.insert(0, ("squares", format!("{} of {side} x {side} pixels", count(squares))));
        }
        if let Some(noise) = self.noise {
            facts.push(("noise", format!("{} a value", number(noise))));
        }
        if let (Some(before), Some(best)) = (self.before, self.tried.iter().map(|t| t.error).reduce(f64::min))
        {
            let line = format!("{} to {}, mean squared error on held-out rows", number(before), number(best));
            facts.push(("error", line));
        }
        facts.push(("written", format!("{}, {}", self.file.display(), bytes(self.bytes as usize))));
        page.facts(facts);
    }
}

/// A page of components: the scree, maps over the plane for data of two columns, images for rows that are images.
pub fn components_page(
    title: &str,
    model: &Model,
    data: Option<&Dataset>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<html::Page> {
    let kpca = components(model)?;
    let shares: Vec<f64> = kpca.shares().into_iter().take(60).collect();
    let mut sections = vec![Section {
        heading: "Explained variance".into(),
        facts: vec![
            ("components".into(), count(kpca.count())),
            ("kernel".into(), kpca.expansion.kernel().to_string()),
        ],
        figures: vec![Figure::svg(
            svg::spectrum("Fraction of variance explained", "share", &shares, false),
            "Fraction of the variance explained by each component.",
        )],
        ..Section::default()
    }];
    if let Some(data) = data.filter(|d| d.dim() == 2 && d.points.view().is_numbers()) {
        sections.push(Section {
            heading: "Over the plane".into(),
            figures: contour_maps(model, data, MAPS, "", exec)?,
            ..Section::default()
        });
    }
    if let Some(shape) = kpca.expansion.centres().image() {
        let mut tiles = Vec::new();
        for axis in 0..kpca.count().min(DRAWN) {
            let point = kpca.show_axis(axis, &PreimageParams::default(), exec, watch)?;
            tiles.push(Tile::new(point.view().to_f64()?, (axis + 1).to_string()));
        }
        let ink = axis_ink(&kpca.expansion.centres().view().to_f64()?, &tiles);
        let caption = match ink {
            Ink::Signed(_) => "The pre-images of the first axes: above 0 in blue, below 0 in orange.",
            Ink::Levels(..) => "The pre-images of the first axes.",
        };
        let mut figures = vec![Figure::tiles(Tiles { shape, ink, tiles }, caption)];
        if shape.len() <= PIXELS {
            let axes: Vec<usize> = (0..kpca.count().min(DRAWN)).collect();
            let caption =
                "Effect of single pixels on a feature, at their mean: increase in blue, decrease in orange.";
            figures.extend(drives(kpca, &axes, exec)?.map(|tiles| Figure::tiles(tiles, caption)));
        }
        sections.push(Section { heading: "As images".into(), figures, ..Section::default() });
    }
    Ok(html::Page { title: title.into(), sections, ..html::Page::default() })
}

/// What each pixel alone does to some features, an image each; nothing for rows that are no images.
///
/// Values are about their mean, at full ink: up in blue, down in orange.
pub fn drives(kpca: model::Components<'_>, axes: &[usize], exec: Exec) -> Result<Option<Tiles>> {
    let Some(shape) = kpca.expansion.centres().image() else { return Ok(None) };
    let values = kpca.responses(axes, exec)?;
    let one = |(place, axis): (usize, &usize)| {
        let mut pixels: Vec<f64> = values.iter().skip(place).step_by(axes.len()).copied().collect();
        let mean = pixels.iter().sum::<f64>() / pixels.len() as f64;
        pixels.iter_mut().for_each(|v| *v -= mean);
        let most = pixels.iter().fold(f64::MIN_POSITIVE, |most, v| v.abs().max(most));
        pixels.iter_mut().for_each(|v| *v /= most);
        Tile::new(pixels, (axis + 1).to_string())
    };
    Ok(Some(Tiles { shape, ink: Ink::Signed(1.0), tiles: axes.iter().enumerate().map(one).collect() }))
}

/// Pre-images of axes are pictures where they look like the data; where they leave the data's range they are signed
/// weights of pixels.
fn axis_ink(data: &[f64], tiles: &[Tile]) -> Ink {
    let values = || tiles.iter().flat_map(|t| &t.pixels);
    let (levels, (low, high)) = (Ink::levels(data), ends(values()));
    match levels {
        Ink::Levels(black, white) if low < black.min(0.0) - 0.15 * (white - black) => {
            Ink::Signed(high.abs().max(low.abs()))
        }
        levels => levels,
    }
}

/// Contours of the first features over the plane, one picture each, with the data's points; `of` says what they are of.
pub fn contour_maps(model: &Model, data: &Dataset, most: usize, of: &str, exec: Exec) -> Result<Vec<Figure>> {
    let kpca = components(model)?;
    let pairs: Vec<(f64, f64)> = data.points.view().to_f64()?.chunks(2).map(|p| (p[0], p[1])).collect();
    let (x, y) = (Plane::range(pairs.iter().map(|p| p.0)), Plane::range(pairs.iter().map(|p| p.1)));
    let nodes = Points::dense(Grid::nodes(x, y, NODES, NODES), 2)?;
    let values = model.decision(nodes.view(), exec)?;
    let k = kpca.count();
    let one = |axis: usize| {
        let feature: Vec<f64> = values.iter().skip(axis).step_by(k).copied().collect();
        let title = format!("Component {}", axis + 1);
        let (low, high) = ends(feature.iter());
        let levels = (1..LEVELS).map(|l| low + (high - low) * f64::from(l) / f64::from(LEVELS)).collect();
        let grid = Grid::new(x, y, NODES, feature);
        let layers =
            vec![Layer::Shades { grid, levels, class: 0 }, Layer::Points { at: pairs.clone(), class: 1 }];
        let share = percent(kpca.shares()[axis]);
        let caption = if of.is_empty() { title.clone() } else { format!("{of}, component {}", axis + 1) };
        Figure::svg(Plane::new(&title, x, y, layers).draw(), format!("{caption}: {share} of the variance."))
    };
    Ok((0..k.min(most)).map(one).collect())
}

/// A page of rows before and after, with how the number of components was chosen.
pub fn denoised_page(report: &Denoised, before: &Points, after: &Points) -> Result<html::Page> {
    let mut sections = Vec::new();
    if !report.tried.is_empty() {
        let points = report.tried.iter().map(|t| (t.components as f64, t.error)).collect::<Vec<_>>();
        let series = vec![Series::line("", points.clone()).colour(0), Series::dots("", points).colour(0)];
        let chart =
            Chart::new("Error by components", Axis::new("components").log(), Axis::new("error"), series);
        sections.push(Section {
            heading: "Number of components".into(),
            facts: report.components.map(|kept| ("kept".into(), count(kept))).into_iter().collect(),
            figures: vec![Figure::svg(chart.draw(), "Mean squared error of denoised held-out rows.")],
            ..Section::default()
        });
    }
    if let Some(shape) = before.image() {
        let ink = Ink::levels(&before.view().to_f64()?);
        let strip = |points: &Points, caption: &str| -> Result<Figure> {
            let shown: Vec<usize> = (0..points.len().min(SHOWN)).collect();
            let pixels = points.gather(&shown).view().to_f64()?;
            let tiles = pixels.chunks(shape.len()).map(|p| Tile::new(p.to_vec(), "")).collect();
            Ok(Figure::tiles(Tiles { shape, ink, tiles }, caption))
        };
        sections.push(Section {
            heading: "Before and after".into(),
            figures: vec![strip(before, "Before denoising.")?, strip(after, "Denoised.")?],
            ..Section::default()
        });
    }
    Ok(html::Page { title: report.source.clone(), sections, ..html::Page::default() })
}

fn ends<'a>(values: impl Iterator<Item = &'a f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_that_leave_the_range_of_pictures_are_signed() {
        let photographs = [0.0, 12.0, 255.0];
        let axis = |values: &[f64]| [Tile::new(values.to_vec(), "")];
        assert_eq!(axis_ink(&photographs, &axis(&[3.0, 260.0])), Ink::Levels(0.0, 255.0));
        assert_eq!(axis_ink(&photographs, &axis(&[-80.0, 60.0])), Ink::Signed(80.0));
        assert_eq!(axis_ink(&[-1.0, 1.0], &axis(&[-1.1, 0.9])), Ink::Levels(-1.0, 1.0));
    }
}
