//! `mercer kernel ...`.

use crate::run::Folder;

#[test]
fn list_names_every_kernel_once() {
    let folder = Folder::new();
    let run = folder.mercer("kernel list").fine();
    run.snapshot("kernel-list");
    let all = folder.mercer("kernel list --format json").fine().json();
    let kernels = all["kernels"].as_array().expect("a list");
    assert_eq!(kernels.len(), mercer::kernel::Kernel::ALL.len());
    for kernel in kernels {
        let name = kernel["name"].as_str().expect("text");
        assert!(run.out.lines().any(|line| line.split_whitespace().nth(1) == Some(name)), "{name}");
        folder.mercer(&format!("kernel list {name}")).fine();
    }
    folder.mercer("kernel list poly").fine().snapshot("kernel-list-poly");
}

#[test]
fn check_prints_the_line_that_reads_back() {
    let folder = Folder::new();
    folder
        .mercer_args(&["kernel", "check", "0.5*rbf(gamma=1/2)+linear"])
        .fine()
        .snapshot("kernel-check-line");
    let facts = folder.mercer("kernel check multiquadric(c=1) --format json").fine().json();
    assert_eq!(facts["definiteness"], "conditional_negative");
}

#[test]
fn check_looks_at_data() {
    let folder = Folder::new();
    folder.mercer("data toy clusters a.csv --rows 60 -q").fine();
    folder.mercer("kernel check rbf(gamma=0.5) a.csv").fine().snapshot("kernel-check-data");
    let sight = |line: &str| {
        let run = folder.mercer_args(&["kernel", "check", line, "a.csv", "--format", "json"]).fine();
        run.json()["points"].clone()
    };
    assert_eq!(sight("sigmoid(scale=1, shift=-1)")["positive"], false);
    assert_eq!(sight("poly(degree=2, coef0=1)")["positive"], true);
    let text = |line: &str| folder.mercer_args(&["kernel", "check", line, "a.csv"]).fine().out;
    assert!(text("rbf(gamma=1e6)").contains("similar only to themselves"));
    assert!(text("rbf(gamma=1e-6)").contains("almost identical"));
}

#[test]
fn check_draws_its_sample_by_the_seed() {
    let folder = Folder::new();
    folder.mercer("data toy banana a.csv --rows 700 -q").fine();
    let run =
        |seed: &str| folder.mercer(&format!("kernel check rbf(gamma=0.5) a.csv --seed {seed}")).fine().out;
    assert!(run("1").contains("On 500 of 700 rows of a.csv"));
    assert_eq!(run("1"), run("1"));
    assert_ne!(run("1"), run("2"));
}

#[test]
fn gram_is_written_and_shown() {
    let folder = Folder::new().with("a.csv", "x,y,class\n1,0,a\n0,1,b\n1,1,a\n");
    let line = "kernel gram a.csv --kernel poly(degree=2,coef0=1) -o g.csv";
    folder.mercer(line).fine().without("took").snapshot("kernel-gram");
    let text = folder.read("g.csv");
    let rows: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(rows, ["4,1,4", "1,4,4", "4,4,9"]);
    let facts = folder.mercer("kernel gram a.csv -k linear --centre --format json").fine().json();
    assert_eq!(facts["centred"], true);
    let mean = facts["mean"].as_f64().expect("a number");
    assert!(mean.abs() < 1e-15, "{mean}");
}

#[test]
fn gram_is_the_same_on_one_thread_and_on_two() {
    let folder = Folder::new();
    folder.mercer("data toy ring a.csv --rows 300 -q").fine();
    for threads in ["1", "2"] {
        folder
            .mercer(&format!("kernel gram a.csv -k rbf(gamma=1) -o {threads}.npy --threads {threads}"))
            .fine();
    }
    let bytes = |name: &str| std::fs::read(folder.path(name)).expect("written");
    assert_eq!(bytes("1.npy"), bytes("2.npy"));
}

#[test]
fn gram_keeps_to_its_memory() {
    let folder = Folder::new();
    folder.mercer("data toy ring a.csv --rows 500 -q").fine();
    folder.mercer("kernel gram a.csv -k linear --memory 1M").fails(
        2,
        "error: the Gram matrix of 500 rows takes 1.9 MiB, more than the 1.0 MiB allowed\nhint: --memory allows more; \
         `mercer data split` makes a smaller file\n",
    );
}

#[test]
fn geometry_of_a_bent_and_of_a_flat_map() {
    let folder = Folder::new();
    folder.mercer("kernel geometry poly(degree=2,coef0=1) --at 1,-2").fine().snapshot("kernel-geometry");
    let flat = folder.mercer("kernel geometry rbf(gamma=0.5) --at 1,2,3 --format json").fine().json();
    assert_eq!((&flat["volume"], &flat["scalar_curvature"]), (&1.0.into(), &0.0.into()));
    folder
        .mercer("kernel geometry laplacian(gamma=0.5) --at 0,0")
        .fails(1, "error: kernel `laplacian(gamma=0.5)` has no second derivative\n");
}

#[test]
fn lines_that_are_no_kernel() {
    let folder = Folder::new();
    let refused = |line: &str, why: &str| {
        let run = folder.mercer_args(&["kernel", "check", line]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        assert!(run.err.contains(why), "{}", run.err);
    };
    refused("rbf(gama=5)", "rbf has no parameter `gama`");
    refused("rfb(gamma=5)", "no kernel is called `rfb`");
    refused("rbf(gamma=-1)", "gamma = -1: must be a number above 0");
    let folder = Folder::new().with("dna.txt", "EI\tACGT\nIE\tACGA\n");
    folder
        .mercer("kernel check linear dna.txt")
        .fails(1, "error: points for the kernel `linear`: got sequences, expected rows of numbers\n");
}
