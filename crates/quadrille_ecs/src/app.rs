//! TODO-HEAD app

pub(crate) mod diagnostics;
pub(crate) mod group;
pub(crate) mod plugin;
pub(crate) mod reload;
#[cfg(feature = "hot_reload")]
pub(crate) mod watch;
