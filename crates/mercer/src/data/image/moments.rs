//! Moments of an image: centre of mass and shear.

use crate::data::points::ImageShape;

/// How much a value weighs: its distance from the background, or 1 for all that is further away than a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::data) struct Mass {
    pub(in crate::data) background: f64,
    pub(in crate::data) level: Option<f64>,
}

/// Moments of one image's mass.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::data) struct Moments {
    /// All of it.
    pub(in crate::data) mass: f64,
    /// Its centre; 0 where there is no mass.
    pub(in crate::data) x: f64,
    pub(in crate::data) y: f64,
    /// Mean of (y - centre)^2.
    pub(in crate::data) yy: f64,
    /// Mean of (x - centre)(y - centre).
    pub(in crate::data) xy: f64,
}

impl Mass {
    pub(in crate::data) fn of(self, v: f64) -> f64 {
        let away = (v - self.background).abs();
        self.level.map_or(away, |level| f64::from(u8::from(away > level)))
    }

    /// The moments of an image; a pixel's mass is the sum over its channels.
    pub(in crate::data) fn moments(self, image: &[f64], shape: ImageShape) -> Moments {
        let mut m = Moments::default();
        let stride = shape.width * shape.channels;
        for (y, row) in image.chunks_exact(stride).enumerate() {
            for (x, pixel) in row.chunks_exact(shape.channels).enumerate() {
                let w: f64 = pixel.iter().map(|&v| self.of(v)).sum();
                let (x, y) = (x as f64, y as f64);
                m.mass += w;
                m.x += w * x;
                m.y += w * y;
                m.yy += w * y * y;
                m.xy += w * x * y;
            }
        }
        if m.mass > 0.0 {
            for sum in [&mut m.x, &mut m.y, &mut m.yy, &mut m.xy] {
                *sum /= m.mass;
            }
            m.yy -= m.y * m.y;
            m.xy -= m.x * m.y;
        }
        m
    }
}
