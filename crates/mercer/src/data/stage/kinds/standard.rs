//! Mean 0 and standard deviation 1 (over n). What was constant in training is centred and not divided.

use super::prelude::*;
use crate::data::map::each_row;
use crate::data::stage::columns::{Columns, Stats};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::data::stage) struct Standard {
    centred: bool,
    #[serde(skip)]
    mean: Vec<f64>,
    #[serde(skip)]
    std: Vec<f64>,
}

impl Standard {
    fn columns(&self, at: Frame) -> Columns {
        Columns::standard(at.d, &self.mean, &self.std)
    }
}

impl Line for Standard {
    const ENTRY: Entry = Entry {
        name: "standard",
        args: &[
            arg(
                "centre",
                "auto",
                "true, false or auto",
                "whether the mean is subtracted; auto: unless fitted on sparse points",
            ),
            PER,
            arg(
                "indicators",
                "scale",
                "scale or keep",
                "treatment of columns that contain only 0 and 1: a rare 1, once scaled, outweighs all other columns",
            ),
        ],
        doc: "mean 0 and standard deviation 1; constant columns are only centred",
        example: "standard",
        ..Entry::NUMBERS
    };

    fn read(args: &Args) -> Result<Asked<Self>> {
        let centre = if args.text("centre")? == "auto" { None } else { Some(args.flag("centre")?) };
        let per = Per::read(args)?;
        let keep = match args.text("indicators")? {
            "scale" => false,
            "keep" => true,
            other => return Err(args.wrong("indicators", other)),
        };
        if keep && matches!(per, Per::Channel) {
            return Err(args.wrong("indicators", "keep together with per=channel"));
        }
        Ok(Asked::fit(move |on| {
            let Stats { mut mean, mut std, .. } = Stats::of(on.points, per.groups(on), on.exec)?;
            // Subtracting the mean would make sparse points dense.
            let centred = centre.unwrap_or(!matches!(on.points.data, Data::Csr { .. }));
            if !centred {
                mean.fill(0.0);
            }
            std.iter_mut().filter(|s| **s == 0.0).for_each(|s| *s = 1.0);
            if keep {
                for j in indicators(on.points)? {
                    (mean[j], std[j]) = (0.0, 1.0);
                }
            }
            Ok(Standard { centred, mean, std })
        }))
    }
}

impl Kind for Standard {
    fn describe(&self, at: Frame) -> String {
        let how = if self.centred { "centred and divided" } else { "not centred, divided" };
        format!("standard: {} {how} by the standard deviation", Per::words(self.std.len(), at.d))
    }

    fn map(&self, at: Frame) -> Option<Box<dyn RowMap + '_>> {
        Some(Box::new(self.columns(at)))
    }

    fn inverse(&self, at: Frame) -> Option<Box<dyn RowMap>> {
        Some(Box::new(self.columns(at).undo(&[])?))
    }

    fn arrays(&mut self, _at: Frame) -> Vec<Array<'_>> {
        vec![Array::new("mean", &mut self.mean), Array::new("std", &mut self.std)]
    }

    fn is_valid(&self, at: Frame) -> bool {
        Columns::fit_in(at.d, &self.mean, &self.std) && self.std.iter().all(|&s| s > 0.0)
    }
}

/// The columns that contain only 0 and 1.
fn indicators(points: View<'_>) -> Result<Vec<usize>> {
    let mut all = vec![true; points.d];
    each_row(points, |columns, values| {
        match columns {
            None => all.iter_mut().zip(values).for_each(|(is, v)| *is &= *v == 0.0 || *v == 1.0),
            Some(columns) => {
                let stored = columns.iter().zip(values);
                stored.for_each(|(&c, v)| all[c as usize] &= *v == 0.0 || *v == 1.0);
            }
        }
        Ok(())
    })?;
    Ok((0..points.d).filter(|&j| all[j]).collect())
}
