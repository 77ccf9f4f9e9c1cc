//! Objects told by views of them (after Schoelkopf 1997, Secs. 2.2 and 4.4, App. A).
//!
//! The paper's chairs are not available; the 20 objects of COIL stand in, 72 views of each around a turntable, reduced to
//! 16 x 16 pixels: every 8th or every 4th view to train on, the others to judge by. Kernels are scaled to `k(x, x) = 1`, for
//! objects differ in brightness, and powers up to 25 of what is left would vanish. With edges, four maps of slopes stand
//! and the image as in App. A.

use mercer::Result;
use mercer::data::{Dataset, Points};
use mercer::kernel::Kernel;
use mercer::model::svc::SvcParams;

use crate::Experiment;
use crate::data::COIL;
use crate::digits::{C, error_percent};
use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row, Unit};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "objects",
    shows: "Objects are recognised by machines trained on few views",
    paper: "Schoelkopf 1997, Secs. 2.2 and 4.4, on another set",
    notes: &[
        "The paper's images of chairs are not available, so the paper has no comparable numbers.",
        "Virtual: retrained on support vectors, mirrored and turned in the plane by five degrees.",
        "Components: kernel principal components of degree 3, then a linear machine (Table 3.1 of the paper).",
    ],
    needs: &[COIL],
    needs_full: &[COIL],
    seconds: 5,
    full: None,
    run,
};

const DEGREES: [u32; 7] = [1, 3, 6, 9, 12, 20, 25];
/// Components that the linear machine sees, at most.
const COMPONENTS: usize = 256;

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let copies = [("plain", "downsample(16, 16)"), ("with edges", "edges | downsample(16, 16)")];
    for (copy, stages) in copies {
        for (views, step) in [("every 8th view", 8), ("every 4th view", 4)] {
            lab.step(format!("{copy}, {views}"), rows.len(), 4 * (DEGREES.len() + 2))?;
            let split = crate::data::coil(&lab.settings.folder, stages, step, lab.settings.rows, lab.exec())?;
            let mut add = |setting: String, error| {
                rows.push(Row {
                    group: format!("{copy}, {views}"),
                    setting,
                    quantity: "test error",
                    paper: None,
                    mercer: error,
                    unit: Unit::Percent,
                    better: Better::Lower,
                    chosen: Chosen::Paper,
                });
            };
            let mut machines: Vec<(String, String)> = DEGREES
                .iter()
                .map(|degree| (format!("poly d={degree}"), format!("normalised(linear)^{degree}")))
                .collect();
            let local = "normalised(local(p=9, d1=3, d2=1, height=16, width=16))^3";
            machines.push(("k_9^{3,3}".into(), local.into()));
            for (setting, line) in machines {
                let model = lab.classifier(line.parse()?, C, &split.train)?;
                add(setting, error_percent(&model, &split.test, lab.exec())?);
            }
            let params = SvcParams {
                kernel: Some("normalised(linear)^3".parse()?),
                c: C,
                virtual_vectors: "mirror, rotate=5".parse()?,
                ..SvcParams::default()
            };
            let model = lab.machines(&params, &split.train)?;
            add("poly d=3, virtual".into(), error_percent(&model, &split.test, lab.exec())?);
            let kernel: Kernel = "normalised(linear)^3".parse()?;
            let most = COMPONENTS.min(split.train.len() - 1);
            let components = lab.components(kernel, &split.train.points, most, true)?;
            let exec = lab.exec();
            let features = |data: &Dataset| -> Result<Dataset> {
                let values = components.decision(data.points.view(), exec)?;
                Dataset::new(Points::dense(values, components.outputs())?, data.targets.clone())
            };
            let (train, test) = (features(&split.train)?, features(&split.test)?);
            let model = lab.classifier(Kernel::Linear, C, &train)?;
            add("components, linear".into(), error_percent(&model, &test, lab.exec())?);
        }
    }
    Ok(rows)
}
