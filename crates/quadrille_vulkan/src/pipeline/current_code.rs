//! The current code of a pipeline, which hot reload replaces.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex};

use crate::lock;

/// Current code of a pipeline: its compiled shaders.
///
/// Command lists keep the code that they bound, so a change affects only commands recorded later.
/// The old code is dropped, and so retired, with the last list that bound it.
pub(crate) struct CurrentCode<T> {
    /// Address of `current`, for comparison only.
    address: AtomicPtr<T>,
    codes: Mutex<Codes<T>>,
}

struct Codes<T> {
    current: Arc<T>,
    /// The staged code.
    next: Option<Arc<T>>,
}

impl<T> CurrentCode<T> {
    pub(crate) fn new(code: Arc<T>) -> Self {
        Self {
            address: AtomicPtr::new(address(&code)),
            codes: Mutex::new(Codes {
                current: code,
                next: None,
            }),
        }
    }

    /// Whether this is the current code, without a lock or a reference count.
    #[inline]
    pub(crate) fn is(&self, code: &Arc<T>) -> bool {
        self.address.load(Ordering::Relaxed) == address(code)
    }

    /// Returns the current code.
    pub(crate) fn current(&self) -> Arc<T> {
        Arc::clone(&lock(&self.codes).current)
    }

    /// Stages new code.
    pub(crate) fn prepare(&self, code: Arc<T>) {
        lock(&self.codes).next = Some(code);
    }

    /// Switches to the code staged last.
    pub(crate) fn adopt(&self) {
        let mut codes = lock(&self.codes);
        if let Some(next) = codes.next.take() {
            self.address.store(address(&next), Ordering::Relaxed);
            let old = std::mem::replace(&mut codes.current, next);
            // Dropping the old code takes locks of its own.
            drop(codes);
            drop(old);
        }
    }
}

fn address<T>(code: &Arc<T>) -> *mut T {
    Arc::as_ptr(code).cast_mut()
}

#[cfg(test)]
#[path = "current_code_tests.rs"]
mod tests;
