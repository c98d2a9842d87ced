//! Recording of pass systems: methods, commands, and the memory of recordings.

pub(crate) mod ahead;
pub(crate) mod binding_key;
pub(crate) mod bindings;
pub(crate) mod bound;
pub(crate) mod compute;
pub(crate) mod host;
pub(crate) mod layout;
pub(crate) mod no_pass;
pub(crate) mod outcome;
pub(crate) mod queries;
mod raw;
pub(crate) mod recorder;
pub(crate) mod recording;
pub(crate) mod rendering;
pub(crate) mod slot;
pub(crate) mod transfer;
