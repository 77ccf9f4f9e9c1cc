//! Wrong usage and broken input of the commands that learn, each with its exact message.

use crate::learn::flowers;
use crate::run::Folder;

fn folder() -> Folder {
    let folder = Folder::new()
        .with("flowers.csv", flowers())
        .with("houses.csv", "rooms,age,price\n3,10,210.5\n2,40,99.25\n5,1,400\n3,70,180\n")
        .with("one.csv", "x,class\n1,a\n2,a\n")
        .with("other.csv", "length,height,species\n1,2,iris\n")
        .with("narrow.csv", "1\n2\n");
    folder.mercer("train flowers.csv -q").fine();
    folder.mercer("train houses.csv -q").fine();
    folder
}

/// Refused with 2: the command line makes no sense.
#[test]
fn usage() {
    let folder = folder();
    let cases: &[(&str, &str)] = &[
        (
            "train flowers.csv --learner forest",
            "error: learner = forest: must be one of svc, nu-svc, hard-margin, svr, nu-svr, huber, laplace, ridge, \
             one-class, sphere, kfd, kfd-sparse, kfd-lp, kfd-greedy, adaboost, arc-gv, adaboost-reg, lpboost, rbf-network, \
             lp-machine, perceptron, adatron, bayes-point, parzen, knn, kmeans, \
             large, large-logistic, large-hinge\n",
        ),
        (
            "train flowers.csv --learner one-class --task classify",
            "error: learner = one-class: must be one of svc, nu-svc, hard-margin, ridge, kfd, kfd-sparse, \
             kfd-lp, kfd-greedy, adaboost, arc-gv, adaboost-reg, lpboost, rbf-network, lp-machine, perceptron, adatron, \
             bayes-point, parzen, knn, \
             large, large-logistic, large-hinge to classify\n",
        ),
        ("train flowers.csv --c -1", "error: c = -1: must be a number above 0, or inf\n"),
        ("train flowers.csv --c 0", "error: c = 0: must be a number above 0, or inf\n"),
        (
            "train flowers.csv --nu 0.2",
            "error: nu = 0.2: svc does not take `nu`; it is used by nu-svc, nu-svr, one-class, \
             sphere, lpboost, parzen\n",
        ),
        (
            "train flowers.csv --learner nu-svc --nu 1.5",
            "error: nu = 1.5: must be a number above 0 and at most 1\n",
        ),
        (
            "train houses.csv --label price --probability",
            "error: probability = true: svr does not take `probability`; it is used by svc, nu-svc, hard-margin\n",
        ),
        (
            "train flowers.csv --kernel linear --gamma 1",
            "error: gamma = 1: not used with a whole kernel; write it into the kernel's line\n",
        ),
        (
            "train flowers.csv --kernel rfb",
            "error: kernel `rfb`: no kernel is called `rfb`; kernels are linear, poly, rbf, rbf_widths, laplacian, sigmoid, \
             inverse_multiquadric, multiquadric, radial_power, ard, bspline, fourier, dirichlet, spectrum, chi2, \
             additive_chi2, local, locality_improved, codon_improved, kmer_spectrum, mismatch, weighted_degree, columns, \
             subvector, precomputed, sum, product, scaled, power, normalised\nhint: `mercer kernel list` shows every kernel and how its line is written\n",
        ),
        (
            "train flowers.csv --scale maximal",
            "error: stage = `maximal`: must be one of scale, minmax, standard, unit, power, smooth, centre-mass, \
             downsample, edges, silhouette, invariant, deskew, one-hot, log-odds, fourier, table\n",
        ),
        (
            "train flowers.csv --class-weight daisy=3",
            "error: class_weights = daisy: must be one of the classes iris, lily, rose\n",
        ),
        (
            "train flowers.csv --class-weight balanced --class-weight iris=3",
            "error: --class-weight balanced and a weight for a single class are mutually exclusive\nhint: pass one or the \
             other\n",
        ),
        (
            "train flowers.csv --class-weight iris=3 --class-weight iris=4",
            "error: the class iris has two weights\nhint: give it one weight\n",
        ),
        (
            "train flowers.csv --learner svc --set tol=1 --set tol=2",
            "error: tol is given twice\nhint: give it one value\n",
        ),
        (
            "train flowers.csv --learner svc -c 1 --set c=2",
            "error: c is given twice\nhint: give it one value\n",
        ),
        (
            "cluster flowers.csv -n 2 --set clusters=3",
            "error: clusters is given twice\nhint: give it one value\n",
        ),
        ("tune flowers.csv -c 1,2 --grid c=3,4", "error: c is given twice\nhint: give it one value\n"),
        ("train -", "error: standard input gives no name for the model\nhint: pass `-o FILE`\n"),
        (
            "train flowers.csv --resume flowers.mercer --task novelty",
            "error: flowers.mercer was trained to classify, not to find novelties\nhint: remove --task: the model \
             defines it\n",
        ),
        (
            "predict flowers.csv flowers.mercer --reject-rate 2",
            "error: target rejection rate = 2: must be from 0 to 1\n",
        ),
        (
            "predict houses.csv houses.mercer --reject-rate 0.1",
            "error: houses.mercer is not a classifier and has no reject option\nhint: remove --reject-rate and \
             --reject-error\n",
        ),
        (
            "predict flowers.csv flowers.mercer --reject-on flowers.csv",
            "error: --reject-on needs --reject-rate or --reject-error\nhint: they define the reject rule\n",
        ),
    ];
    for (line, message) in cases {
        folder.mercer(line).fails(2, message);
    }
}

