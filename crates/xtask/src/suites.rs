//! Test suites: GPU tests, sanitizers, and an archive of the tests for another machine.

pub(crate) mod device;
pub(crate) mod gpu;
pub(crate) mod sanitize;
pub(crate) mod timings;
