//! Linear machines reduced to weight vectors: `sum_j c_jo x_j . x = w_o . x`, one centre per output.

use crate::data::{Csr, Data, Points};
use crate::error::Result;
use crate::exec::{Exec, room_for_table};
use crate::expansion::Expansion;
use crate::kernel::Kernel;
use crate::model::Dual;
use crate::num::{Mat, product};

/// The same outputs with one centre each, if the kernel is linear and that is fewer.
pub(in crate::model) fn collapsed(expansion: Expansion, exec: Exec) -> Result<Expansion> {
    let (m, k, d) = (expansion.len(), expansion.outputs(), expansion.centres().dim());
    if *expansion.kernel() != Kernel::Linear || m <= k {
        return Ok(expansion);
    }
    let view = expansion.centres().view();
    let sparse = matches!(view.data, Data::Csr { .. });
    // Sparse rows may declare far more columns than fit in memory as dense weights; the machine is then not reduced.
    if room_for_table("weights of all columns", 2 * k, d, view.bytes(), exec.memory()).is_err() {
        return Ok(expansion);
    }
    let mut weights = vec![0.0; k * d];
    if let Data::Csr { start, column, value } = view.data {
        for j in 0..m {
            for (o, &c) in expansion.coef()[j * k..(j + 1) * k].iter().enumerate().filter(|(_, c)| **c != 0.0)
            {
                (start[j]..start[j + 1]).for_each(|p| weights[o * d + column[p] as usize] += c * value[p]);
            }
        }
    } else {
        let x = view.to_f64_within(exec.memory())?;
        product::tn(&mut weights, Mat::new(expansion.coef(), m, k), Mat::new(&x, m, d), exec.threads());
    }
    // Weights of sparse rows may have very many columns, of which few are non-zero.
    let filled = weights.iter().filter(|w| **w != 0.0).count();
    let centres = if sparse && filled * 3 < weights.len() {
        let entries = || (0..k * d).filter(|&p| weights[p] != 0.0);
        let mut start = vec![0; k + 1];
        entries().for_each(|p| start[p / d + 1] += 1);
        (0..k).for_each(|o| start[o + 1] += start[o]);
        let column = entries().map(|p| (p % d) as u32).collect();
        Points::sparse(Csr { start, column, value: entries().map(|p| weights[p]).collect() }, d)?
    } else {
        Points::dense(weights, d)?
    };
    let unit = (0..k * k).map(|p| if p / k == p % k { 1.0 } else { 0.0 }).collect();
    Expansion::new(Kernel::Linear, centres, unit, expansion.offset().to_vec())
}

/// The same, also returning the coefficients of the rows, which the weights replace.
pub(in crate::model) fn collapsed_with_dual(expansion: Expansion, exec: Exec) -> Result<(Expansion, Dual)> {
    let full = expansion.len();
    let coef = if *expansion.kernel() == Kernel::Linear { expansion.coef().to_vec() } else { Vec::new() };
    let small = collapsed(expansion, exec)?;
    let dual = if small.len() < full { Dual(coef) } else { Dual::default() };
    Ok((small, dual))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert::all_close, toy};

    #[test]
    fn outputs_stay_what_they_were() {
        let (m, d, k) = (30, 7, 3);
        let x: Vec<f64> =
            toy::normals(m, d, 1).iter().map(|v| if v.abs() < 1.0 { 0.0 } else { *v }).collect();
        let dense = Points::dense(x, d).expect("whole rows");
        let mut start = vec![0];
        let (mut column, mut value) = (Vec::new(), Vec::new());
        for row in dense.view().to_f64().expect("numbers").chunks(d) {
            row.iter().enumerate().filter(|(_, v)| **v != 0.0).for_each(|(c, &v)| {
                column.push(c as u32);
                value.push(v);
            });
            start.push(column.len());
        }
        let sparse = Points::sparse(Csr { start, column, value }, d).expect("whole rows");
        let probe = Points::dense(toy::normals(11, d, 2), d).expect("whole rows");
        for centres in [dense, sparse] {
            let f = Expansion::new(Kernel::Linear, centres, toy::normals(m, k, 3), vec![0.1, 0.2, 0.3])
                .expect("fits");
            let g = collapsed(f.clone(), Exec::one()).expect("linear");
            assert_eq!(g.len(), k);
            let at = |e: &Expansion| e.evaluate(probe.view(), Exec::one()).expect("columns agree");
            all_close(&at(&g), &at(&f), 1e-12);
        }
    }
}
