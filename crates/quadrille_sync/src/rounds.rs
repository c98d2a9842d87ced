//! How often tests of random cases go round.
//!
//! Miri interprets them, ten thousand times slower than they run. It looks for memory that is used
//! wrongly, which a few rounds show as well as many; whether results are right is for the others.

/// The rounds that are left for Miri: as few as every test still comes to what it is about.
const FEW: usize = 5;

/// The rounds of a test that takes so many of them elsewhere.
pub(crate) fn rounds(all: usize) -> usize {
    if cfg!(miri) { all.min(FEW) } else { all }
}
