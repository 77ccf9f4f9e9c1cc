//! Machines for large data on rows in several places, with held-out rows, equal rows and weights; components on landmarks in
//! blocks.

use std::ops::Range;

use mercer::data::io::Source;
use mercer::data::{Csr, Dataset, Points, Targets, toy};
use mercer::kernel::Kernel;
use mercer::model::{
    CompressParams, Goal, KpcaMethod, KpcaParams, Landmarks, LargeAsk, LargeCentres, LargeFunction,
    LargeLoss, LargeParams, LargeRows, LargeShard, LargeSums, Machine, Model, Role, Sample, onnx,
};
use mercer::reduce::reduced_set::Size;
use mercer::watch::{Stop, silent};
use mercer::{Exec, Result};
use mercer_testkit::assert::{close, close_to_scale};

/// Several places, always asked in the same order.
struct All(Vec<LargeShard>);

impl LargeRows for All {
    fn rows(&self) -> usize {
        self.0.iter().map(LargeRows::rows).sum()
    }

    fn weight(&self) -> f64 {
        self.0.iter().map(LargeRows::weight).sum()
    }

    fn pass(&self, ask: &LargeAsk<'_>) -> Result<LargeSums> {
        let mut sums = self.0[0].pass(ask)?;
        for shard in &self.0[1..] {
            sums.add(&shard.pass(ask)?);
        }
        Ok(sums)
    }
}

fn forms(points: &Points) -> Vec<Points> {
    let d = points.dim();
    let values: Vec<f64> =
        points.view().to_f64().expect("numbers").iter().map(|v| f64::from(*v as f32)).collect();
    let mut csr = Csr { start: vec![0], ..Csr::default() };
    for row in values.chunks(d) {
        csr.column.extend(0..d as u32);
        csr.value.extend(row);
        csr.start.push(csr.column.len());
    }
    vec![
        Points::dense_f32(values.iter().map(|v| *v as f32).collect(), d).expect("rows"),
        Points::sparse(csr, d).expect("rows"),
        Points::dense(values, d).expect("rows"),
    ]
}

fn numbers(targets: &Targets) -> Vec<f64> {
    match targets {
        Targets::Reals(y) => y.clone(),
        Targets::Classes(labels) => labels.of_row.iter().map(|&c| f64::from(c)).collect(),
        Targets::None => Vec::new(),
    }
}

fn decided(machine: &Machine, points: &Points) -> Vec<f64> {
    machine.decision(points.view(), Exec::one()).expect("points")
}

fn sharded(params: &LargeParams, points: &Points, targets: &Targets, cuts: &[usize]) -> (LargeCentres, All) {
    let centres = params.centres(Sample::new(points, targets), points.len(), Exec::one()).expect("centres");
    // What travels is what was sent.
    let centres = LargeCentres::from_bytes(&centres.to_bytes().expect("bytes")).expect("centres");
    let y = numbers(targets);
    let shard = |pair: &[usize]| {
        let places: Vec<usize> = (pair[0]..pair[1]).collect();
        params
            .shard(&centres, points.gather(&places), y[pair[0]..pair[1]].to_vec(), Vec::new(), Exec::new(2))
            .expect("a shard")
    };
    let all = All(cuts.windows(2).map(shard).collect());
    (centres, all)
}

#[test]
fn rows_in_several_places_give_the_machine_of_one_place() {
    let (sinc, reals) = toy::sinc(700, 1);
    let (banana, two) = toy::banana(700, 2);
    let (clusters, three) = toy::three_clusters(700, 3);
    for (points, targets) in [(&sinc, &reals), (&banana, &two), (&clusters, &three)] {
        for points in forms(points) {
            for loss in [LargeLoss::Squared, LargeLoss::Logistic, LargeLoss::SquaredHinge] {
                if loss != LargeLoss::Squared && matches!(targets, Targets::Reals(_)) {
                    continue;
                }
                for place in [Landmarks::Uniform, Landmarks::Kmeans, Landmarks::Cholesky] {
                    let kernel = Some(Kernel::Rbf { gamma: 0.8 });
                    let params = LargeParams {
                        centres: 25,
                        loss,
                        place,
                        kernel,
                        tol: 1e-10,
                        seed: 5,
                        ..LargeParams::default()
                    };
                    let sample = Sample::new(&points, targets);
                    let want = params.fit(sample, Exec::new(2), &mut silent()).expect("good data");
                    let (centres, all) = sharded(&params, &points, targets, &[0, 1, 333, 700]);
                    let got = params.fit_rows(&centres, &all, Exec::one(), &mut silent()).expect("good data");
                    assert_eq!(got.info.stop, Stop::Converged);
                    close_to_scale(&decided(&got, &points), &decided(&want, &points), 1e-6);
                    assert_eq!((got.role, got.calibration), (want.role, want.calibration));
                }
            }
        }
    }
}

