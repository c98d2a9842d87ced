//! Error policy of the renderer.

use bevy_ecs::prelude::*;

use crate::error::RenderError;

/// Reaction to an error in a frame.
///
/// If a frame has several errors, the policy latest in this list applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RenderErrorPolicy {
    /// Continue with the next frame; the failed frame is dropped. A frame that could not begin within
    /// [`DeviceInfo::timeout`](quadrille_vulkan::device::DeviceInfo::timeout), because the device had not completed an earlier
    /// one, is retried. After the loss of the device the app continues without rendering.
    Ignore,
    /// Replace the device, recreate the windows' surfaces, and run
    /// [`RenderStartup`](crate::RenderStartup) again, which creates all device objects. If
    /// that fails, or if the new device is lost within 60 frames, stop rendering and exit the app
    /// with an error.
    Recover,
    /// Stop rendering, and exit the app with an error.
    StopRendering,
}

/// Chooses the policy after an error in a frame, or in [`RenderStartup`](crate::RenderStartup).
///
/// ```
/// # use bevy_app::App;
/// # use quadrille_ecs::{RenderErrorHandler, RenderErrorPolicy};
/// App::new().insert_resource(RenderErrorHandler(|error, _world| {
///     eprintln!("{error}");
///     RenderErrorPolicy::Ignore
/// }));
/// ```
#[derive(Resource, Clone, Copy)]
pub struct RenderErrorHandler(pub fn(&RenderError, &mut World) -> RenderErrorPolicy);

impl RenderErrorHandler {
    /// Logs the error; recovers if the device has to be replaced, and stops otherwise. For apps
    /// that create all device objects in [`RenderStartup`](crate::RenderStartup).
    pub fn recovering() -> Self {
        Self(|error, _| {
            tracing::error!("{error}");
            if error.needs_another_device() {
                RenderErrorPolicy::Recover
            } else {
                RenderErrorPolicy::StopRendering
            }
        })
    }
}

impl Default for RenderErrorHandler {
    /// Logs the error and stops.
    fn default() -> Self {
        Self(|error, _| {
            tracing::error!("{error}");
            RenderErrorPolicy::StopRendering
        })
    }
}
