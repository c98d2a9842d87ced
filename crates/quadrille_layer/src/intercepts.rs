//! The intercepted commands, one file per noun.

pub(crate) mod counted;
pub(crate) mod device;
pub(crate) mod device_fault;
pub(crate) mod hidden;
pub(crate) mod instance;
pub(crate) mod names;
pub(crate) mod pools;
pub(crate) mod present_modes;
pub(crate) mod present_wait;
pub(crate) mod presentation;
pub(crate) mod record;
pub(crate) mod resources;
pub(crate) mod semaphores;
pub(crate) mod submit;
pub(crate) mod wait;