#[test]
fn a_shard_refuses_what_does_not_fit() {
    let (points, targets) = toy::three_clusters(90, 3);
    let params = LargeParams { centres: 10, ..LargeParams::default() };
    let exec = Exec::one();
    let (centres, all) = sharded(&params, &points, &targets, &[0, 40, 90]);
    let y = numbers(&targets);
    let refused = |y: Vec<f64>, w: Vec<f64>| params.shard(&centres, points.clone(), y, w, exec).is_err();
    assert!(refused(y[1..].to_vec(), Vec::new()));
    assert!(refused(y.clone(), vec![1.0]));
    assert!(refused(y.clone(), vec![-1.0; 90]));
    assert!(refused(vec![3.0; 90], Vec::new()) && refused(vec![0.5; 90], Vec::new()));
    assert!(refused(vec![f64::NAN; 90], Vec::new()));
    let short = LargeFunction { number: 1, coef: &[0.0; 10], offset: &[0.0] };
    assert!(all.pass(&LargeAsk::Slope { at: short }).is_err());
    // Along any number of outputs, where the curvature is 1.
    assert!(all.pass(&LargeAsk::Bend { at: None, along: short }).is_ok());
    assert!(LargeCentres::from_bytes(b"nonsense").is_err());
}

#[test]
fn equal_rows_weigh_as_much_as_they_are() {
    let (points, targets) = toy::banana(120, 4);
    let weight: Vec<f64> = (0..120).map(|i| [1.0, 3.0, 2.0][i % 3]).collect();
    let repeated: Vec<usize> = (0..120).flat_map(|i| vec![i; [1, 3, 2][i % 3]]).collect();
    let many = points.gather(&repeated);
    let classes = targets.classes().expect("classes");
    let of_row = repeated.iter().map(|&i| classes.of_row[i]).collect();
    let theirs = Targets::Classes(mercer::data::Labels { names: classes.names.clone(), of_row });
    for loss in [LargeLoss::Squared, LargeLoss::Logistic, LargeLoss::SquaredHinge] {
        let kernel = Some(Kernel::Rbf { gamma: 0.8 });
        let params = LargeParams { centres: 40, loss, kernel, tol: 1e-11, ..LargeParams::default() };
        let weighted = Sample::new(&points, &targets).weighted(&weight);
        let want = params.fit(weighted, Exec::one(), &mut silent()).expect("good data");
        let got = params.fit(Sample::new(&many, &theirs), Exec::one(), &mut silent()).expect("good data");
        assert!(got.info.notes.iter().any(|note| note.contains("240 rows, of which 120 are distinct")));
        close_to_scale(&decided(&got, &points), &decided(&want, &points), 1e-6);
    }
}

#[test]
fn held_out_rows_tell_the_error_of_a_path() {
    let (points, targets) = toy::banana(3000, 6);
    let (sinc, reals) = toy::sinc(3000, 6);
    for (points, targets, loss) in [
        (&points, &targets, LargeLoss::Squared),
        (&points, &targets, LargeLoss::Logistic),
        (&points, &targets, LargeLoss::SquaredHinge),
        (&sinc, &reals, LargeLoss::Squared),
    ] {
        let params = LargeParams { centres: 64, loss, path: 3, ..LargeParams::default() };
        let machine =
            params.fit(Sample::new(points, targets), Exec::new(2), &mut silent()).expect("good data");
        let path = &machine.info.held_out;
        assert_eq!(path.iter().map(|p| p.centres).collect::<Vec<_>>(), [8, 16, 32, 64]);
        assert!(path.iter().all(|p| p.rows == 300 && p.error >= 0.0 && p.passes > 0), "{path:?}");
        assert!(path[3].error <= path[0].error + 0.02, "{path:?}");
        assert!(machine.info.notes.iter().any(|note| note.contains("twice as many centres")));
        // The same from a source.
        let source = Held(
            points.clone(),
            numbers(targets),
            match targets {
                Targets::Classes(labels) => labels.names.clone(),
                _ => Vec::new(),
            },
        );
        let other = params.fit_source(&source, Exec::new(2), &mut silent()).expect("good data");
        assert_eq!(other.info.held_out.len(), 4);
        close(other.info.held_out[3].error, path[3].error, 0.02);
        assert_eq!(other.support, machine.support);
    }
}

struct Held(Points, Vec<f64>, Vec<String>);

