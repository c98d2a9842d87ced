//! Instances and devices, and the state that the layer keeps for each.

pub(crate) mod barriers;
pub(crate) mod deadlock;
pub(crate) mod device;
pub(crate) mod driver;
pub(crate) mod instance;
pub(crate) mod names;
pub(crate) mod poison;
pub(crate) mod pools;
pub(crate) mod present_ids;
pub(crate) mod registry;
pub(crate) mod submission;
pub(crate) mod swapchains;
pub(crate) mod work;
