//! The papers' kernels in Mercer's terms; d is the number of pixels, by which the papers divide (Schoelkopf 1997,
//! Table 2.4).

use mercer::kernel::Kernel;

/// `((x.y) / d)^degree`
pub(crate) fn poly(degree: u32, d: usize) -> Kernel {
    Kernel::Poly { degree, scale: 1.0 / d as f64, coef0: 0.0 }
}

/// `exp(-|x - y|^2 / (d c))`
pub(crate) fn rbf(c: f64, d: usize) -> Kernel {
    Kernel::Rbf { gamma: 1.0 / (d as f64 * c) }
}

/// `1.04 tanh(2 (x.y) / d - threshold)`
pub(crate) fn sigmoid(threshold: f64, d: usize) -> Kernel {
    Kernel::Sigmoid { amplitude: 1.04, scale: 2.0 / d as f64, shift: -threshold }
}

/// The image-local kernel `k_p^{d1,d2}` on square images.
pub(crate) fn local(p: u32, d1: u32, d2: u32, side: u32) -> Kernel {
    Kernel::Local { diameter: p, inner: d1, outer: d2, height: side, width: side }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_what_the_papers_say() {
        assert_eq!(poly(3, 4), "poly(degree=3, scale=1/4)".parse().expect("a kernel"));
        assert_eq!(rbf(0.5, 256), "rbf(gamma=1/128)".parse().expect("a kernel"));
        let line = "sigmoid(amplitude=1.04, scale=0.5, shift=-0.8)";
        assert_eq!(sigmoid(0.8, 4), line.parse().expect("a kernel"));
    }
}
