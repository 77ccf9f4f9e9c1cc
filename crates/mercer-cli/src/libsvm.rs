//! LIBSVM's short options and their names here.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::failure::Failure;

/// Options of `svm-train` and `svm-predict` that are flags of another name here.
const NAMES: [(&str, &str); 11] = [
    (
        "-t",
        "--kernel: -t 0 is `-k linear`, -t 1 `-k 'poly(degree=3)'`, -t 2 `-k rbf`, -t 3 `-k sigmoid`, -t 4 `-k precomputed`",
    ),
    ("-s", "--learner: -s 0 is svc, -s 1 nu-svc, -s 2 one-class, -s 3 svr, -s 4 nu-svr"),
    ("-d", "part of the kernel: `-k 'poly(degree=3)'`"),
    ("-r", "part of the kernel: `-k 'poly(degree=3, coef0=1)'`"),
    ("-b", "--proba, in training and in predicting"),
    ("-e", "--tol, the stopping tolerance"),
    ("-p", "--epsilon, the width of the tube of regression"),
    ("-n", "--nu"),
    ("-m", "--memory, for example `--memory 1G`"),
    ("-h", "--no-shrinking"),
    ("-w", "--class-weight, for example `--class-weight spam=2`"),
];

/// An unknown option that is LIBSVM's, with what to write instead; any other error as it is.
pub(crate) fn translated(error: clap::Error) -> Failure {
    let option = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) => option.clone(),
        _ => return Failure::Clap(error),
    };
    let known = NAMES.iter().find(|(name, _)| *name == option);
    match known {
        Some((name, here)) => {
            Failure::usage(format!("unexpected argument `{name}`"), format!("LIBSVM's {name} is {here}"))
        }
        None => Failure::Clap(error),
    }
}
