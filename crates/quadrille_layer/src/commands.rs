//! The table of intercepted commands, and its lookups.

pub(crate) mod lookup;
mod null;
mod table;

#[cfg(test)]
mod tests;
