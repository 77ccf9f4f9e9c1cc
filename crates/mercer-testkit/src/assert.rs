//! Two-sided comparisons that say what differed.

/// Fails unless `|got - want| <= tol * max(1, |want|)`. NaN fails.
#[track_caller]
pub fn close(got: f64, want: f64, tol: f64) {
    let bound = tol * want.abs().max(1.0);
    assert!(
        (got - want).abs() <= bound,
        "got {got:e}, wanted {want:e} within {bound:e}, off by {:e}",
        got - want
    );
}

/// [`close`] for each pair; says where.
#[track_caller]
pub fn all_close(got: &[f64], want: &[f64], tol: f64) {
    assert_eq!(got.len(), want.len(), "lengths differ");
    for (i, (&g, &w)) in got.iter().zip(want).enumerate() {
        let bound = tol * w.abs().max(1.0);
        assert!((g - w).abs() <= bound, "at {i}: got {g:e}, wanted {w:e} within {bound:e}");
    }
}

/// Fails unless every difference is at most `tol` times the largest wanted magnitude.
#[track_caller]
pub fn close_to_scale(got: &[f64], want: &[f64], tol: f64) {
    assert_eq!(got.len(), want.len(), "lengths differ");
    let scale = want.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
    for (i, (&g, &w)) in got.iter().zip(want).enumerate() {
        assert!((g - w).abs() <= tol * scale, "at {i}: got {g:e}, wanted {w:e} within {:e}", tol * scale);
    }
}
