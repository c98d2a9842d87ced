//! Plugins of the renderer, diagnostics, hot-reloaded shaders, and warnings about components that nothing renders.

pub(crate) mod content;
pub(crate) mod diagnostics;
pub(crate) mod group;
pub(crate) mod plugin;
pub(crate) mod reload;
#[cfg(feature = "hot_reload")]
pub(crate) mod watch;
