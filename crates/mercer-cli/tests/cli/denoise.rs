//! `mercer denoise` on what people have: pictures in every form, rows in single precision, and data it can do nothing for.

use crate::run::Folder;

const SIDE: usize = 28;

/// A smooth picture and the same with noise, values from 0 to 255.
fn pictures(seed: u32) -> (Vec<u8>, Vec<u8>) {
    let mut state = seed;
    let mut noise = || {
        // Twelve uniform numbers make a normal one, nearly.
        let sum: f64 = (0..12)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f64::from(state >> 8) / f64::from(1 << 24)
            })
            .sum();
        sum - 6.0
    };
    let at = |p: usize| {
        let (y, x) = ((p / SIDE) as f64, (p % SIDE) as f64);
        128.0 + 70.0 * (x / 5.0).sin() + 30.0 * (y / 7.0).cos()
    };
    let clean: Vec<u8> = (0..SIDE * SIDE).map(|p| at(p) as u8).collect();
    let noisy = (0..SIDE * SIDE).map(|p| (at(p) + 15.0 * noise()).clamp(0.0, 255.0) as u8).collect();
    (clean, noisy)
}

fn pgm(pixels: &[u8]) -> Vec<u8> {
    [format!("P5\n{SIDE} {SIDE}\n255\n").as_bytes(), pixels].concat()
}

fn ppm(pixels: &[u8]) -> Vec<u8> {
    let colour: Vec<u8> = pixels.iter().flat_map(|v| [*v; 3]).collect();
    [format!("P6\n{SIDE} {SIDE}\n255\n").as_bytes(), &colour].concat()
}

/// Mean squared difference from the clean picture.
fn error(clean: &[u8], file: &[u8], channels: usize) -> f64 {
    let pixels = &file[file.len() - clean.len() * channels..];
    let wide = clean.iter().flat_map(|v| std::iter::repeat_n(f64::from(*v), channels));
    pixels.iter().zip(wide).map(|(a, b)| (f64::from(*a) - b).powi(2)).sum::<f64>() / pixels.len() as f64
}

#[test]
fn a_grey_picture_in_colour_is_denoised_as_a_grey_one() {
    let (clean, noisy) = pictures(1);
    let folder = Folder::new().with("grey.pgm", pgm(&noisy)).with("colour.ppm", ppm(&noisy));
    folder.mercer("data convert colour.ppm colour.png -q").fine();
    let told = folder.mercer("denoise grey.pgm -o a.pgm --patch 4 --format json").fine().json();
    let level = told["noise"].as_f64().expect("a level");
    assert!((8.0..20.0).contains(&level), "{level}");
    folder.mercer("denoise colour.ppm -o b.ppm --patch 4 -q").fine();
    folder.mercer("denoise colour.png -o c.ppm --patch 4 -q").fine();
    let read = |name: &str| std::fs::read(folder.path(name)).expect("written");
    let (before, grey) = (error(&clean, &pgm(&noisy), 1), error(&clean, &read("a.pgm"), 1));
    assert!(grey < 0.5 * before, "{before} to {grey}");
    for (name, file) in [("b.ppm", read("b.ppm")), ("c.ppm", read("c.ppm"))] {
        let after = error(&clean, &file, 3);
        assert!((after - grey).abs() < 1e-9, "{name}: {after}, as grey {grey}");
    }
}

#[test]
fn folders_of_pictures_are_rows_in_single_precision() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("noisy")).expect("a fresh folder");
    std::fs::create_dir(folder.path("clean")).expect("a fresh folder");
    for i in 0..12u32 {
        let (clean, noisy) = pictures(i + 1);
        std::fs::write(folder.path(&format!("noisy/{i:02}.pgm")), pgm(&noisy)).expect("a file");
        let shade: Vec<u8> = clean.iter().map(|v| v.saturating_sub(i as u8 * 3)).collect();
        std::fs::write(folder.path(&format!("clean/{i:02}.pgm")), pgm(&shade)).expect("a file");
    }
    folder.mercer("denoise noisy/ -o out.npy --kernel linear --components 1 -q").fine();
    folder.mercer("denoise noisy/ --train clean/ -o restored/ --noise 15 -q").fine();
    let (clean, noisy) = pictures(1);
    folder.mercer("data convert restored/ restored.csv -q").fine();
    let first = folder.read("restored.csv");
    let first: Vec<u8> = first
        .lines()
        .nth(1)
        .expect("a row")
        .split(',')
        .take(SIDE * SIDE)
        .map(|v| v.parse::<f64>().expect("a number") as u8)
        .collect();
    let (before, after) = (error(&clean, &noisy, 1), error(&clean, &first, 1));
    assert!(after < 0.5 * before, "{before} to {after}");
}

#[test]
fn rows_that_cannot_be_denoised_are_refused_and_nothing_is_written() {
    let row = |i: usize| {
        let cells: Vec<String> =
            (0..60).map(|j| format!("{}", (i * 7919 + j * 104_729 + i * i * j) % 97)).collect();
        cells.join(",") + "\n"
    };
    let strange: String = (0..42).map(row).collect();
    let copy = |i: usize| format!("{0},{0},{0},{0}\n", (i as f64 * 0.7).sin());
    let copies: String = (0..42).map(copy).collect();
    let folder = Folder::new().with("strange.csv", strange).with("copies.csv", copies);
    let run = folder.mercer("denoise strange.csv --label none --noise 0.5 -o clean.csv");
    assert!(run.code == 1 && run.err.contains("denoising does not help"), "{run:?}");
    let run = folder.mercer("denoise copies.csv --label none -o clean.csv");
    assert!(run.code == 1 && run.err.contains("no noise was found"), "{run:?}");
    assert!(!folder.path("clean.csv").exists());
}
