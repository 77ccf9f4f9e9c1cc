//! Commands that look at data and write it elsewhere.

pub(crate) mod convert;
pub(crate) mod info;
pub(crate) mod split;
pub(crate) mod toy;
