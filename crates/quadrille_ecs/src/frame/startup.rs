//! Runs the `RenderStartup` schedule, whose errors end the app with a message.

use bevy_ecs::error::{FallbackErrorHandler, debug};
use bevy_ecs::prelude::*;

use crate::error::RenderError;
use crate::frame::drive::{Stopped, handle};
use crate::frame::failure;
use crate::schedule::RenderStartup;

/// Runs [`RenderStartup`] after `Startup`; its errors go to the
/// [`RenderErrorHandler`](crate::RenderErrorHandler).
pub(crate) fn run_first(world: &mut World) {
    let errors = run(world);
    handle(world, &errors);
    if !errors.is_empty() && world.contains_resource::<Stopped>() {
        // The app exits after this update. Until then, systems miss the resources that were not created; their errors
        // are only logged at debug level, because they would hide the cause.
        world.insert_resource(FallbackErrorHandler(debug));
    }
}

/// Runs [`RenderStartup`] and returns its errors. An error handler of the app receives them instead; then none are
/// returned.
pub(crate) fn run(world: &mut World) -> Vec<RenderError> {
    let run = |world: &mut World| world.run_schedule(RenderStartup);
    if world.contains_resource::<FallbackErrorHandler>() {
        run(world);
        return Vec::new();
    }
    failure::catch_fatal(world, run)
}