impl Source for Held {
    fn rows(&self) -> usize {
        self.0.len()
    }

    fn columns(&self) -> usize {
        self.0.dim()
    }

    fn classes(&self) -> &[String] {
        &self.2
    }

    fn read(&self, rows: Range<usize>) -> Result<(Points, Vec<f64>)> {
        let places: Vec<usize> = rows.clone().collect();
        Ok((self.0.gather(&places), self.1.get(rows).unwrap_or_default().to_vec()))
    }
}

/// Landmarks that are all rows give the components of the whole matrix; blocks give what memory gives.
#[test]
fn components_on_landmarks_are_those_of_the_whole_matrix() {
    let (points, _) = toy::three_clusters(150, 3);
    let kernel = Some(Kernel::Rbf { gamma: 0.4 });
    for points in forms(&points) {
        for centred in [true, false] {
            let whole = KpcaParams {
                kernel: kernel.clone(),
                components: Some(4),
                centred,
                method: KpcaMethod::Complete,
                ..KpcaParams::default()
            };
            let none = Targets::None;
            let sample = Sample::new(&points, &none);
            let want = whole.fit(sample, Exec::one(), &mut silent()).expect("good data");
            let landmarks = KpcaParams { method: KpcaMethod::Nystroem, rows: Some(150), ..whole };
            let got = landmarks.fit(sample, Exec::new(2), &mut silent()).expect("good data");
            let source = Held(points.clone(), Vec::new(), Vec::new());
            for method in [KpcaMethod::Auto, KpcaMethod::Nystroem] {
                let params = KpcaParams { method, ..landmarks.clone() };
                let read = params.fit_source(&source, Exec::one(), &mut silent()).expect("good data");
                close_to_scale(&decided(&read, &points), &decided(&got, &points), 1e-9);
            }
            let large =
                LargeParams { centres: 150, kernel: kernel.clone(), tol: 1e-9, ..LargeParams::default() };
            let zeros = Targets::Reals(vec![0.0; 150]);
            let (centres, all) = sharded(&large, &points, &zeros, &[0, 0, 60, 150]);
            let trace = all.0.iter().map(LargeShard::trace).sum();
            let spread = landmarks.fit_rows(&centres, &all, trace, Exec::one(), &mut silent());
            let size = |m: &Machine| decided(m, &points).iter().map(|v| v.abs()).collect::<Vec<f64>>();
            close_to_scale(&size(&spread.expect("good data")), &size(&got), 1e-6);
            assert!(all.0[1].bytes() > 60 * 150 * 8 && all.0[1].points().len() == 60);
            // Signs are free.
            let size = |m: &Machine| decided(m, &points).iter().map(|v| v.abs()).collect::<Vec<f64>>();
            close_to_scale(&size(&got), &size(&want), 1e-5);
        }
    }
    let source = Held(points.clone(), Vec::new(), Vec::new());
    let pivots =
        KpcaParams { method: KpcaMethod::Cholesky, components: Some(2), kernel, ..KpcaParams::default() };
    assert_eq!(pivots.fit_source(&source, Exec::one(), &mut silent()).expect("good data").outputs(), 2);
    let complete = KpcaParams { method: KpcaMethod::Complete, ..pivots };
    assert!(complete.fit_source(&source, Exec::one(), &mut silent()).is_err());
}

/// A machine of two classes by Newton's method from the definition, on all numbers at once.
#[test]
fn the_logistic_loss_is_that_of_newtons_method() {
    let (points, targets) = toy::banana(200, 7);
    let classes = targets.classes().expect("classes");
    let (n, m, lambda, gamma) = (200, 20, 0.2, 0.5);
    let kernel = Kernel::Rbf { gamma };
    let params = LargeParams {
        kernel: Some(kernel.clone()),
        loss: LargeLoss::Logistic,
        centres: m as u64,
        lambda,
        tol: 1e-12,
        ..LargeParams::default()
    };
    let machine = params.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("good data");
    let z = machine.expansion.centres().view();
    let x = points.view();
    let values: Vec<Vec<f64>> =
        (0..n).map(|i| (0..m).map(|j| kernel.value(z.row(j), x.row(i))).chain([1.0]).collect()).collect();
    let own = |i: usize, j: usize| if i < m && j < m { kernel.value(z.row(i), z.row(j)) } else { 0.0 };
    let mut c = vec![0.0; m + 1];
    for _ in 0..50 {
        let (mut slope, mut bend) = (vec![0.0; m + 1], vec![vec![0.0; m + 1]; m + 1]);
        for (row, &class) in values.iter().zip(&classes.of_row) {
            let y = 2.0 * f64::from(class) - 1.0;
            let f: f64 = row.iter().zip(&c).map(|(v, c)| v * c).sum();
            let p = 1.0 / (1.0 + (y * f).exp());
            for i in 0..=m {
                slope[i] -= y * p * row[i];
                for j in 0..=m {
                    bend[i][j] += p * (1.0 - p) * row[i] * row[j];
                }
            }
        }
        for i in 0..=m {
            for j in 0..=m {
                slope[i] += lambda * own(i, j) * c[j];
                bend[i][j] += lambda * own(i, j);
            }
            // Directions of no consequence.
            bend[i][i] += 1e-12;
        }
        solve(&mut bend, &mut slope);
        c.iter_mut().zip(&slope).for_each(|(c, s)| *c -= s);
    }
    let want: Vec<f64> = values.iter().map(|row| row.iter().zip(&c).map(|(v, c)| v * c).sum()).collect();
    close_to_scale(&decided(&machine, &points), &want, 1e-6);
}

