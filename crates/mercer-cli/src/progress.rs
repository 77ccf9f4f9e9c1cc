//! A bar for long work: a closure that the library calls at each step.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mercer::report::number;
use mercer::watch::Step;

use crate::context::Context;

/// Work that ends sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(400);

/// A bar on standard error, there only on a terminal and only when the run is not quiet.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    start: Instant,
    shown: bool,
}

impl Progress {
    /// A bar that has not been drawn yet.
    pub(crate) fn new(context: &Context) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Progress { bar, start: Instant::now(), shown: context.quiet }
    }

    /// The closure to watch with. The bar goes away with it.
    pub(crate) fn watch(mut self) -> impl FnMut(&Step) -> ControlFlow<()> + Send {
        move |step: &Step| {
            self.draw(step);
            ControlFlow::Continue(())
        }
    }

    fn draw(&mut self, step: &Step) {
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
        self.bar.set_message(message(step));
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
    fn the_message_holds_what_is_known() {
        let step = Step::new("solve", 3, Some(10));
        assert_eq!(message(&step), "");
        assert_eq!(message(&step.gap(0.012_34).centres(7)), "gap 0.01234, 7 SVs");
    }
}
