//! Machines with different kernels find nearly the same support vectors (Schoelkopf 1997, Tables 2.5 to 2.10).
//!
//! Polynomial (d = 3), Gaussian (c = .8) and sigmoid (T = 1.0) machines on the USPS digits, C = 10. Which share of one
//! machine's support vectors another one has too, with all ten classes and for digit 7 against the rest, with the
//! training rows in the same order and permuted; and digit 7 learned from another kernel's support vectors only, from all
//! rows, and from 200 rows at random. In full also digit 0 of MNIST (Table 2.8).
//!
//! The sigmoid kernel with the paper's threshold does badly on this copy of the digits, so there is a second round with
//! a threshold chosen on training rows.

use std::collections::BTreeSet;

use mercer::Result;
use mercer::data::{Dataset, split};

use crate::Experiment;
use crate::data::{MNIST, Split, USPS, Usps};
use crate::digits::{C, Named, digit_or_rest, errors, mean_support, support};
use crate::kernels::{poly, rbf, sigmoid};
use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row, Unit};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "sv-overlap",
    shows: "Different kernels find nearly the same support vectors, and can be trained on each other's",
    paper: "Schoelkopf 1997, Tables 2.5 to 2.10",
    notes: &[
        "`a in b` is the share of a's support vectors that b has too.",
        "The paper's threshold of the sigmoid kernel was its best on the test set; on this copy of the digits others are \
         better.",
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
    /// Table 2.10: errors of digit 7, a row a kernel, trained on the support vectors of poly, rbf, sigmoid, on all
    /// rows, on 200 at random.
    pub(super) const TRAINED: [[f64; 5]; 3] =
        [[13.0, 13.0, 12.0, 13.0, 23.0], [17.0, 13.0, 17.0, 15.0, 27.0], [15.0, 13.0, 13.0, 15.0, 25.0]];
}

const SUBSETS: u64 = 9;
const SUBSET: usize = 200;

/// A set of support vectors.
type Set = BTreeSet<u32>;

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for copy in Usps::BOTH {
        let digits = lab.usps(copy)?;
        let d = digits.train.dim();
        let validated = lab.validated_threshold(&digits.train)?;
        for (threshold, chosen) in [(1.0, Chosen::Paper), (validated, Chosen::Validation)] {
            let kernels =
                [("poly", poly(3, d)), ("rbf", rbf(0.8, d)), ("sigmoid", sigmoid(threshold, d))];
            let mut sheet = Sheet {
                head: format!("{}, T={threshold}", copy.name()),
                chosen,
                known: copy == Usps::Smoothed && lab.settings.rows.is_none(),
                rows: &mut rows,
            };
            ten_classes(lab, &kernels, &digits, &mut sheet)?;
            digit_seven(lab, &kernels, &digits, &mut sheet)?;
        }
    }
    if lab.settings.full {
        digit_zero(lab, &mut rows)?;
    }
    Ok(rows)
}

/// Where rows of one round are written.
struct Sheet<'a> {
    head: String,
    chosen: Chosen,
    /// Whether the paper's numbers belong here.
    known: bool,
    rows: &'a mut Vec<Row>,
}

impl Sheet<'_> {
    fn add(&mut self, table: &str, setting: String, quantity: &'static str, paper: f64, mercer: f64) {
        let (unit, better) = match quantity {
            "overlap" | "in all three" => (Unit::Percent, Better::Near),
            "test errors" => (Unit::Count, Better::Lower),
            _ => (Unit::Count, Better::Near),
        };
        self.rows.push(Row {
            group: format!("{}, {table}", self.head),
            setting,
            quantity,
            paper: self.known.then_some(paper),
            mercer,
            unit,
            better,
            chosen: self.chosen,
        });
    }

    /// Shares of each set in each other one; those of a set in itself only where it was found twice.
    fn overlaps(&mut self, table: &str, kernels: &[Named; 3], of: &[Set; 3], among: &[Set; 3], paper: [[f64; 3]; 3]) {
        for (row, column) in (0..9).map(|k| (k / 3, k % 3)) {
            if row != column || of[row] != among[row] {
                let setting = format!("{} in {}", kernels[column].0, kernels[row].0);
                let share = share(&of[column], &among[row]);
                self.add(table, setting, "overlap", paper[row][column], share);
            }
        }
    }

    /// What three sets have in common.
    fn shared(&mut self, table: &str, kernels: &[Named; 3], sets: &[Set; 3], paper: [f64; 3], shares: [f64; 3]) {
        let any: Set = sets.iter().flatten().copied().collect();
        let found = |row: &u32| sets.iter().filter(|set| set.contains(row)).count();
        let all = any.iter().filter(|row| found(row) == 3).count() as f64;
        let two = any.iter().filter(|row| found(row) == 2).count() as f64;
        for ((name, paper), got) in
            ["all three kernels", "two kernels", "any kernel"].iter().zip(paper).zip([all, two, any.len() as f64])
        {
            self.add(table, (*name).into(), "SVs", paper, got);
        }
        for ((kernel, set), paper) in kernels.iter().zip(sets).zip(shares) {
            self.add(table, kernel.0.into(), "in all three", paper, 100.0 * all / set.len() as f64);
        }
    }
}

/// The share of a set that is in another, in hundredths.
fn share(of: &Set, among: &Set) -> f64 {
    100.0 * of.intersection(among).count() as f64 / of.len() as f64
}

