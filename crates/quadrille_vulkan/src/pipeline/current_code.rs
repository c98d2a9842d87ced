//! What a pipeline runs at the moment, which changes when its shaders are loaded again.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex};

use crate::lock;

/// What a pipeline runs: its shaders, compiled.
///
/// Command lists keep what they bound, so a change reaches what is recorded from then on, and what
/// it takes the place of is dropped, and so retired, with the last list that bound it.
pub(crate) struct CurrentCode<T> {
    /// Where `current` is: only to be compared.
    address: AtomicPtr<T>,
    codes: Mutex<Codes<T>>,
}

struct Codes<T> {
    current: Arc<T>,
    /// What takes its place next.
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

    /// What runs now.
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
            // What goes with it takes locks of its own.
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
