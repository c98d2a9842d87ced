//! Number of rounds of randomized tests.
//!
//! Miri interprets tests about ten thousand times slower than native code. It checks for undefined
//! behavior, for which a few rounds suffice; native runs check the results.

/// The most rounds under Miri: enough that every test reaches its subject.
const FEW: usize = 5;

/// Returns the number of rounds of a test that has `all` rounds natively.
pub(crate) fn rounds(all: usize) -> usize {
    if cfg!(miri) { all.min(FEW) } else { all }
}