/// Tables 2.5, 2.6 above, 2.7.
fn ten_classes(lab: &mut Lab<'_>, kernels: &[Named; 3], digits: &Split, sheet: &mut Sheet<'_>) -> Result<()> {
    let mut sets: [Set; 3] = Default::default();
    for (k, (name, kernel)) in kernels.iter().enumerate() {
        lab.step(format!("{}, ten classes, {name}", sheet.head), k, 6)?;
        let model = lab.classifier(kernel.clone(), C, &digits.train)?;
        sets[k] = model.support.iter().copied().collect();
        let table = "ten classes (Table 2.5)";
        sheet.add(table, (*name).into(), "SVs in all", paper::TOTAL[k], sets[k].len() as f64);
        sheet.add(table, (*name).into(), "SVs a machine", paper::MEAN[k], mean_support(&model));
    }
    sheet.overlaps("ten classes (Table 2.6)", kernels, &sets, &sets, paper::TEN);
    sheet.shared("ten classes (Table 2.7)", kernels, &sets, paper::SHARED, paper::SHARES);
    Ok(())
}

/// Tables 2.6 below, 2.9, 2.10.
fn digit_seven(lab: &mut Lab<'_>, kernels: &[Named; 3], digits: &Split, sheet: &mut Sheet<'_>) -> Result<()> {
    let (train, test) = (digit_or_rest(&digits.train, "7")?, digit_or_rest(&digits.test, "7")?);
    let order = split::shuffle(train.len(), 0);
    let permuted = train.gather(&order);
    let mut sets: [Set; 3] = Default::default();
    let mut sets_permuted: [Set; 3] = Default::default();
    let mut on_all = [0; 3];
    for (k, (name, kernel)) in kernels.iter().enumerate() {
        lab.step(format!("{}, digit 7, {name}", sheet.head), 3 + k, 6)?;
        let model = lab.classifier(kernel.clone(), C, &train)?;
        sets[k] = support(&model.machines[0]).into_iter().collect();
        on_all[k] = errors(&model, &test, lab.par())?;
        let model = lab.classifier(kernel.clone(), C, &permuted)?;
        sets_permuted[k] = support(&model.machines[0]).iter().map(|&r| order[r as usize] as u32).collect();
    }
    sheet.overlaps("digit 7 (Table 2.6)", kernels, &sets, &sets, paper::SEVEN);
    sheet.overlaps("digit 7, rows permuted (Table 2.9)", kernels, &sets_permuted, &sets, paper::PERMUTED);
    for (k, (name, kernel)) in kernels.iter().enumerate() {
        let mut trained = |rows: &[usize]| -> Result<usize> {
            let model = lab.classifier(kernel.clone(), C, &train.gather(rows))?;
            errors(&model, &test, lab.par())
        };
        let table = format!("digit 7, {name} trained on (Table 2.10)");
        for (from, set) in sets.iter().enumerate() {
            let rows: Vec<usize> = set.iter().map(|&r| r as usize).collect();
            let setting = format!("{} SVs of {}", rows.len(), kernels[from].0);
            sheet.add(&table, setting, "test errors", paper::TRAINED[k][from], trained(&rows)? as f64);
        }
        let all = format!("all {} rows", train.len());
        sheet.add(&table, all, "test errors", paper::TRAINED[k][3], on_all[k] as f64);
        let mut random = (0..SUBSETS)
            .map(|seed| trained(&split::shuffle(train.len(), seed)[..SUBSET.min(train.len())]))
            .collect::<Result<Vec<usize>>>()?;
        random.sort_unstable();
        let median = random[random.len() / 2] as f64;
        sheet.add(&table, format!("{SUBSET} rows at random"), "test errors", paper::TRAINED[k][4], median);
    }
    Ok(())
}

/// Table 2.8: parameters for which the three sets have about the same size.
fn digit_zero(lab: &mut Lab<'_>, rows: &mut Vec<Row>) -> Result<()> {
    lab.step("reading MNIST", 0, 4)?;
    let train: Dataset = digit_or_rest(&lab.mnist()?.train, "0")?;
    let d = train.dim();
    let kernels = [("poly", poly(4, d)), ("rbf", rbf(0.6, d)), ("sigmoid", sigmoid(1.5, d))];
    let known = lab.settings.rows.is_none();
    let mut sheet = Sheet { head: "MNIST".into(), chosen: Chosen::Paper, known, rows };
    let mut sets: [Set; 3] = Default::default();
    let table = "digit 0 (Table 2.8)";
    for (k, (name, kernel)) in kernels.iter().enumerate() {
        lab.step(format!("MNIST, digit 0, {name}"), 1 + k, 4)?;
        let model = lab.classifier(kernel.clone(), C, &train)?;
        sets[k] = support(&model.machines[0]).into_iter().collect();
        sheet.add(table, (*name).into(), "SVs", paper::ZERO[k], sets[k].len() as f64);
    }
    sheet.shared(table, &kernels, &sets, paper::ZERO_SHARED, paper::ZERO_SHARES);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_first_set() {
        let (a, b) = (Set::from([1, 2, 3, 4]), Set::from([2, 3, 9]));
        assert_eq!(share(&a, &b), 50.0);
        assert_eq!(share(&a, &a), 100.0);
    }
}
