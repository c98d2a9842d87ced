//! Effect of an error on the app.

use bevy_ecs::prelude::*;

use crate::error::RenderError;

/// Reaction to an error in a frame.
///
/// If a frame has several errors, the policy that comes last in this list counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RenderErrorPolicy {
    /// Go on with the next frame; the frame with the error is lost. A frame that could not begin
    /// within [`DeviceInfo::timeout`](quadrille_vulkan::DeviceInfo::timeout), because the device was not done
    /// with an earlier one, begins again.
    /// Without a device no frame follows: then the app goes on and draws no more.
    Ignore,
    /// Rebuild the device, open the windows again, and run
    /// [`RenderStartup`](crate::RenderStartup) again, which makes what belongs to the device. If
    /// that fails, or if the new device is lost within 60 frames, draw no more and exit the app
    /// with an error: nothing is tried for ever.
    Recover,
    /// Draw no more, and exit the app with an error.
    StopRendering,
}

/// Decides what to do after an error in a frame, or in [`RenderStartup`](crate::RenderStartup).
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
    /// Logs the error; recovers if it takes another device to go on, and stops otherwise. For apps
    /// that make what belongs to the device in [`RenderStartup`](crate::RenderStartup).
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
