//! `mercer pca` and `mercer denoise`.

use crate::run::Folder;

fn numbers(text: &str) -> Vec<Vec<f64>> {
    let line = |line: &str| line.split(',').map(|v| v.parse().unwrap_or(f64::NAN)).collect();
    text.lines().skip(1).map(line).collect()
}

#[test]
fn to_the_components_and_back() {
    let folder = Folder::new();
    folder.mercer("data toy clusters a.csv --rows 90 --seed 3 -q").fine();
    let run = folder.mercer("pca fit a.csv -k rbf(gamma=2) -n 20 -o a.pca --report a.html").fine();
    run.without("written").snapshot("pca-fit");
    assert!(folder.read("a.html").matches("<svg").count() >= 4, "a scree and maps");
    folder.mercer("pca transform a.csv a.pca -o f.csv").fine().snapshot("pca-transform");
    let features = numbers(&folder.read("f.csv"));
    assert_eq!((features.len(), features[0].len()), (90, 21), "features and the label");
    folder.mercer("pca inverse f.csv a.pca -o b.csv").fine().snapshot("pca-inverse");
    let (there, back) = (numbers(&folder.read("a.csv")), numbers(&folder.read("b.csv")));
    let far = there.iter().zip(&back).map(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1])).fold(0.0, f64::max);
    assert!(far > 0.0 && far < 0.05, "twenty components carry the points: off by {far}");
    folder.mercer("pca show a.pca a.csv -o show.html").fine();
    assert!(folder.read("show.html").contains("Component 2"));
}

