//! Threads with a stack large enough for the deepest accepted shader.
//!
//! naga and drivers recurse over nested constructs of a shader, and a stack overflow aborts the
//! process. So the nesting of shaders is limited (`shader/nesting.rs`), and parsing and compilation
//! run on a stack for which the limits were measured.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// Stack size in bytes; only accessed pages take memory.
///
/// Measured in a debug build on x86-64 with naga 30.0.2: each limit of `shader/nesting.rs` alone needs less than a
/// quarter of it, which a test ensures.
pub(crate) const STACK_BYTES: usize = 64 << 20;

thread_local! {
    static IS_DEEP: Cell<bool> = const { Cell::new(false) };
}

/// A thread with such a stack; its function begins with [`begin`].
pub(crate) fn builder() -> thread::Builder {
    thread::Builder::new().stack_size(STACK_BYTES)
}

/// Notes that this thread was built by [`builder`].
pub(crate) fn begin() {
    IS_DEEP.set(true);
}

/// Runs a task on such a stack, and waits for it. A panic of the task is returned as an error, so the task must not
/// hold data that a panic could leave inconsistent.
///
/// # Errors
/// The reason, as the end of a sentence: the task panicked, or the system could not create a thread.
pub(crate) fn run<T: Send>(task: impl FnOnce() -> T + Send) -> Result<T, String> {
    if IS_DEEP.get() {
        return catch(task);
    }
    let dispatch = tracing::dispatcher::get_default(Clone::clone);
    thread::scope(|scope| {
        let task = || {
            begin();
            tracing::dispatcher::with_default(&dispatch, || catch(task))
        };
        let thread = builder()
            .name("quadrille shaders".to_owned())
            .spawn_scoped(scope, task)
            .map_err(|error| format!("cannot have a thread: {error}"))?;
        thread.join().unwrap_or_else(|_| Err("panics".to_owned()))
    })
}

fn catch<T>(task: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(task)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        text.map_or_else(|| "panics".to_owned(), |text| format!("panics: {text}"))
    })
}

#[cfg(test)]
mod tests;
