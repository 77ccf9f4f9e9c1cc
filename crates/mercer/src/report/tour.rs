//! What the tour shows: each step in a few lines, with the command that does it on own data.

use serde::Serialize;

use crate::report::{DataInfo, KernelCheck, Page, Report, Tone, Trial, count, number, seconds};

/// The tour, step by step.
#[derive(Debug, Clone, Serialize)]
pub struct Tour {
    /// The points it starts from.
    pub data: DataInfo,
    /// Number of kernels there are.
    pub kernels: usize,
    /// The kernel that suits the points, and how it sees them.
    pub check: KernelCheck,
    /// A support vector machine on three quarters of the points, tested on the others.
    pub trial: Trial,
    /// The regions into which that machine divides the plane, with the points it is made of.
    #[serde(skip)]
    pub regions: Vec<String>,
    /// Seconds all of it took.
    pub seconds: f64,
}

impl Report for Tour {
    fn write(&self, page: &mut Page) {
        page.title("A tour of Mercer", "nothing to install, nothing to download");

        page.step(1, "Data");
        page.paragraph(&format!(
            "{} points of the plane in two classes, {}. No straight line parts them.",
            count(self.data.summary.rows),
            self.data.source
        ));
        page.blank();
        page.drawing(&self.data.drawing, true);
        page.blank();
        page.command("mercer data toy banana banana.csv", "makes these points");
        page.command("mercer data info banana.csv", "says all about them, and what looks wrong");

        page.step(2, "A kernel");
        page.paragraph(&format!(
            "A kernel says how alike two points are, and by that maps them to a feature space where straight lines are \
             enough. There are {} to choose from and to combine. The median distance between the points suggests",
            self.kernels
        ));
        page.blank();
        let line = page.tint(Tone::Strong, &self.check.kernel);
        page.drawing(&[format!("  {line}")], false);
        page.blank();
        page.command("mercer kernel list", "every kernel with its formula");

        page.step(3, "Feature space");
        if let Some(sight) = &self.check.points {
            page.paragraph(&format!(
                "All {0} x {0} kernel values make the Gram matrix. Its eigenvalues say how the points spread in feature \
                 space, which has infinitely many dimensions: in about {1} of them.",
                count(sight.sample),
                number(sight.directions.round())
            ));
            page.blank();
            sight.spectrum(page);
        }
        page.blank();
        page.command("mercer kernel check LINE DATA", "how a kernel sees data");
        page.command("mercer kernel gram DATA -k LINE -o F", "the matrix itself");
        page.command("mercer kernel geometry LINE --at X", "how the map bends space");

        page.step(4, "Learning");
        page.paragraph(
            "A support vector machine finds the hyperplane in feature space with the widest margin between the classes. \
             Back in the plane it is a curve. Drawn are only the points that hold it in place: all others could be \
             forgotten.",
        );
        page.blank();
        page.drawing(&self.regions, true);
        page.blank();
        self.trial.write(page);

        page.blank();
        page.remark(Tone::Good, '✓', &format!("All of it took {}.", seconds(self.seconds)));
    }
}
