//! Kernel k-means: points whose images lie together.
//!
//! ```text
//! minimise   sum_i w_i |Phi(x_i) - m_c(i)|^2                       (Schoelkopf, Smola and Mueller 1998, section 7.2)
//! ```
//!
//! Each mean is an expansion, so the clusters are one expansion with an output per cluster: `f_c(x) = m_c . Phi(x) -
//! |m_c|^2 / 2`, largest for the nearest mean, and `k(x, x) - 2 f_c(x)` is the squared distance. Starting points are
//! drawn as in k-means++, or computed from the leading eigenvectors of the normalised kernel matrix (Ng, Jordan and
//! Weiss 2002; Zha et al. 2001); the best of several runs is kept. Cost: n^2 per pass, and n^2 per step of the
//! eigenvectors.

use serde::{Deserialize, Serialize};

use crate::data::split::shuffle;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::model::classified::weighted_rows;
use crate::model::learners::given::Given;
use crate::model::param::params;
use crate::model::{Learner, Sample};
use crate::model::{Machine, Role};
use crate::num::factor;
use crate::solve::kmeans::{Clusters, distances, kernel_kmeans, online, seeded};
use crate::watch::{Info, Stop, Watch};

/// Initial clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClusterStart {
    /// Rows drawn with probabilities proportional to squared distances (k-means++).
    #[default]
    Distances,
    /// By the leading eigenvectors of the normalised kernel matrix.
    Spectral,
    /// The result of the online form, row by row.
    Online,
}

params! {
    /// Parameters of a clustering. See [`ClusterParams::TABLE`] for ranges.
    pub struct ClusterParams {
        /// The kernel; `None`: a Gaussian with its width chosen from the data.
        kernel: Option<Kernel> = None, Kernel, "rbf, width chosen from the data" => "kernel";
        clusters: u64 = 2, Whole(1) => "number of clusters";
        start: ClusterStart = ClusterStart::Distances, OneOf(&["distances", "spectral", "online"]), "distances" => "initial clusters";
        starts: u64 = 10, Whole(1) => "number of restarts; the best result is kept";
        max_iter: u64 = 300, Whole(1) => "maximum passes per restart";
        seed: u64 = 0, Whole(0) => "random seed";
    }
}

/// Number of rows above which eigenvectors take too long.
const SPECTRAL: usize = 3000;

/// Spectral clustering of n rows by their similarities, n x n (Ng, Jordan and Weiss 2002): k-means among the rows of
/// the first eigenvectors of the normalised matrix, to length one; the best of `starts` runs. Returns each row's
/// cluster.
///
/// Cost: n^3 for the eigenvectors, n^2 for each pass of k-means. Fails for matrices that are not symmetric, have
/// negative or non-finite values, or do not fit into memory, and for more clusters than rows.
///
/// ```
/// use mercer::{Exec, model::spectral, watch};
/// let similar = [1.0, 0.9, 0.0, 0.9, 1.0, 0.1, 0.0, 0.1, 1.0];
/// let found = spectral(&similar, 2, 10, 0, Exec::one(), &mut watch::silent())?;
/// assert!(found[0] == found[1] && found[1] != found[2]);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn spectral(
    similar: &[f64],
    clusters: usize,
    starts: u64,
    seed: u64,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Vec<u32>> {
    let n = similar.len().isqrt();
    if n == 0 || n * n != similar.len() {
        return Err(Error::shape("similarities", similar.len(), "a square matrix of at least one row"));
    }
    if clusters == 0 || clusters > n {
        return Err(Error::param("clusters", clusters, format!("from 1 to the number of rows, {n}")));
    }
    if let Some(bad) = similar.iter().position(|v| !(*v >= 0.0 && v.is_finite())) {
        let name = format!("similarity of rows {} and {}", bad / n, bad % n);
        return Err(Error::param(name, similar[bad], "a number from 0"));
    }
    let most = similar.iter().fold(0.0_f64, |m, v| m.max(*v));
    if (0..n).any(|i| (0..i).any(|j| (similar[i * n + j] - similar[j * n + i]).abs() > 1e-8 * most)) {
        return Err(Error::shape("similarities", "a matrix that is not symmetric", "a symmetric one"));
    }
    let allowed = ((exec.budget() / 32) as f64).sqrt() as usize;
    if n > allowed {
        return Err(Error::param("rows", n, format!("at most {allowed} within this memory")));
    }
    let (inner, weight) = (embedded(similar, n, clusters, exec)?, vec![1.0; n]);
    let mut best: Option<Clusters> = None;
    for start in 0..starts.max(1) {
        let from = seeded(&inner, &weight, clusters, seed.wrapping_add(start));
        let found = kernel_kmeans(&inner, &weight, &from, clusters, 300, exec, watch)?;
        if best.as_ref().is_none_or(|b| found.inertia < b.inertia) {
            best = Some(found);
        }
    }
    Ok(best.expect("at least one start").of_row)
}

