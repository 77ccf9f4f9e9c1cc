//! Reports of every command as a browser lays them out: nothing hidden, nothing on top of something else, pictures as
//! they are.

use crate::browser::{self, Seen};
use crate::run::Folder;

/// What is wrong with a page in a window so many pixels wide.
fn faults(Seen { facts, console }: Seen, width: u32) -> Vec<String> {
    let mut faults = console;
    for name in ["off", "spilt", "failed", "overlap", "unstyled", "hidden"] {
        let list = facts[name].as_array().expect("a list");
        faults.extend(list.iter().map(|what| format!("{name}: {what}")));
    }
    if facts["scroll"].as_f64().is_none_or(|wide| wide > f64::from(width)) {
        faults.push(format!("the page scrolls sideways: {} of {width} pixels", facts["scroll"]));
    }
    if facts["filtered"] != 0 {
        faults.push(format!("{} images are changed by a style", facts["filtered"]));
    }
    faults
}

/// A picture of one colour with a spot, as a PPM file.
fn picture(colour: [u8; 3], spot: usize) -> Vec<u8> {
    let mut out = b"P6\n8 8\n255\n".to_vec();
    (0..64).for_each(|i| out.extend(if i == spot { [9, 9, 9] } else { colour }));
    out
}

/// A folder with data of every kind that reports show.
fn data() -> Folder {
    let folder = Folder::new();
    for (name, rows) in [("banana", 60), ("sinc", 60), ("digits", 150)] {
        folder.mercer(&format!("data toy {name} {name}.csv --rows {rows}")).fine();
    }
    for (class, colour) in [("sunset", [220, 120, 40]), ("forest", [30, 140, 60])] {
        std::fs::create_dir_all(folder.path("photos").join(class)).expect("a fresh folder");
        for n in 0..6 {
            let file = folder.path("photos").join(class).join(format!("{n}.ppm"));
            std::fs::write(file, picture(colour, 7 * n + 3)).expect("a fresh folder");
        }
    }
    // Long names, columns of very different size, and numbers with many digits.
    let rows = (0..40).map(|i| {
        let x = f64::from(i);
        let class = ["a very long name of a class, in words", "WWWWWWWWWWWWWWWWWWWW", "c"][i as usize % 3];
        format!("{},{},\"{class}\"\n", 1e-5 * x.sin(), 123_456.789 * (x + f64::from(i % 3) * 40.0))
    });
    let head = "a rather long name of a column in the table,y,target\n".to_owned();
    folder.with("wide.csv", head + &rows.collect::<String>())
}

/// The reports of all commands that have one: the page's file and the line that makes it.
const REPORTS: [(&str, &str); 18] = [
    ("train-classes", "train banana.csv -o banana.mercer --report"),
    ("train-numbers", "train sinc.csv -o sinc.mercer --report"),
    ("train-digits", "train digits.csv --image 8x8 -o digits.mercer --report"),
    ("train-photos", "train photos -o photos.mercer --report"),
    ("train-wide", "train wide.csv -o wide.mercer --report"),
    ("train-knn", "train banana.csv --learner knn -o knn.mercer --report"),
    ("tune", "tune banana.csv --report"),
    ("evaluate-classes", "evaluate digits.csv digits.mercer --image 8x8 --report"),
    ("evaluate-wide", "evaluate wide.csv wide.mercer --report"),
    ("evaluate-numbers", "evaluate sinc.csv sinc.mercer --report"),
    ("explain-classes", "explain wide.mercer wide.csv --report"),
    ("explain-numbers", "explain sinc.mercer sinc.csv --report"),
    ("explain-columns", "explain wide.mercer wide.csv --importance wide.csv --repeats 1 --report"),
    ("explain-map", "explain digits.mercer --importance digits.csv --image 8x8 --repeats 1 --report"),
    ("explain-photos", "explain photos.mercer photos --report"),
    ("components", "pca show digits-pca.mercer digits.csv --image 8x8 -o"),
    ("denoise", "denoise digits.csv --image 8x8 -o clean.csv --report"),
    ("compress", "compress digits.mercer digits.csv --image 8x8 --vectors 20 -o small.mercer --report"),
];

