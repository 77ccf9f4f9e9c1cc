//! `mercer tour`: what it says, and its page as a browser sees it.

use crate::browser::{self, Seen};
use crate::run::Folder;

#[test]
fn the_tour_ends_with_one_screen_and_leaves_one_page() {
    let folder = Folder::new();
    let run = folder.mercer("tour --threads 2").fine();
    assert!(run.out.lines().count() <= 32, "one screen: {}", run.out);
    assert!(run.out.lines().all(|line| line.chars().count() <= 80), "{}", run.out);
    // Rounding differs between machines, and so may counts: numbers are not compared.
    let mut words = run.without("Total time");
    words.out =
        words.out.split(|c: char| c.is_ascii_digit()).filter(|s| !s.is_empty()).collect::<Vec<_>>().join("#");
    words.snapshot("tour");
    let page = folder.read("mercer-tour.html");
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    for outside in ["http:", "https:", "<script", "@import", "src=\"/"] {
        assert!(!page.contains(outside), "{outside} in the page");
    }
}

#[test]
fn the_tour_has_facts_for_programs() {
    let folder = Folder::new();
    let facts = folder.mercer("tour --format json --seed 4 --out a.html").fine().json();
    assert_eq!(facts["page"], "a.html");
    assert!(folder.path("a.html").exists());
    let stop = |name: &str| {
        let stops = facts["stops"].as_array().expect("a list");
        stops.iter().find(|stop| stop["name"] == name).unwrap_or_else(|| panic!("{name}"))["facts"].clone()
    };
    for way in ["error_one_vs_one", "error_one_vs_rest"] {
        let error = stop("Classification")[way].as_f64().expect("a number");
        assert!(error < 0.03, "{way} {error}");
    }
    let outside = stop("Novelty")["outside_square"].as_f64().expect("a number");
    assert!(outside <= 0.1, "nu bounds it: {outside}");
    let linear = stop("Components")["error_linear_on_components"].as_f64().expect("a number");
    assert!(linear < 0.04, "{linear}");
    let denoised = |name: &str| stop("Denoising")[name].as_f64().expect("a number");
    let (before, after) = (denoised("squared_error_before"), denoised("squared_error_after"));
    assert!(after < 0.5 * before && after < denoised("squared_error_linear"), "{before} to {after}");
    assert!(stop("Regression")["rmse_narrow"].as_f64().expect("a number") < 0.08);
    assert_eq!(folder.mercer("tour --out no/such/folder.html").code, 1);
}

#[test]
fn every_command_on_the_page_runs() {
    let folder = Folder::new();
    folder.mercer("tour").fine();
    folder.mercer("data toy digits digits.csv").fine();
    folder.mercer("data toy sinc sinc.csv").fine();
    let page = folder.read("mercer-tour.html");
    let commands: Vec<&str> = page
        .split("<li><code>")
        .skip(1)
        .filter_map(|rest| rest.split_once("</code>"))
        .map(|(c, _)| c)
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    let mut data = "digits.csv";
    for command in commands {
        if command.contains("regress") {
            data = "sinc.csv";
        }
        // Words in capitals stand for what people have.
        let mut models = 0;
        let word = |word: &str| match word {
            "DATA" => data.to_owned(),
            // A command that reads a model and writes one has two.
            "MODEL" => {
                models += 1;
                if models == 1 { "some.mercer".to_owned() } else { "other.mercer".to_owned() }
            }
            "LINE" => "rbf(gamma=0.01)".to_owned(),
            "FILE" if command.contains("gram") => "gram.npy".to_owned(),
            "FILE" => "report.html".to_owned(),
            "OUT" => "out.csv".to_owned(),
            other => other.to_owned(),
        };
        let words: Vec<String> = command.split(' ').skip(1).map(word).collect();
        let run = folder.mercer_args(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(run.code, 0, "{command}: {run:#?}");
    }
}

/// What is wrong with a page in a window so many pixels wide, in a list.
fn faults(page: &str, width: u32, dark: bool) -> Vec<String> {
    let Seen { facts, console } = browser::open(page, width, dark);
    let mut faults = console;
    for name in ["off", "spilt", "failed", "small", "empty", "overlap", "unstyled", "hidden"] {
        let list = facts[name].as_array().expect("a list");
        faults.extend(list.iter().map(|what| format!("{name}: {what}")));
    }
    let number = |name: &str| facts[name].as_f64().unwrap_or(f64::NAN);
    let mut demand = |met: bool, what: &str| {
        if !met {
            faults.push(format!("{what}: {facts}"));
        }
    };
    demand(number("width") == f64::from(width), "the window is as wide as asked");
    demand(number("scroll") <= f64::from(width), "nothing to scroll sideways");
    demand(number("blank") == 0.0 && number("images") > 100.0, "all images are seen");
    demand(number("pictures") >= 15.0, "the pictures are there");
    demand(number("headings") >= 10.0, "every stop has its section");
    demand(number("letters") >= 7.0, "letters can be read");
    let light = |name: &str| {
        let text = facts[name].as_str().expect("a colour");
        let parts = text.split(|c: char| !c.is_ascii_digit()).filter_map(|v| v.parse::<f64>().ok());
        parts.take(3).sum::<f64>() / 3.0
    };
    demand(if dark { light("ground") < 60.0 } else { light("ground") > 200.0 }, "light or dark as asked");
    demand((light("ground") - light("ink")).abs() > 150.0, "ink stands out");
    faults
}

#[test]
fn a_browser_shows_all_of_the_page() {
    if !browser::here() {
        return;
    }
    let folder = Folder::new();
    folder.mercer("tour").fine();
    let page = folder.read("mercer-tour.html");
    for (width, dark) in [(400, false), (1400, false), (400, true), (1400, true)] {
        assert_eq!(faults(&page, width, dark), Vec::<String>::new(), "{width} pixels, dark: {dark}");
    }
    // Each kind of fault is seen when it is there.
    for (from, to, told) in [
        ("</h1>", "</h1><div style=\"width: 900px\">wide</div>", "off:"),
        ("</main>", "</main><script>console.error('planted')</script>", "planted"),
        ("</main>", "</main><img src=\"none.png\" width=\"50\">", "all images are seen"),
        ("</text>", "</text><text x=\"410\" y=\"20\">outside the picture</text>", "spilt:"),
        ("</head>", "<style>svg { display: none !important; }</style></head>", "small:"),
        ("</head>", "<style>html { background: black !important; }</style></head>", "light or dark"),
    ] {
        let faults = faults(&page.replacen(from, to, 1), 400, false);
        assert!(faults.iter().any(|fault| fault.contains(told)), "{to}: {faults:#?}");
    }
}