/// Refused with 2 by the parser itself: how the message begins.
#[test]
fn usage_that_does_not_parse() {
    let folder = folder();
    let cases: &[(&str, &str)] = &[
        ("train", "error: the following required arguments were not provided:\n  <DATA>\n"),
        (
            "train flowers.csv --c much",
            "error: invalid value 'much' for '--c <C|auto>': expected a number or auto\n",
        ),
        (
            "train flowers.csv --gamma wide",
            "error: invalid value 'wide' for '--gamma <G|auto>': expected a number or auto\n",
        ),
        (
            "train flowers.csv --task sort",
            "error: invalid value 'sort' for '--task <classify|regress|novelty>'\n",
        ),
        (
            "train flowers.csv --class-weight heavy",
            "error: invalid value 'heavy' for '--class-weight <NAME=W>': expected NAME=WEIGHT, for example rare=10, \
             or balanced\n",
        ),
        (
            "train flowers.csv --resume flowers.mercer --c 5",
            "error: the argument '--resume <MODEL>' cannot be used with '--c <C|auto>'\n",
        ),
        ("predict flowers.csv", "error: the following required arguments were not provided:\n  <MODEL>\n"),
        (
            "predict flowers.csv flowers.mercer --decision --proba",
            "error: the argument '--decision' cannot be used with '--proba'\n",
        ),
        ("convert flowers.mercer --to word -o x", "error: invalid value 'word' for '--to <FORMAT>'\n"),
        (
            "convert flowers.mercer --to json",
            "error: the following required arguments were not provided:\n  --out <FILE>\n",
        ),
        ("evaluat flowers.csv", "error: unrecognized subcommand 'evaluat'\n"),
    ];
    for (line, message) in cases {
        let run = folder.mercer(line);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        assert!(run.err.starts_with(message), "mercer {line}: {}", run.err);
    }
}

/// Refused with 1: the data or the model is wrong.
#[test]
fn data_and_models() {
    let folder = folder()
        .with("cut.mercer", &std::fs::read(folder().path("flowers.mercer")).expect("a model")[..200])
        .with("not.json", "{\"format\": \"cake\"}")
        .with("broken.model", "svm_type c_svc\nkernel_type cake\n")
        .with("unlabelled.svm", "1:1 2:2\n");
    let train = "hint: `mercer train` makes a model; `mercer data info FILE` describes data\n";
    let cases: Vec<(&str, String)> = vec![
        (
            "train one.csv",
            "error: classes: got 1, `a`, expected at least 2; --label COLUMN selects another target, --task \
             novelty learns a single class\n"
                .into(),
        ),
        (
            "train flowers.csv --task regress",
            "error: flowers.csv, line 2, column 3 (`species`): got `iris`, expected a finite number as target\n".into(),
        ),
        (
            "train narrow.csv --task classify",
            "error: targets: got none, expected class labels\nhint: --label COLUMN or --labels FILE names the target \
             column\n"
                .into(),
        ),
        ("train mars.csv", "error: mars.csv: No such file or directory (os error 2)\n".into()),
        (
            "train flowers.csv -o nowhere/x.mercer",
            "error: nowhere: No such file or directory (os error 2)\n".into(),
        ),
        (
            "predict flowers.csv mars.mercer",
            "error: mars.mercer: No such file or directory (os error 2)\n".into(),
        ),
        (
            "predict flowers.csv houses.csv",
            format!("error: model file houses.csv: not a model file, or cut short: header too large\n{train}"),
        ),
        (
            "predict flowers.csv cut.mercer",
            format!("error: model file cut.mercer: not a model file, or cut short: invalid header length\n{train}"),
        ),
        (
            "predict flowers.csv not.json",
            format!(
                "error: model file not.json: JSON, but not a model: `format` is \"cake\", expected \
                 \"mercer-json\"\n{train}"
            ),
        ),
        (
            "predict flowers.csv broken.model",
            "error: broken.model, line 3: got the end of the file, expected `SV` and what follows it\n".into(),
        ),
        (
            "predict other.csv flowers.mercer",
            "error: columns of the data: got no column `width` among length, height, expected all columns that the \
             model was trained with\n"
                .into(),
        ),
        (
            "predict narrow.csv flowers.mercer",
            "error: columns of the points for stage standard: got 1, expected 2\nhint: the model was trained on other \
             columns; --label says which one is the label, or `none`\n"
                .into(),
        ),
        (
            "evaluate flowers.csv flowers.mercer --label none",
            "note: columns that the model does not use are ignored: `species`\nerror: targets: got none, expected class \
             labels\nhint: --label COLUMN or --labels FILE names the target column\n"
                .into(),
        ),
        (
            "predict flowers.csv flowers.mercer --reject-error 0.1 --targets none",
            "error: targets: got none, expected class labels\nhint: --label COLUMN or --labels FILE names the target \
             column\n"
                .into(),
        ),
        (
            "train houses.csv --resume houses.mercer",
            "error: this model's training is complete: there is nothing to resume\n".into(),
        ),
    ];
    for (line, message) in &cases {
        folder.mercer(line).fails(1, message);
    }
    let overlap = folder.mercer("train houses.csv --targets classes --learner hard-margin --kernel linear");
    assert_eq!(overlap.code, 0, "four houses in general position can be told apart: {overlap:?}");
    let folder = folder.with("clash.csv", "x,class\n1,a\n1,b\n2,a\n");
    let clash = folder.mercer("train clash.csv --learner hard-margin");
    assert!(
        clash.code == 2
            && clash.err.starts_with("error: kind = hard: must be c or nu here: two classes overlap"),
        "{clash:?}"
    );
    assert!(
        clash.err.ends_with(
            "hint: the classes overlap: `--learner svc` with a finite -c allows errors at a cost\n"
        ),
        "{clash:?}"
    );
}
