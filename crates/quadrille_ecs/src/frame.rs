//! TODO-HEAD frame

pub(crate) mod drive;
pub(crate) mod failure;
pub(crate) mod policy;
pub(crate) mod recover;
pub(crate) mod run;
pub(crate) mod startup;
