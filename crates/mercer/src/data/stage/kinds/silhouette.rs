//! Silhouettes: 1 where there is figure, 0 where there is ground (Schoelkopf 1997, Sec. 2.2 and App. A).

use super::prelude::*;
use crate::data::image::Mass;

/// Figure is what is further than `level` from the background; with several channels each has its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::data::stage) struct Silhouette {
    background: f64,
    level: f64,
}

impl Line for Silhouette {
    const ENTRY: Entry = Entry {
        name: "silhouette",
        args: &[
            arg(
                "threshold",
                "0.5",
                "a number from 0 to below 1",
                "threshold between background and figure, as a fraction of the training range",
            ),
            BACKGROUND,
        ],
        image: true,
        doc: "1 for figure, 0 for ground",
        example: "silhouette(threshold=0.5)",
        ..Entry::NUMBERS
    };

    fn read(args: &Args) -> Result<Asked<Self>> {
        let (threshold, background) = (args.real("threshold")?, args.real_or("background", "auto")?);
        args.need("threshold", (0.0..1.0).contains(&threshold))?;
        Ok(Asked::fit(move |on| {
            let (least, range) = range(on.points)?;
            Ok(Silhouette { background: background.unwrap_or(least), level: threshold * range })
        }))
    }
}

impl Kind for Silhouette {
    fn describe(&self, _at: Frame) -> String {
        let Silhouette { background, level } = self;
        format!("silhouette: 1 where further than {level} from background {background}, else 0")
    }

    fn map(&self, at: Frame) -> Option<Box<dyn RowMap + '_>> {
        let mass = Mass { background: self.background, level: Some(self.level) };
        let run = move |x: &[f64], out: &mut [f64]| {
            out.iter_mut().zip(x).for_each(|(to, &v)| *to = mass.of(v));
        };
        Some(Box::new(Each { d_out: at.d, on_sparse: OnSparse::Rows, run }))
    }

    fn is_valid(&self, _at: Frame) -> bool {
        self.level >= 0.0
    }
}