/// Gauss's elimination with pivots.
fn solve(a: &mut [Vec<f64>], b: &mut [f64]) {
    let n = b.len();
    for p in 0..n {
        let best = (p..n).max_by(|&i, &j| a[i][p].abs().total_cmp(&a[j][p].abs())).expect("a row");
        a.swap(p, best);
        b.swap(p, best);
        for i in p + 1..n {
            let by = a[i][p] / a[p][p];
            let (top, below) = a.split_at_mut(i);
            below[0][p..].iter_mut().zip(&top[p][p..]).for_each(|(v, t)| *v -= by * t);
            b[i] -= by * b[p];
        }
    }
    for p in (0..n).rev() {
        let sum: f64 = (p + 1..n).map(|j| a[p][j] * b[j]).sum();
        b[p] = (b[p] - sum) / a[p][p];
    }
}

/// What is learned is a model like any other: files, explanations, compression, ONNX and LIBSVM's text.
#[test]
fn the_result_is_an_ordinary_machine() {
    let (sinc, reals) = toy::sinc(300, 1);
    let (banana, two) = toy::banana(300, 2);
    let (clusters, three) = toy::three_clusters(300, 3);
    for (points, targets) in [(&sinc, &reals), (&banana, &two), (&clusters, &three)] {
        for points in forms(points) {
            for loss in [LargeLoss::Squared, LargeLoss::Logistic, LargeLoss::SquaredHinge] {
                if loss != LargeLoss::Squared && matches!(targets, Targets::Reals(_)) {
                    continue;
                }
                let params = LargeParams { centres: 30, loss, ..LargeParams::default() };
                let fitted = params.fit(Sample::new(&points, targets), Exec::one(), &mut silent());
                let model = Model::from(fitted.expect("good data"));
                let told = model.predict(points.view(), Exec::one()).expect("rows");
                let f = model.decision(points.view(), Exec::one()).expect("rows");
                let back = Model::from_bytes("memory", &model.to_bytes().expect("bytes")).expect("a model");
                assert_eq!(back, model);
                assert!(!onnx::write(&model).expect("ONNX has this").is_empty());
                let data = Dataset::new(points.clone(), targets.clone()).expect("a target per row");
                let about = model.explain(Some(&data), Exec::one(), &mut silent()).expect("an explanation");
                assert_eq!(about.model.centres, 30);
                let goal = Goal::Size(Size::Ratio(2.0));
                let params = CompressParams { goal, ..CompressParams::default() };
                let small =
                    model.compress(&params, Some(&data), Exec::one(), &mut silent()).expect("smaller");
                assert!(small.model.machine.expansion.len() <= 15);
                // LIBSVM's labels are numbers.
                let mut named = model.clone();
                if let Role::Classes(names) = &mut named.machine.role {
                    *names = (0..names.len()).map(|c| (c + 1).to_string()).collect();
                }
                let text = named.to_libsvm().expect("LIBSVM has this");
                let read = Model::from_libsvm("text", text.as_bytes()).expect("just written");
                let theirs = read.predict(points.view(), Exec::one()).expect("rows");
                match (&told, &theirs) {
                    (Targets::Classes(a), Targets::Classes(b)) => {
                        for i in 0..a.len() {
                            assert_eq!((a.of_row[i] + 1).to_string(), b.name_of(i), "{loss:?}, row {i}");
                        }
                    }
                    (Targets::Reals(_), Targets::Reals(b)) => {
                        // Rows in f32 are predicted in f32 where coefficients have bounds, as LIBSVM's have.
                        let single = matches!(points.view().data, mercer::data::Data::F32(_));
                        close_to_scale(b, &f, if single { 1e-4 } else { 1e-9 });
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}