#[test]
fn noise_is_taken_out_of_digits() {
    let folder = Folder::new();
    folder.mercer("data toy digits a.csv --rows 400 --seed 1 -q").fine();
    let text = folder.read("a.csv");
    // The same noise every time: sums of waves look random enough to a machine.
    let noisy: String = text
        .lines()
        .enumerate()
        .map(|(i, line)| match line.rsplit_once(',') {
            Some((x, label)) if i > 0 => {
                let wave =
                    |j: usize| 4.0 * ((i * 64 + j) as f64 * 78.233).sin() * ((i + j) as f64 * 12.9898).cos();
                let cell = |(j, v): (usize, &str)| (v.parse::<f64>().unwrap_or(0.0) + wave(j)).to_string();
                format!("{},{label}\n", x.split(',').enumerate().map(cell).collect::<Vec<_>>().join(","))
            }
            _ => format!("{line}\n"),
        })
        .collect();
    let folder = folder.with("noisy.csv", noisy);
    let facts = folder
        .mercer("denoise noisy.csv --train a.csv --noise 2 --image 8x8 -o clean.csv --report p.html --format json")
        .fine()
        .json();
    let off = |file: &str| -> f64 {
        let (a, b) = (numbers(&text), numbers(&folder.read(file)));
        let row = |(a, b): (&Vec<f64>, &Vec<f64>)| (0..64).map(|j| (a[j] - b[j]).powi(2)).sum::<f64>();
        a.iter().zip(&b).map(row).sum::<f64>() / a.len() as f64
    };
    let (before, after) = (off("noisy.csv"), off("clean.csv"));
    assert!(after < 0.7 * before && after > 0.0, "{before} to {after}: {facts}");
    assert!(facts["tried"].as_array().is_some_and(|t| t.len() > 5), "{facts}");
    assert!(folder.read("p.html").contains("Before and after"));
    folder.mercer("pca fit a.csv -n 32 --image 8x8 -o a.pca -q").fine();
    folder.mercer("denoise noisy.csv --model a.pca --image 8x8 -o clean.png -q").fine();
    let png = std::fs::read(folder.path("clean.png")).expect("a file");
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
    // 400 images of 8 x 8, twenty in a line, a gap between.
    assert_eq!(png[16..24], [0, 0, 0, 179, 0, 0, 0, 179]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = Folder::new();
    folder.mercer("data toy banana a.csv --rows 40 -q").fine();
    folder.mercer("train a.csv -o m.mercer -q").fine();
    folder.mercer("pca transform a.csv m.mercer -o f.csv").fails(
        2,
        "error: m.mercer holds a model of kind svc, which has no components\n\
         hint: `mercer pca fit DATA -o MODEL` finds components\n",
    );
    folder.mercer("pca fit a.csv -n 500 -o a.pca").fails(
        2,
        "error: components = 500: must be at most 39: the kernel matrix has no more eigenvalues that are not zero\n",
    );
    folder.mercer("denoise a.csv --noise 0 -o b.csv").fails(2, "error: noise = 0: must be above 0\n");
    folder
        .mercer("denoise a.csv -o b.png")
        .fails(1, "error: b.png: rows have no image shape; pass `--image HxW`\n");
}

#[test]
fn pictures_go_in_and_come_out() {
    let folder = Folder::new();
    folder.mercer("data toy digits clean.csv --rows 120 --seed 1 -q").fine();
    // Numbers become pictures by going through all their components.
    folder.mercer("pca fit clean.csv --image 8x8 -k linear -o all.pca -q").fine();
    folder.mercer("pca transform clean.csv all.pca -o f.csv -q").fine();
    folder.mercer("pca inverse f.csv all.pca -o scans/ -q").fine();
    let files = std::fs::read_dir(folder.path("scans")).expect("a folder").count();
    assert_eq!(files, 120);
    let about = folder.mercer("data info scans --format json").fine().json();
    assert_eq!((&about["rows"], &about["columns"]), (&120.into(), &64.into()), "{about}");
    // A folder in, a folder out: files keep their names, pixels their levels.
    folder.mercer("denoise scans --noise 8 -o restored/ --report p.html -q").fine();
    assert!(folder.path("restored/007.png").exists());
    assert!(folder.read("p.html").contains("Before and after"));
    // One picture by components of the others; and on its own, by squares of it.
    folder.mercer("pca fit scans -n 30 -o scans.pca -q").fine();
    folder.mercer("denoise scans/007.png --model scans.pca -o one.png -q").fine();
    let size = |name: &str| std::fs::read(folder.path(name)).expect("a file")[16..24].to_vec();
    assert_eq!(size("one.png"), [0, 0, 0, 8, 0, 0, 0, 8]);
    folder.mercer("denoise clean.csv --train clean.csv --noise 1 --image 8x8 -o sheet.png -q").fine();
    assert_eq!(size("sheet.png"), [0, 0, 0, 179, 0, 0, 0, 53]);
    let told = folder.mercer("denoise sheet.png -o whole.pgm").fine();
    assert!(told.out.contains("most similar neighbours"), "{}", told.out);
    let told = folder.mercer("denoise sheet.png -o b.pgm --kernel linear").fine();
    assert!(told.out.contains("pixels") && told.out.contains("squares"), "{}", told.out);
    assert!(std::fs::read(folder.path("whole.pgm")).expect("a file").starts_with(b"P5\n179 53\n255\n"));
    folder.mercer("denoise clean.csv --patch 4 -o b.csv").fails(
        2,
        "error: only images can be cut into squares\nhint: `--image HxW` says that rows are images\n",
    );
}

#[test]
fn a_machine_stands_behind_components_in_one_file() {
    let folder = Folder::new();
    folder.mercer("data toy digits a.csv --rows 900 --seed 1 -q").fine();
    folder.mercer("data split a.csv train.csv test.csv --seed 3 -q").fine();
    folder.mercer("pca fit train.csv -n 64 --whiten -o d.pca -q").fine();
    let run = folder.mercer("train train.csv --features d.pca -o m.mercer").fine();
    assert!(run.out.contains("64 components of rbf"), "{}", run.out);
    let facts = folder.mercer("evaluate test.csv m.mercer --format json").fine().json();
    let error = facts["error"].as_f64().expect("a number");
    assert!(error < 0.06, "{facts}");
    folder
        .mercer("train train.csv --features m.mercer -o n.mercer")
        .fails(2, "error: features = a model of kind svc: must be components: `mercer pca fit` finds some\n");
}
