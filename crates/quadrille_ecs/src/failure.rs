//! Errors and panics of the systems in the `Render` schedule.
//!
//! bevy hands both to the world's fallback error handler, a plain function, whose default panics.
//! While passes record, that handler is ours, so that a failing pass costs its frame and nothing
//! else. A plain function has no state, hence the list here; apps that record at the same time in
//! one process (tests) may see each other's failures.

use std::sync::{Mutex, PoisonError};

use bevy_ecs::error::{BevyError, ErrorContext, FallbackErrorHandler};
use bevy_ecs::prelude::*;

use crate::error::RenderError;

static FAILURES: Mutex<Vec<RenderError>> = Mutex::new(Vec::new());

fn note(error: BevyError, context: ErrorContext) {
    let failure = RenderError::System {
        system: context.name().to_string(),
        message: error.to_string(),
    };
    FAILURES
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(failure);
}

/// Runs something in which systems may fail, and returns how they did.
pub(crate) fn catch(world: &mut World, run: impl FnOnce(&mut World)) -> Vec<RenderError> {
    let before = world.get_resource::<FallbackErrorHandler>().copied();
    world.insert_resource(FallbackErrorHandler(note));
    run(world);
    match before {
        Some(handler) => world.insert_resource(handler),
        None => {
            world.remove_resource::<FallbackErrorHandler>();
        }
    }
    std::mem::take(&mut FAILURES.lock().unwrap_or_else(PoisonError::into_inner))
}
