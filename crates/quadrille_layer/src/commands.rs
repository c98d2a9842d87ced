//! The table of intercepted commands, and how it is looked up.

pub(crate) mod lookup;
mod null;
mod table;

#[cfg(test)]
mod tests;
