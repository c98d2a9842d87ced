//! Errors and panics of the systems in the `Render` schedule.
//!
//! bevy hands both to the world's fallback error handler, a plain function, whose default panics.
//! While passes record, that handler is ours, so that a failing pass costs its frame and nothing
//! else. A plain function has no state, so there are several, with a list each: whoever records
//! has one to itself, and apps that record at the same time in one process (tests) do not see each
//! other's failures.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use bevy_ecs::error::{BevyError, ErrorContext, ErrorHandler, FallbackErrorHandler};
use bevy_ecs::prelude::*;

use crate::error::RenderError;

/// So many apps can record at the same time; the next one waits.
const LISTS: usize = 8;
const HANDLERS: [ErrorHandler; LISTS] = [
    note::<0>, note::<1>, note::<2>, note::<3>, note::<4>, note::<5>, note::<6>, note::<7>,
];

static FAILURES: [Mutex<Vec<RenderError>>; LISTS] = [const { Mutex::new(Vec::new()) }; LISTS];
/// Which lists somebody has.
static TAKEN: Mutex<[bool; LISTS]> = Mutex::new([false; LISTS]);
static GIVEN_BACK: Condvar = Condvar::new();

fn note<const LIST: usize>(error: BevyError, context: ErrorContext) {
    let failure = RenderError::System {
        system: context.name().to_string(),
        message: error.to_string(),
    };
    failures(LIST).push(failure);
}

fn failures(list: usize) -> MutexGuard<'static, Vec<RenderError>> {
    let failures = &FAILURES[list];
    failures.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A list that nobody else has.
struct List(usize);

impl List {
    fn take() -> Self {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(list) = taken.iter().position(|taken| !taken) {
                taken[list] = true;
                return Self(list);
            }
            let waited = GIVEN_BACK.wait(taken);
            taken = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for List {
    fn drop(&mut self) {
        failures(self.0).clear();
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        taken[self.0] = false;
        GIVEN_BACK.notify_one();
    }
}

/// Runs something in which systems may fail, and returns how they did.
pub(crate) fn catch(world: &mut World, run: impl FnOnce(&mut World)) -> Vec<RenderError> {
    let list = List::take();
    let before = world.get_resource::<FallbackErrorHandler>().copied();
    world.insert_resource(FallbackErrorHandler(HANDLERS[list.0]));
    run(world);
    match before {
        Some(handler) => world.insert_resource(handler),
        None => {
            world.remove_resource::<FallbackErrorHandler>();
        }
    }
    std::mem::take(&mut failures(list.0))
}

#[cfg(test)]
mod tests;
