//! The hold-back model of the virtual queues.

pub(crate) mod fifo;
pub(crate) mod schedule;
pub(crate) mod virtual_queue;