#[test]
fn every_report_shows_all_of_itself_in_a_narrow_window_and_in_a_wide_one() {
    if !browser::here() {
        return;
    }
    let folder = data();
    folder.mercer("pca fit digits.csv --image 8x8 --components 4 -o digits-pca.mercer -q").fine();
    let page = |(name, line): &(&str, &str)| {
        let run = folder.mercer(&format!("{line} {name}.html -q"));
        assert_eq!(run.code, 0, "{run:#?}");
        folder.read(&format!("{name}.html"))
    };
    let pages: Vec<String> = REPORTS.iter().map(page).collect();
    let mut found = Vec::new();
    // Colours do not move anything: narrow in one theme, wide in the other.
    for (width, dark) in [(400, false), (1400, true)] {
        let windows: Vec<(&str, u32)> = pages.iter().map(|page| (page.as_str(), width)).collect();
        for (seen, (name, _)) in browser::open_all(&windows, dark).into_iter().zip(REPORTS) {
            found.extend(faults(seen, width).into_iter().map(|f| format!("{name}, {width}: {f}")));
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn each_fault_of_a_report_is_seen() {
    if !browser::here() {
        return;
    }
    let folder = data();
    folder.mercer("train banana.csv -o m.mercer --report r.html -q").fine();
    let page = folder.read("r.html");
    for (from, to, told) in [
        (
            "</text>",
            "</text><text x=\"200\" y=\"50\">one</text><text x=\"205\" y=\"52\">two</text>",
            "overlap:",
        ),
        ("</svg>", "<rect class=\"none\" x=\"60\" y=\"60\" width=\"9\" height=\"9\"/></svg>", "unstyled:"),
        ("</tbody>", "<tr><td><div style=\"min-width: 900px\">wide</div></td></tr></tbody>", "hidden:"),
    ] {
        let faults = faults(browser::open(&page.replacen(from, to, 1), 400, false), 400);
        assert!(faults.iter().any(|fault| fault.contains(told)), "{to}: {faults:#?}");
    }
}

#[test]
fn pictures_are_shown_as_they_are() {
    if !browser::here() {
        return;
    }
    let folder = data();
    folder.mercer("train photos -o photos.mercer --report photos.html -q").fine();
    folder.mercer("train digits.csv --image 8x8 -o digits.mercer --report digits.html -q").fine();
    for dark in [false, true] {
        let shades = |page: &str| -> Vec<Vec<f64>> {
            let Seen { facts, .. } = browser::open(&folder.read(page), 1000, dark);
            assert_eq!(facts["filtered"], 0, "no style turns pictures into negatives");
            serde_json::from_value(facts["shades"].clone()).expect("three numbers an image")
        };
        let near = |a: &[f64], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 8.0);
        let photographs = shades("photos.html");
        assert!(!photographs.is_empty());
        for shade in &photographs {
            let known = near(shade, [220.0, 120.0, 40.0]) || near(shade, [30.0, 140.0, 60.0]);
            assert!(known, "{shade:?}, dark: {dark}");
        }
        // Light strokes on a dark ground, as the data has them.
        let digits = shades("digits.html");
        assert!(!digits.is_empty() && digits.iter().all(|s| s[0] == s[2] && s[0] < 128.0), "{digits:?}");
    }
}

#[test]
fn a_page_begins_with_an_error_however_many_rows_there_are() {
    let folder = Folder::new();
    folder.mercer("data toy banana some.csv --rows 4000 --noise 0.3").fine();
    folder.mercer("data toy banana many.csv --rows 7000 --noise 0.3").fine();
    folder.mercer("data toy sinc sinc.csv --rows 7000 --noise 0.3").fine();
    let sampled = "On 5,000 of 7,000 training rows";
    for (data, heading, verdict) in [
        ("some", "On the training rows", "of 4,000 rows wrong"),
        ("many", sampled, "of 5,000 rows wrong"),
        ("sinc", sampled, "These are training rows"),
    ] {
        let line =
            format!("train {data}.csv --auto off --epsilon 0.5 -o m.mercer --force --report t.html -q");
        let line = if data == "sinc" { line } else { line.replace(" --epsilon 0.5", "") };
        folder.mercer(&line).fine();
        let page = folder.read("t.html");
        assert!(page.contains(heading) && page.contains(verdict), "{data}");
    }
    // The gap of one machine is a curve.
    folder.mercer("train many.csv --auto off -c 1000 -o m.mercer --force --report t.html -q").fine();
    assert!(folder.read("t.html").contains("Convergence"));
    // The gaps of three machines are not.
    folder.mercer("data toy clusters three.csv --rows 6000 --noise 2").fine();
    folder.mercer("train three.csv --auto off -c 1000 -o m.mercer --force --report t.html -q").fine();
    assert!(!folder.read("t.html").contains("Convergence"));
}

/// The names of the tiles of a page.
fn tiles(page: &str) -> Vec<&str> {
    page.split("<dt>").skip(1).filter_map(|rest| rest.split("</dt>").next()).collect()
}

#[test]
fn the_tiles_of_every_learner_say_what_they_show() {
    let folder = Folder::new();
    folder.mercer("data toy banana banana.csv --rows 60").fine();
    folder.mercer("data toy sinc sinc.csv --rows 60").fine();
    let machines = [
        "svc",
        "nu-svc --nu 0.2",
        "svr",
        "nu-svr",
        "ridge",
        "kfd",
        "knn",
        "parzen",
        "rbf-network --set centres=6",
    ];
    for learner in machines {
        let data = if ["svr", "nu-svr", "ridge"].contains(&learner) { "sinc" } else { "banana" };
        let line = format!("train {data}.csv --learner {learner} -o m.mercer --report t.html -q");
        folder.mercer(&line).fine();
        folder.mercer(&format!("explain m.mercer {data}.csv --report e.html -q")).fine();
        let (trained, explained) = (folder.read("t.html"), folder.read("e.html"));
        let (trained, explained) = (tiles(&trained), tiles(&explained));
        // R^2 is how much of the variance a regression explains, and nothing else.
        assert!(!explained.contains(&"R^2"), "{learner}: {explained:?}");
        assert_eq!(trained.contains(&"R^2"), data == "sinc", "{learner}: {trained:?}");
        // Only machines with support vectors have some, and only their solvers know a distance from the optimum.
        let support = ["svc", "nu-svc", "svr", "nu-svr"].iter().any(|m| learner.starts_with(m));
        assert_eq!(trained.contains(&"support vectors"), support, "{learner}: {trained:?}");
        assert_eq!(trained.contains(&"centres"), !support, "{learner}: {trained:?}");
        let optimum = trained.iter().any(|tile| tile.contains("optimality conditions"));
        assert_eq!(optimum, support, "{learner}: {trained:?}");
    }
}
