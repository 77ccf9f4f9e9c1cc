//! The quadratic problem of kernel machines, slowly: `min 1/2 b'(K + diag(shift))b + q'b` in a box, with the sum of
//! each group kept. Variable `side * n + row` belongs to row `row` of K.

/// A problem as plain slices.
#[derive(Debug, Clone)]
pub struct Qp {
    /// K, n x n.
    pub k: Vec<f64>,
    /// n.
    pub n: usize,
    /// The linear term, a multiple of n long.
    pub linear: Vec<f64>,
    /// Lower bounds.
    pub lower: Vec<f64>,
    /// Upper bounds.
    pub upper: Vec<f64>,
    /// The group of each variable.
    pub group: Vec<usize>,
    /// Added to each variable's diagonal.
    pub shift: Vec<f64>,
}

impl Qp {
    /// `K c` with c the sum of each row's variables.
    pub fn output(&self, beta: &[f64]) -> Vec<f64> {
        let c: Vec<f64> =
            (0..self.n).map(|r| (r..beta.len()).step_by(self.n).map(|v| beta[v]).sum()).collect();
        (0..self.n).map(|i| (0..self.n).map(|j| self.k[i * self.n + j] * c[j]).sum()).collect()
    }

    /// The gradient, from nothing.
    pub fn gradient(&self, beta: &[f64]) -> Vec<f64> {
        let f = self.output(beta);
        (0..beta.len()).map(|v| f[v % self.n] + self.linear[v] + self.shift[v] * beta[v]).collect()
    }

    /// The objective, from nothing.
    pub fn objective(&self, beta: &[f64]) -> f64 {
        let g = self.gradient(beta);
        beta.iter().zip(&g).zip(&self.linear).map(|((b, g), q)| 0.5 * b * (g + q)).sum()
    }

    /// The largest violation of a pair: highest gradient that may fall minus lowest that may rise, over groups.
    pub fn violation(&self, beta: &[f64]) -> f64 {
        let g = self.gradient(beta);
        let groups = self.group.iter().max().map_or(0, |m| m + 1);
        let mut worst = 0.0_f64;
        for k in 0..groups {
            let members = || (0..beta.len()).filter(|&v| self.group[v] == k);
            let up =
                members().filter(|&v| beta[v] < self.upper[v]).map(|v| g[v]).fold(f64::INFINITY, f64::min);
            let low = members()
                .filter(|&v| beta[v] > self.lower[v])
                .map(|v| g[v])
                .fold(f64::NEG_INFINITY, f64::max);
            if up.is_finite() && low.is_finite() {
                worst = worst.max(low - up);
            }
        }
        worst
    }

    /// The sum of each group.
    pub fn sums(&self, beta: &[f64]) -> Vec<f64> {
        let groups = self.group.iter().max().map_or(0, |m| m + 1);
        (0..groups).map(|k| (0..beta.len()).filter(|&v| self.group[v] == k).map(|v| beta[v]).sum()).collect()
    }

    /// A lower bound on the objective's minimum by duality, from any point of the box with the right sums:
    /// minimising the linearisation at beta over box and sums is a fractional knapsack for each group.
    pub fn lower_bound(&self, beta: &[f64]) -> f64 {
        let g = self.gradient(beta);
        let mut bound = self.objective(beta);
        for (k, sum) in self.sums(beta).into_iter().enumerate() {
            let mut members: Vec<usize> = (0..beta.len()).filter(|&v| self.group[v] == k).collect();
            members.sort_by(|&a, &b| g[a].total_cmp(&g[b]));
            let mut left = sum - members.iter().map(|&v| self.lower[v]).sum::<f64>();
            for v in members {
                let take = left.min(self.upper[v] - self.lower[v]);
                left -= take;
                bound += g[v] * (self.lower[v] + take - beta[v]);
            }
        }
        bound
    }

    /// The solution by accelerated projected gradients, from a feasible point: for small, well-behaved problems.
    pub fn solve(&self, start: &[f64], steps: usize) -> Vec<f64> {
        let sums = self.sums(start);
        // An upper bound on the largest eigenvalue: the largest absolute row sum, once for each side.
        let sides = (start.len() / self.n) as f64;
        let rows = self.k.chunks(self.n).map(|r| r.iter().map(|v| v.abs()).sum::<f64>());
        let bend = sides * rows.fold(0.0, f64::max) + self.shift.iter().fold(0.0, |a: f64, &b| a.max(b));
        let (mut x, mut y, mut momentum) = (start.to_vec(), start.to_vec(), 1.0_f64);
        for _ in 0..steps {
            let g = self.gradient(&y);
            let moved: Vec<f64> = y.iter().zip(&g).map(|(y, g)| y - g / bend).collect();
            let next = self.project(&moved, &sums);
            // Momentum that points uphill is dropped.
            let uphill: f64 = (0..x.len()).map(|v| (y[v] - next[v]) * (next[v] - x[v])).sum();
            let grown = f64::midpoint(1.0, (1.0 + 4.0 * momentum * momentum).sqrt());
            let (push, kept) = if uphill > 0.0 { (0.0, 1.0) } else { ((momentum - 1.0) / grown, grown) };
            y = (0..x.len()).map(|v| next[v] + push * (next[v] - x[v])).collect();
            (x, momentum) = (next, kept);
        }
        x
    }

    /// The nearest point of the box with these sums: for each group a shift found by halving.
    fn project(&self, x: &[f64], sums: &[f64]) -> Vec<f64> {
        let mut out = x.to_vec();
        for (k, &sum) in sums.iter().enumerate() {
            let members: Vec<usize> = (0..x.len()).filter(|&v| self.group[v] == k).collect();
            let at =
                |s: f64| members.iter().map(|&v| (x[v] - s).clamp(self.lower[v], self.upper[v])).sum::<f64>();
            let (mut a, mut b) = (-1.0, 1.0);
            while at(a) < sum {
                a *= 2.0;
            }
            while at(b) > sum {
                b *= 2.0;
            }
            for _ in 0..200 {
                let mid = f64::midpoint(a, b);
                if at(mid) > sum { a = mid } else { b = mid }
            }
            for &v in &members {
                out[v] = (x[v] - b).clamp(self.lower[v], self.upper[v]);
            }
        }
        out
    }
}
