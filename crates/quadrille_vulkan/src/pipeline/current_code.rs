//! The current code of a pipeline, which changes when its shaders are loaded again.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex};

use crate::lock;

/// Current code of a pipeline: its shaders, compiled.
///
/// Command lists keep the code that they bound, so a change reaches commands recorded from then on.
/// The replaced code is dropped, and so retired, with the last list that bound it.
pub(crate) struct CurrentCode<T> {
    /// Where `current` is: only to be compared.
    address: AtomicPtr<T>,
    codes: Mutex<Codes<T>>,
}

struct Codes<T> {
    current: Arc<T>,
    /// The code that replaces it next.
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

    /// Whether this is what runs now. Costs no reference and no lock.
    #[inline]
    pub(crate) fn is(&self, code: &Arc<T>) -> bool {
        self.address.load(Ordering::Relaxed) == address(code)
    }

    /// Returns the current code.
    pub(crate) fn current(&self) -> Arc<T> {
        Arc::clone(&lock(&self.codes).current)
    }

    /// Lays something ready that is good to run.
    pub(crate) fn prepare(&self, code: Arc<T>) {
        lock(&self.codes).next = Some(code);
    }

    /// Runs what was laid ready last from now on.
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
