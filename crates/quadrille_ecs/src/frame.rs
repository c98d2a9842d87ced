//! One frame, from pacing to presenting, and error handling. Begin with `drive`.

pub(crate) mod drive;
pub(crate) mod failure;
pub(crate) mod policy;
pub(crate) mod recover;
pub(crate) mod run;
pub(crate) mod startup;
pub(crate) mod windows;
