//! Machines with different kernels find nearly the same support vectors (Schoelkopf 1997, Tables 2.5 to 2.10).
//!
//! Polynomial (d = 3), Gaussian (c = .8) and sigmoid (T = 1.0) machines on the USPS digits, C = 10. Which share of one
//! machine's support vectors another one has too, with all ten classes and for digit 7 against the rest, with the
//! training rows in the same order and permuted; and digit 7 learned from another kernel's support vectors only, from all
//! rows, and from 200 rows at random. In full also digit 0 of MNIST (Table 2.8).
//!
//! The sigmoid kernel with the paper's threshold does badly on this copy of the digits, so what the sigmoid has a part
//! in is shown a second time, with a threshold chosen on training rows.

use mercer::Result;
use mercer::assess::{shared_by, support_overlap};
use mercer::data::{Dataset, split};
use mercer::kernel::Kernel;

use crate::Experiment;
use crate::data::{MNIST, Split, USPS, Usps};
use crate::digits::{C, digit_or_rest, errors, mean_support, support};
use crate::kernels::{poly, rbf, sigmoid};
use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row, Unit};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "sv-overlap",
    shows: "Different kernels find nearly the same support vectors, and can be trained on each other's",
    paper: "Schoelkopf 1997, Tables 2.5 to 2.10",
    notes: &[
        "T is the sigmoid kernel's threshold: the paper's was its best on the test set, but is a bad one for this copy of \
         the digits. Results that do not involve the sigmoid are shown once.",
        "Random subsets: the median of nine.",
    ],
    needs: &[USPS],
    needs_full: &[USPS, MNIST],
    seconds: 60,
    full: Some(180),
    run,
};

/// The paper's numbers, kernels in the order poly, rbf, sigmoid.
mod paper {
    /// Table 2.5: different support vectors of the ten machines, and of each on average.
    pub(super) const TOTAL: [f64; 3] = [1677.0, 1498.0, 1611.0];
    pub(super) const MEAN: [f64; 3] = [274.0, 235.0, 254.0];
    /// Table 2.6: share of the column's support vectors among the row's, ten classes and digit 7.
    pub(super) const TEN: [[f64; 3]; 3] = [[100.0, 93.0, 94.0], [83.0, 100.0, 87.0], [90.0, 93.0, 100.0]];
    pub(super) const SEVEN: [[f64; 3]; 3] = [[100.0, 84.0, 93.0], [89.0, 100.0, 92.0], [93.0, 86.0, 100.0]];
    /// Table 2.7: in all three, in exactly two, in any; shares that are in all three.
    pub(super) const SHARED: [f64; 3] = [1355.0, 242.0, 1834.0];
    pub(super) const SHARES: [f64; 3] = [81.0, 90.0, 84.0];
    /// Table 2.8, MNIST's digit 0: support vectors, and as Table 2.7.
    pub(super) const ZERO: [f64; 3] = [1187.0, 1179.0, 1194.0];
    pub(super) const ZERO_SHARED: [f64; 3] = [1054.0, 124.0, 1328.0];
    pub(super) const ZERO_SHARES: [f64; 3] = [89.0, 89.0, 88.0];
    /// Table 2.9: as Table 2.6 for digit 7, training rows permuted.
    pub(super) const PERMUTED: [[f64; 3]; 3] = [[92.0, 82.0, 90.0], [88.0, 92.0, 84.0], [91.0, 84.0, 93.0]];
    /// Table 2.10: sizes of the sets; errors of digit 7, a row a kernel, trained on the support vectors of poly, rbf, sigmoid, on all
    /// rows, on 200 at random.
    pub(super) const SIZES: [f64; 3] = [178.0, 189.0, 177.0];
    pub(super) const TRAINED: [[f64; 5]; 3] =
        [[13.0, 13.0, 12.0, 13.0, 23.0], [17.0, 13.0, 17.0, 15.0, 27.0], [15.0, 13.0, 13.0, 15.0, 25.0]];
}

const SUBSETS: u64 = 9;
const SUBSET: usize = 200;
/// The kernels of the tables.
const NAMES: [&str; 3] = ["poly", "rbf", "sigmoid"];

/// A set of support vectors, by row.
type Set = Vec<u32>;

