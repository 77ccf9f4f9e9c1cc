//! The built command, run as people run it: what it prints, what it refuses and how it ends.

mod browser;
mod compress;
mod controls;
mod data;
mod golden;
mod help;
mod interrupt;
mod kernel;
mod learn;
mod learners;
mod libsvm;
mod manners;
mod memory;
mod newcomer;
mod outputs;
mod pca;
mod refusals;
mod reproduce;
mod run;
mod same;
mod shell;
mod streams;
mod target;
mod tour;
mod tune;
mod wrong;
