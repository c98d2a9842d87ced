//! Errors and panics of the systems in the `Render` and `RenderStartup` schedules.
//!
//! bevy passes both to the world's fallback error handler, a plain function whose default panics. While passes record,
//! a handler of this module is set, so that a failing pass only costs its frame. A function has no state, so there are
//! several handlers, each with its own list of errors. A recording app takes one exclusively. So apps that record at
//! the same time in one process (tests) do not mix their errors.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use bevy_ecs::error::{
    BevyError, ErrorContext, ErrorHandler, FallbackErrorHandler, Severity, match_severity,
};
use bevy_ecs::prelude::*;

use crate::error::RenderError;
use crate::record::host::panic_message;

/// Number of apps that can record at the same time; further ones wait.
const LISTS: usize = 8;
type Handlers = [ErrorHandler; LISTS];
const NOTE_ALL: Handlers = [
    note::<0>, note::<1>, note::<2>, note::<3>, note::<4>, note::<5>, note::<6>, note::<7>,
];
const NOTE_FATAL: Handlers = [
    note_fatal::<0>,
    note_fatal::<1>,
    note_fatal::<2>,
    note_fatal::<3>,
    note_fatal::<4>,
    note_fatal::<5>,
    note_fatal::<6>,
    note_fatal::<7>,
];

static FAILURES: [Mutex<Vec<RenderError>>; LISTS] = [const { Mutex::new(Vec::new()) }; LISTS];
/// Marks the lists in use.
static TAKEN: Mutex<[bool; LISTS]> = Mutex::new([false; LISTS]);
static GIVEN_BACK: Condvar = Condvar::new();

fn note<const LIST: usize>(mut error: BevyError, context: ErrorContext) {
    // The error itself does not contain a panic's message.
    let message = match error.take_payload() {
        Some(panic) => panic_message(&*panic),
        None => error.to_string().trim_end().to_owned(),
    };
    let failure = RenderError::System {
        system: context.name().to_string(),
        message,
    };
    failures(LIST).push(failure);
}

fn note_fatal<const LIST: usize>(error: BevyError, context: ErrorContext) {
    match error.severity() {
        Severity::Panic => note::<LIST>(error, context),
        _ => match_severity(error, context),
    }
}

fn failures(list: usize) -> MutexGuard<'static, Vec<RenderError>> {
    let failures = &FAILURES[list];
    failures.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Exclusive use of a list of errors, released on drop.
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

/// Runs a closure and returns the errors of systems in it.
pub(crate) fn catch(world: &mut World, run: impl FnOnce(&mut World)) -> Vec<RenderError> {
    catch_with(world, &NOTE_ALL, run)
}

/// Like [`catch`], but errors whose severity bevy would only log are logged and not returned.
pub(crate) fn catch_fatal(world: &mut World, run: impl FnOnce(&mut World)) -> Vec<RenderError> {
    catch_with(world, &NOTE_FATAL, run)
}

fn catch_with(
    world: &mut World,
    handlers: &Handlers,
    run: impl FnOnce(&mut World),
) -> Vec<RenderError> {
    let list = List::take();
    let before = world.get_resource::<FallbackErrorHandler>().copied();
    world.insert_resource(FallbackErrorHandler(handlers[list.0]));
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
