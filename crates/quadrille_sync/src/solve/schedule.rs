//! Queues, submissions, and their order. [`objective`] alone compares alternatives.

pub(super) mod arrange;
pub(super) mod assign;
pub(super) mod choose;
pub(super) mod cut;
pub(super) mod gate;
pub(super) mod levels;
pub(super) mod list;
pub(super) mod merge;
pub(super) mod objective;
pub(super) mod split;
