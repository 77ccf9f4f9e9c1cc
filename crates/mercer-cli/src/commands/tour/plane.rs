//! The stops in the plane: decision boundaries, and how the solver converges.

use std::ops::ControlFlow;

use mercer::Result;
use mercer::kernel::Kernel;
use mercer::model::svc::Multi;
use mercer::model::{Sample, SvcParams};
use mercer_report::html::{Figure, Section};
use mercer_report::svg::{Axis, Chart, Learned, Series, learned, progress};
use mercer_report::{Stop, count};

use super::guide::Guide;

/// Regions and margins of four toy sets.
pub(super) fn borders(guide: &Guide<'_>) -> Result<Stop> {
    let mut section = Section::new(
        "Decision boundaries in the plane",
        "The hyperplane with the largest margin in feature space is a curve in the plane: the solid line. The dashed lines \
         are the margin. The support vectors are circled: the decision function depends on no other points.",
    );
    let sets = [
        ("banana", 240, 10.0, None, "Two interleaved crescents."),
        ("ring", 200, 10.0, None, "A ring around a cloud."),
        ("spirals", 300, 1000.0, Some(20.0), "Two interleaved spirals."),
        ("clusters", 150, 10.0, None, "Three clusters, one-vs-rest."),
    ];
    let mut facts = Vec::new();
    for (name, rows, c, gamma, caption) in sets {
        let data = guide.toy(name, rows)?;
        let kernel = gamma.map(|gamma| Kernel::Rbf { gamma });
        let params = SvcParams { c, kernel, multi: Multi::OneVsRest, ..SvcParams::default() };
        let model = guide.classifier(&params, &data)?;
        let svc = &model.machine;
        facts.push((name, svc.support.len(), rows));
        let picture = learned(&model, Learned::training(caption, &model, &data), guide.exec)?;
        let held =
            format!("{caption} {} of {} points are support vectors.", count(svc.support.len()), count(rows));
        section.figures.push(Figure::svg(picture, held));
    }
    section.commands = vec![
        ("mercer data toy banana banana.csv".into(), "generates points like these".into()),
        ("mercer train banana.csv --c 10 -o banana.mercer".into(), "trains the machine".into()),
        ("mercer explain banana.mercer banana.csv".into(), "describes the model".into()),
    ];
    let (_, support, rows) = facts[0];
    let seen = format!("{support} of {rows} points are support vectors");
    let stop = Stop::new("Boundaries", seen, "mercer train DATA --c 10 -o MODEL", section);
    Ok(facts.into_iter().fold(stop, |stop, (name, support, _)| stop.fact(name, support)))
}

/// How a solver nears its optimum, and what C does.
pub(super) fn learning(guide: &Guide<'_>) -> Result<Stop> {
    let data = guide.toy("disc", 1200)?;
    let sample = Sample::new(&data.points, &data.targets);
    let mut gaps = Vec::new();
    let params = SvcParams { c: 1000.0, ..SvcParams::default() };
    let model = params.fit(sample, guide.exec, &mut |step| {
        gaps.extend(step.gap.map(|gap| (step.done as f64, gap)));
        ControlFlow::Continue(())
    })?;
    gaps.push((model.info.iterations as f64, model.info.gap));
    let (mut support, mut wrong) = (Vec::new(), Vec::new());
    let test = mercer::data::toy::by_name("disc", 1200, guide.seed + 1)?;
    for exponent in -2..=4 {
        let c = 10f64.powi(exponent);
        let model = guide.svc(&SvcParams { c, ..SvcParams::default() }, &data)?;
        let got = model.labels(test.0.view(), guide.exec)?;
        let want = test.1.classes()?;
        let errors = (0..got.len()).filter(|&i| got.name_of(i) != want.name_of(i)).count();
        support.push((c, 100.0 * model.support.len() as f64 / data.len() as f64));
        wrong.push((c, 100.0 * errors as f64 / got.len() as f64));
    }
    let least = wrong.iter().map(|w| w.1).fold(f64::INFINITY, f64::min);
    let mut section = Section::new(
        "Convergence and C",
        "A disc with one label in ten wrong. The solver updates two variables at a time and stops when the largest violation \
         of the optimality conditions, the gap, is below the tolerance. C, the cost of an error, needs care: too small, and \
         every row is a support vector; too large, and the machine fits the wrong labels.",
    );
    section.figures = vec![
        Figure::svg(progress(&gaps, Some(params.tol)), "The gap over iterations at C = 1000."),
        Figure::svg(
            Chart::new(
                "Test error and support vectors over C",
                Axis::new("C").log(),
                Axis::new("per cent").range(0.0, 100.0),
                vec![Series::line("support vectors", support), Series::line("test error", wrong)],
            )
            .draw(),
            "The error cannot fall below ten per cent: that many labels are wrong.",
        ),
    ];
    section.commands = vec![(
        "mercer train DATA --c 10 -o MODEL".into(),
        "trains with a progress bar that shows the gap".into(),
    )];
    let seen = format!("{} iterations to a gap of {}", count(model.info.iterations as usize), params.tol);
    Ok(Stop::new("Convergence", seen, "mercer train DATA --c C -o MODEL", section)
        .fact("iterations", model.info.iterations)
        .fact("least_error_percent", least))
}