/// What was found with one kernel.
struct Found {
    kernel: Kernel,
    /// Support vectors of the ten machines together.
    ten: Set,
    /// How many each machine has on average.
    mean: f64,
    /// Support vectors of digit 7 against the rest.
    seven: Set,
    /// The same with the training rows permuted.
    permuted: Set,
    /// Test errors of digit 7.
    errors: usize,
}

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for copy in Usps::BOTH {
        let digits = lab.usps(copy)?;
        let d = digits.train.dim();
        let validated = lab.validated_threshold(&digits.train)?;
        let kernels = [poly(3, d), rbf(0.8, d), sigmoid(1.0, d), sigmoid(validated, d)];
        let seven =
            Split { train: digit_or_rest(&digits.train, "7")?, test: digit_or_rest(&digits.test, "7")? };
        let mut found = Vec::new();
        for (k, kernel) in kernels.into_iter().enumerate() {
            lab.step(format!("{}, {kernel}", copy.name()), k, 6)?;
            found.push(search(lab, kernel, &digits.train, &seven)?);
        }
        let known = copy == Usps::Smoothed && lab.settings.rows.is_none();
        for (fourth, threshold, chosen) in [(2, 1.0, Chosen::Paper), (3, validated, Chosen::Validation)] {
            lab.step(format!("{}, on each other's support vectors", copy.name()), 2 + fourth, 6)?;
            let head = format!("{}, T={threshold}", copy.name());
            let mut sheet = Sheet { head, chosen, known, rows: &mut rows };
            let three = [&found[0], &found[1], &found[fourth]];
            ten_classes(three, &mut sheet);
            digit_seven(lab, three, &seven, &mut sheet)?;
        }
    }
    if lab.settings.full {
        digit_zero(lab, &mut rows)?;
    }
    Ok(rows)
}

/// All machines of one kernel.
fn search(lab: &mut Lab<'_>, kernel: Kernel, train: &Dataset, seven: &Split) -> Result<Found> {
    let model = lab.classifier(kernel.clone(), C, train)?;
    let (ten, mean) = (model.support.clone(), mean_support(&model));
    let model = lab.classifier(kernel.clone(), C, &seven.train)?;
    let errors = errors(&model, &seven.test, lab.exec())?;
    let order = split::shuffle(train.len(), 0);
    let again = lab.classifier(kernel.clone(), C, &seven.train.gather(&order))?;
    Ok(Found {
        kernel,
        ten,
        mean,
        seven: support(&model.parts[0]),
        permuted: support(&again.parts[0]).iter().map(|&r| order[r as usize] as u32).collect(),
        errors,
    })
}

/// Where the rows of one round are written.
struct Sheet<'a> {
    head: String,
    chosen: Chosen,
    /// Whether the paper's numbers belong here.
    known: bool,
    rows: &'a mut Vec<Row>,
}

impl Sheet<'_> {
    /// A row, unless it is the second round and the sigmoid kernel, by its place the last, has no part in it.
    fn add(
        &mut self,
        kernels: &[usize],
        [table, setting]: [&str; 2],
        quantity: &'static str,
        paper: f64,
        mercer: f64,
    ) {
        if self.chosen == Chosen::Validation && !kernels.contains(&2) {
            return;
        }
        let (unit, better) = match quantity {
            _ if quantity.ends_with("errors") => (Unit::Count, Better::Lower),
            _ if table.contains("2.6") || table.contains("2.9") => (Unit::Percent, Better::Near),
            "in all three" => (Unit::Percent, Better::Near),
            _ => (Unit::Count, Better::Near),
        };
        self.rows.push(Row {
            group: format!("{}, {table}", self.head),
            setting: setting.into(),
            quantity,
            paper: self.known.then_some(paper),
            mercer,
            unit,
            better,
            chosen: self.chosen,
        });
    }

    /// Shares of each set among each other one, and, where sets were found twice, among itself.
    fn overlaps(&mut self, table: &str, of: [&Set; 3], among: [&Set; 3], twice: bool, paper: [[f64; 3]; 3]) {
        for (row, column) in (0..9).map(|k| (k / 3, k % 3)) {
            if row != column || twice {
                let setting = format!("among those of {}", NAMES[row]);
                let quantity = ["SVs of poly", "SVs of rbf", "SVs of sigmoid"][column];
                let got = share(of[column], among[row]);
                self.add(&[row, column], [table, &setting], quantity, paper[row][column], got);
            }
        }
    }

    /// What three sets have in common.
    fn shared(&mut self, table: &str, sets: [&Set; 3], paper: [f64; 3], shares: [f64; 3]) {
        let counts = shared_by(&sets.map(Vec::as_slice));
        let (two, all, any) = (counts[1] as f64, counts[2] as f64, counts.iter().sum::<usize>() as f64);
        let names = ["all three kernels", "two of them", "any of them"];
        for ((name, paper), got) in names.into_iter().zip(paper).zip([all, two, any]) {
            self.add(&[0, 1, 2], [table, name], "SVs", paper, got);
        }
        for ((name, set), paper) in NAMES.into_iter().zip(sets).zip(shares) {
            self.add(&[0, 1, 2], [table, name], "in all three", paper, 100.0 * all / set.len() as f64);
        }
    }
}

