//! The renderer as plugins of an app, and what an app sees of it besides frames: diagnostics, shaders
//! that follow their files.

pub(crate) mod content;
pub(crate) mod diagnostics;
pub(crate) mod group;
pub(crate) mod plugin;
pub(crate) mod reload;
#[cfg(feature = "hot_reload")]
pub(crate) mod watch;