/// Dot products of the rows of the first m eigenvectors of the normalised matrix, each row scaled to norm 1.
fn embedded(gram: &[f64], n: usize, m: usize, exec: Exec) -> Result<Vec<f64>> {
    let root: Vec<f64> = (0..n)
        .map(|i| gram[i * n..(i + 1) * n].iter().sum::<f64>().abs().max(f64::MIN_POSITIVE).sqrt())
        .collect();
    let scaled: Vec<f64> = (0..n * n).map(|at| gram[at] / (root[at / n] * root[at % n])).collect();
    let (_, vectors) = factor::eigen(&scaled, n)?;
    let mut rows: Vec<f64> = (0..n).flat_map(|i| vectors[i * n..i * n + m].to_vec()).collect();
    for row in rows.chunks_mut(m) {
        let length = row.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        row.iter_mut().for_each(|v| *v /= length);
    }
    let mut inner = vec![0.0; n * n];
    let a = crate::num::Mat::new(&rows, n, m);
    crate::num::product::nt(&mut inner, a, a, exec.threads());
    Ok(inner)
}

impl ClusterParams {
    /// Fits on the sample's points and weights; targets are ignored.
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        let given = Given::new(self, sample, exec)?;
        let (rows, weight) = weighted_rows(&sample)?;
        let (n, m) = (rows.len(), self.clusters as usize);
        if m > n {
            return Err(Error::param("clusters", m, format!("at most the number of rows, {n}")));
        }
        let gram = given.matrix(&rows, 2)?;
        let mut best: Option<Clusters> = None;
        let (mut passes, mut cancelled) = (0, false);
        for start in 0..self.starts {
            let from = self.begin(&gram, &weight, self.seed.wrapping_add(start), exec)?;
            let found = kernel_kmeans(&gram, &weight, &from, m, self.max_iter, exec, &mut |step| {
                let go = watch(step);
                cancelled |= go.is_break();
                go
            })?;
            passes += found.passes;
            if best.as_ref().is_none_or(|b| found.inertia < b.inertia) {
                best = Some(found);
            }
            if cancelled {
                break;
            }
        }
        let found = best.expect("at least one start");
        let mut info = Info { iterations: passes, objective: Some(found.inertia), ..Info::default() };
        info.stop = match (cancelled, found.converged) {
            (true, _) => Stop::Cancelled,
            (_, true) => Stop::Converged,
            _ => Stop::Limit,
        };
        self.model(&given, (&rows, &weight), &gram, &found, info)
    }

    fn begin(&self, gram: &[f64], weight: &[f64], seed: u64, exec: Exec) -> Result<Vec<u32>> {
        let (n, m) = (weight.len(), self.clusters as usize);
        match self.start {
            ClusterStart::Distances => Ok(seeded(gram, weight, m, seed)),
            ClusterStart::Online => Ok(online(gram, weight, &shuffle(n, seed), m, 1)),
            ClusterStart::Spectral => {
                if n > SPECTRAL {
                    return Err(Error::param(
                        "start",
                        "spectral",
                        format!("another start for more than {SPECTRAL} rows"),
                    ));
                }
                let inner = embedded(gram, n, m, exec)?;
                let from = seeded(&inner, weight, m, seed);
                let quiet = &mut crate::watch::silent();
                Ok(kernel_kmeans(&inner, weight, &from, m, 100, exec, quiet)?.of_row)
            }
        }
    }

    fn model(
        &self,
        given: &Given<'_>,
        (rows, weight): (&[u32], &[f64]),
        gram: &[f64],
        found: &Clusters,
        info: Info,
    ) -> Result<Machine> {
        let (n, m) = (rows.len(), self.clusters as usize);
        let mut size = vec![0.0; m];
        found.of_row.iter().zip(weight).for_each(|(&c, w)| size[c as usize] += w);
        let mut coef = vec![0.0; n * m];
        let mut norm2 = vec![0.0; m];
        let far = distances(gram, weight, &found.of_row, m, given.exec);
        for i in 0..n {
            let c = found.of_row[i] as usize;
            coef[i * m + c] = weight[i] / size[c];
        }
        // |m_c|^2 = sum_i a_i k_ii - mean distance of its rows.
        for i in 0..n {
            let c = found.of_row[i] as usize;
            norm2[c] += coef[i * m + c] * (gram[i * n + i] - far[i * m + c]);
        }
        let offset = norm2.iter().map(|v| -0.5 * v).collect();
        let learner = Learner::Cluster(self.clone());
        let mut model = given.machine(rows, coef, offset, Role::Clusters(m), learner, info)?;
        model.tell("inertia", found.inertia);
        model.tell("starts", self.starts as f64);
        Ok(model)
    }
}
