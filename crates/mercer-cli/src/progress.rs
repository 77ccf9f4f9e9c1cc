//! A bar for long work: a closure that the library calls at each step.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mercer::watch::Step;
use mercer_report::number;

use crate::context::Context;
use crate::interrupt;

/// Work that ends sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(400);

/// Steps of a bar that goes by the gap.
const STEPS: u64 = 1000;

/// A bar on standard error, there only on a terminal and only when the run is not quiet.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    start: Instant,
    shown: bool,
    quiet: bool,
    /// Whether the work leaves something behind when it is interrupted.
    keeps: bool,
    /// The gap at which work that does not know its length ends.
    until: Option<f64>,
    first_gap: f64,
    share: f64,
}

impl Progress {
    /// A bar that has not been drawn yet.
    pub(crate) fn new(context: &Context) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Progress {
            bar,
            start: Instant::now(),
            shown: false,
            quiet: context.quiet,
            keeps: false,
            until: None,
            first_gap: 0.0,
            share: 0.0,
        }
    }

    /// The same for work that ends when its gap has come down to a tolerance: how far the gap's logarithm has come says
    /// how much is done.
    pub(crate) fn until(mut self, tol: f64) -> Self {
        self.until = Some(tol);
        self
    }

    /// The same for work that leaves something behind when it is interrupted: Ctrl-C asks it to stop. Other work is ended
    /// at once.
    pub(crate) fn keeping(mut self, keeps: bool) -> Self {
        self.keeps = keeps;
        self
    }

    /// The closure to watch with: draws, and breaks off when Ctrl-C was pressed. The bar goes away with it.
    pub(crate) fn watch(mut self) -> impl FnMut(&Step) -> ControlFlow<()> + Send {
        move |step: &Step| {
            // Not before: until the work has begun, data may be waited for, and only the system can end that.
            interrupt::listen(self.keeps);
            self.draw(step);
            if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }

    /// The progress estimated from the gap, if possible. It never decreases, although gaps sometimes grow.
    fn by_gap(&mut self, step: &Step) -> Option<f64> {
        let (until, gap) = (self.until?, step.gap.filter(|g| *g > 0.0 && g.is_finite())?);
        self.first_gap = self.first_gap.max(gap);
        let all = (self.first_gap / until).ln();
        if all > 0.0 {
            self.share = self.share.max((self.first_gap / gap).ln() / all).clamp(0.0, 1.0);
        }
        Some(self.share)
    }

    fn draw(&mut self, step: &Step) {
        if self.quiet {
            return;
        }
        let step = match self.by_gap(step) {
            Some(share) if step.total.is_none() => {
                let mut step = step.clone();
                (step.done, step.total) = ((share * STEPS as f64) as u64, Some(STEPS));
                step
            }
            _ => step.clone(),
        };
        if !self.shown {
            if self.start.elapsed() < PATIENCE {
                return;
            }
            // indicatif itself stays silent where standard error is no terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.shown = true;
        }
        if self.bar.length() != step.total {
            match step.total {
                Some(total) => self.bar.set_length(total),
                None => self.bar.unset_length(),
            }
            self.bar.set_style(style(step.total.is_some()));
        }
        self.bar.set_prefix(step.phase.clone());
        self.bar.set_message(message(&step));
        self.bar.set_position(step.done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn style(bounded: bool) -> ProgressStyle {
    let template = if bounded {
        "{prefix} {bar:30.cyan} {percent}% {msg} {eta} left"
    } else {
        "{spinner:.cyan} {prefix} {pos} {msg} {elapsed}"
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn message(step: &Step) -> String {
    let gap = step.gap.map(|gap| format!("gap {}", number(gap)));
    let centres = step.centres.map(|centres| format!("{centres} SVs"));
    gap.into_iter().chain(centres).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_tells_how_much_is_done() {
        let global = crate::args::Global {
            format: crate::args::Format::Text,
            quiet: true,
            threads: None,
            memory: None,
            device: mercer_cuda::Choice::Cpu,
            seed: 0,
        };
        let mut progress = Progress::new(&Context::new(&global).expect("the CPU")).until(1e-3);
        let mut share = |gap: f64| progress.by_gap(&Step::new("solve", 1, None).gap(gap)).expect("a gap");
        assert_eq!(share(10.0), 0.0);
        assert!((share(0.1) - 0.5).abs() < 1e-12);
        assert!((share(1.0) - 0.5).abs() < 1e-12, "a bar does not go back");
        assert_eq!(share(1e-4), 1.0);
    }

    #[test]
    fn the_message_holds_what_is_known() {
        let step = Step::new("solve", 3, Some(10));
        assert_eq!(message(&step), "");
        assert_eq!(message(&step.gap(0.012_34).centres(7)), "gap 0.01234, 7 SVs");
    }
}
