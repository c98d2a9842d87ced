//! What an error means for the app.

use bevy_ecs::prelude::*;

use crate::error::RenderError;

/// What to do after an error in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderErrorPolicy {
    /// Go on with the next frame; the frame with the error is lost.
    Ignore,
    /// Draw no more, and exit the app with an error.
    StopRendering,
}

/// Decides what to do after an error in a frame.
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

impl Default for RenderErrorHandler {
    /// Logs the error and stops.
    fn default() -> Self {
        Self(|error, _| {
            tracing::error!("{error}");
            RenderErrorPolicy::StopRendering
        })
    }
}
