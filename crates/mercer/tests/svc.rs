//! Support vector classifiers: optimality recomputed from the model, formulations, classes, probabilities, stopping.

#[path = "svc/classes.rs"]
mod classes;
#[path = "svc/hard.rs"]
mod hard;
#[path = "svc/help.rs"]
mod help;
#[path = "svc/kkt.rs"]
mod kkt;
#[path = "svc/linear.rs"]
mod linear;
#[path = "svc/odd.rs"]
mod odd;
#[path = "svc/outputs.rs"]
mod outputs;
#[path = "svc/same.rs"]
mod same;
#[path = "svc/virtuals.rs"]
mod virtuals;