/// The share of a set that is in another, in hundredths.
fn share(of: &[u32], among: &[u32]) -> f64 {
    100.0 * support_overlap(of, among).of_first
}

/// Tables 2.5, 2.6 above, 2.7.
fn ten_classes(three: [&Found; 3], sheet: &mut Sheet<'_>) {
    let table = "ten classes (Table 2.5)";
    for (k, found) in three.into_iter().enumerate() {
        sheet.add(&[k], [table, NAMES[k]], "SVs in all", paper::TOTAL[k], found.ten.len() as f64);
        sheet.add(&[k], [table, NAMES[k]], "SVs per machine", paper::MEAN[k], found.mean);
    }
    let sets = three.map(|found| &found.ten);
    sheet.overlaps("ten classes (Table 2.6)", sets, sets, false, paper::TEN);
    sheet.shared("ten classes (Table 2.7)", sets, paper::SHARED, paper::SHARES);
}

/// Tables 2.6 below, 2.9, 2.10.
fn digit_seven(lab: &mut Lab<'_>, three: [&Found; 3], seven: &Split, sheet: &mut Sheet<'_>) -> Result<()> {
    let (sets, permuted) = (three.map(|found| &found.seven), three.map(|found| &found.permuted));
    sheet.overlaps("digit 7 (Table 2.6)", sets, sets, false, paper::SEVEN);
    sheet.overlaps("digit 7, rows permuted (Table 2.9)", permuted, sets, true, paper::PERMUTED);
    let n = seven.train.len();
    let table = "digit 7 (Table 2.10)";
    for k in 0..3 {
        let mut trained = |rows: &[usize]| -> Result<usize> {
            let model = lab.classifier(three[k].kernel.clone(), C, &seven.train.gather(rows))?;
            errors(&model, &seven.test, lab.exec())
        };
        let quantity = ["poly errors", "rbf errors", "sigmoid errors"][k];
        for (from, set) in sets.into_iter().enumerate() {
            let rows: Vec<usize> = set.iter().map(|&r| r as usize).collect();
            let setting = format!("trained on SVs of {}", NAMES[from]);
            if k == 0 {
                sheet.add(&[from], [table, &setting], "rows", paper::SIZES[from], rows.len() as f64);
            }
            sheet.add(
                &[k, from],
                [table, &setting],
                quantity,
                paper::TRAINED[k][from],
                trained(&rows)? as f64,
            );
        }
        let setting = "trained on all rows";
        sheet.add(&[k], [table, setting], quantity, paper::TRAINED[k][3], three[k].errors as f64);
        let mut random = (0..SUBSETS)
            .map(|seed| trained(&split::shuffle(n, seed)[..SUBSET.min(n)]))
            .collect::<Result<Vec<usize>>>()?;
        random.sort_unstable();
        let setting = format!("trained on {SUBSET} at random");
        sheet.add(&[k], [table, &setting], quantity, paper::TRAINED[k][4], random[random.len() / 2] as f64);
    }
    Ok(())
}

/// Table 2.8: parameters for which the three sets have about the same size.
fn digit_zero(lab: &mut Lab<'_>, rows: &mut Vec<Row>) -> Result<()> {
    lab.step("reading MNIST", 0, 4)?;
    let train = digit_or_rest(&lab.mnist()?.train, "0")?;
    let d = train.dim();
    let known = lab.settings.rows.is_none();
    let mut sheet = Sheet { head: "MNIST".into(), chosen: Chosen::Paper, known, rows };
    let mut sets: [Set; 3] = Default::default();
    let table = "digit 0 (Table 2.8)";
    for (k, kernel) in [poly(4, d), rbf(0.6, d), sigmoid(1.5, d)].into_iter().enumerate() {
        lab.step(format!("MNIST, digit 0, {kernel}"), 1 + k, 4)?;
        let model = lab.classifier(kernel, C, &train)?;
        sets[k] = support(&model.parts[0]);
        sheet.add(&[k], [table, NAMES[k]], "SVs", paper::ZERO[k], sets[k].len() as f64);
    }
    sheet.shared(table, sets.each_ref(), paper::ZERO_SHARED, paper::ZERO_SHARES);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_first_set() {
        let (a, b) = ([1, 2, 3, 4], [2, 3, 9]);
        assert_eq!(share(&a, &b), 50.0);
        assert_eq!(share(&a, &a), 100.0);
    }
}
