//! The built command, run as people run it: what it prints, what it refuses and how it ends.

mod browser;
mod data;
mod help;
mod kernel;
mod manners;
mod refusals;
mod reproduce;
mod run;
mod tour;
