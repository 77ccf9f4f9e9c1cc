//! Signed powers, `x -> sign(x) |x|^p`.

use super::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::data::stage) struct Power {
    p: f64,
}

impl Line for Power {
    const ENTRY: Entry = Entry {
        name: "power",
        args: &[arg("p", "", "a number above 0", "the exponent")],
        doc: "x -> sign(x) |x|^p",
        example: "power(0.5)",
        ..Entry::NUMBERS
    };

    fn read(args: &Args) -> Result<Asked<Self>> {
        let p = args.real("p")?;
        args.need("p", p > 0.0)?;
        Ok(Asked::Ready(Power { p }))
    }
}

impl Kind for Power {
    fn describe(&self, _at: Frame) -> String {
        format!("power: sign(x) |x|^{}", self.p)
    }

    fn map(&self, at: Frame) -> Option<Box<dyn RowMap + '_>> {
        Some(signed_power(at.d, self.p))
    }

    fn inverse(&self, at: Frame) -> Option<Box<dyn RowMap>> {
        Some(signed_power(at.d, 1.0 / self.p))
    }

    fn is_valid(&self, _at: Frame) -> bool {
        self.p > 0.0 && self.p.is_finite()
    }
}

fn signed_power(d_out: usize, p: f64) -> Box<dyn RowMap> {
    let run = move |x: &[f64], out: &mut [f64]| {
        if p == 0.5 {
            out.iter_mut().zip(x).for_each(|(to, v)| *to = v.abs().sqrt().copysign(*v));
        } else {
            out.iter_mut().zip(x).for_each(|(to, v)| *to = v.abs().powf(p).copysign(*v));
        }
    };
    Box::new(Each { d_out, on_sparse: OnSparse::Entries, run })
}
