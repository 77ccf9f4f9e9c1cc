//! Support vector classifiers: optimality recomputed from the model, formulations, classes, probabilities, stopping.

#[path = "svc/help.rs"]
mod help;
#[path = "svc/kkt.rs"]
mod kkt;
