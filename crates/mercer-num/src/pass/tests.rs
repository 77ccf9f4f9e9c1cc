//! The passes against loops that can be read at a glance, on every instruction set this machine has.

use mercer_testkit::toy::{normals, uniforms};

use super::*;

struct Case {
    g: Vec<f64>,
    a: Vec<f32>,
    b: Vec<f32>,
    diag: Vec<f32>,
    flags: Vec<u8>,
}

fn case(n: usize, seed: u64) -> Case {
    let f32s = |s| normals(n, 1, s).iter().map(|&v| v as f32).collect::<Vec<_>>();
    Case {
        // Few distinct values: ties are common.
        g: normals(n, 1, seed).iter().map(|v| (v * 4.0).round() / 4.0).collect(),
        a: f32s(seed + 1),
        b: f32s(seed + 2),
        diag: f32s(seed + 3).iter().map(|v| v.abs()).collect(),
        flags: uniforms(n, 1, 0.0, 16.0, seed + 4).iter().map(|&v| v as u8).collect(),
    }
}

fn slow_step(c: &mut Case, t: f64, up: u8) -> Lowest {
    for i in 0..c.g.len() {
        c.g[i] += t * (f64::from(c.a[i]) - f64::from(c.b[i]));
    }
    lowest(&c.g, &c.flags, up)
}

fn slow_partner(c: &Case, own: f32, tau: f32, floor: f64, low: u8) -> Partner {
    let (mut best, mut at, mut high) = (0.0_f32, None, 0.0_f32);
    for i in 0..c.g.len() {
        let rise = (c.g[i] - floor) as f32;
        if c.flags[i] & low != 0 && rise > 0.0 {
            let score = rise * rise / ((own + c.diag[i]) - 2.0 * c.a[i]).max(tau);
            high = high.max(rise);
            if score > best {
                (best, at) = (score, Some(i));
            }
        }
    }
    Partner { at, rise: high }
}

#[test]
fn passes_are_their_plain_loops_to_the_last_bit() {
    for n in (0..40).chain([1003, 1024]) {
        for seed in 0..5 {
            let mut slow = case(n, 100 * n as u64 + seed);
            for bit in [1_u8, 2, 4] {
                let mut g = slow.g.clone();
                let fast = step(&mut g, &slow.a, &slow.b, 0.25, &slow.flags, bit);
                assert_eq!(fast, slow_step(&mut slow, 0.25, bit), "n {n} seed {seed}");
                assert_eq!(g, slow.g);
                let floor = if fast.value.is_finite() { fast.value } else { 0.0 };
                let fast = partner(&slow.g, &slow.a, &slow.diag, 0.5, 1e-6, floor, &slow.flags, bit);
                assert_eq!(fast, slow_partner(&slow, 0.5, 1e-6, floor, bit), "n {n} seed {seed}");
            }
        }
    }
}

#[test]
fn instruction_sets_agree() {
    let c = case(1003, 7);
    let run = |which: Level| {
        let mut g = c.g.clone();
        // SAFETY: each set is only called where the machine has it.
        let got = unsafe {
            match which {
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => (
                    step_on::<x86::Avx512, f32>(&mut g, &c.a, &c.b, -0.7, &c.flags, 1),
                    partner_on::<x86::Avx512, f32>(&c.g, &c.a, &c.diag, 1.0, 1e-6, -1.0, &c.flags, 2),
                ),
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => (
                    step_on::<x86::Avx2, f32>(&mut g, &c.a, &c.b, -0.7, &c.flags, 1),
                    partner_on::<x86::Avx2, f32>(&c.g, &c.a, &c.diag, 1.0, 1e-6, -1.0, &c.flags, 2),
                ),
                _ => (
                    step_on::<Plain, f32>(&mut g, &c.a, &c.b, -0.7, &c.flags, 1),
                    partner_on::<Plain, f32>(&c.g, &c.a, &c.diag, 1.0, 1e-6, -1.0, &c.flags, 2),
                ),
            }
        };
        (got, g)
    };
    let plain = run(Level::Plain);
    if level() != Level::Plain {
        assert_eq!(run(Level::Avx2), plain);
    }
    if level() == Level::Avx512 {
        assert_eq!(run(Level::Avx512), plain);
    }
}

#[test]
fn rows_of_f64_give_what_f32_rows_of_the_same_values_give() {
    let c = case(203, 3);
    let wide: Vec<f64> = c.a.iter().map(|&v| f64::from(v)).collect();
    let other: Vec<f64> = c.b.iter().map(|&v| f64::from(v)).collect();
    let (mut g, mut h) = (c.g.clone(), c.g.clone());
    assert_eq!(step(&mut g, &c.a, &c.b, 0.3, &c.flags, 1), step(&mut h, &wide, &other, 0.3, &c.flags, 1));
    assert_eq!(g, h);
    assert_eq!(
        partner(&g, &c.a, &c.diag, 1.0, 1e-6, -1.0, &c.flags, 2),
        partner(&g, &wide, &c.diag, 1.0, 1e-6, -1.0, &c.flags, 2)
    );
}

#[test]
fn accumulating_is_summing() {
    let n = 205;
    for count in 0..20 {
        let rows: Vec<Vec<f32>> =
            (0..count).map(|p| normals(n, 1, p).iter().map(|&v| v as f32).collect()).collect();
        let views: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
        let coef = normals(count as usize, 1, 99);
        let mut fast = normals(n, 1, 98);
        let want: Vec<f64> = (0..n)
            .map(|j| fast[j] + (0..count as usize).map(|p| coef[p] * f64::from(rows[p][j])).sum::<f64>())
            .collect();
        accumulate(&mut fast, &views, &coef);
        mercer_testkit::assert::all_close(&fast, &want, 1e-14);
    }
}
