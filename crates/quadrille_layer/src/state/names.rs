//! Debug names of semaphores, for reports.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{PoisonError, RwLock};

/// Debug names by handle.
#[derive(Debug, Default)]
pub(crate) struct Names(RwLock<HashMap<u64, String>>);

impl Names {
    /// Returns the name of a semaphore, or its handle.
    pub(crate) fn describe(&self, semaphore: u64) -> String {
        let names = self.0.read().unwrap_or_else(PoisonError::into_inner);
        names
            .get(&semaphore)
            .map_or_else(|| format!("{semaphore:#x}"), |name| format!("`{name}`"))
    }

    /// Removes a destroyed semaphore.
    pub(crate) fn forget(&self, semaphore: u64) {
        self.set(semaphore, None);
    }

    /// Sets or removes the name of a semaphore.
    pub(crate) fn set(&self, semaphore: u64, name: Option<&CStr>) {
        let mut names = self.0.write().unwrap_or_else(PoisonError::into_inner);
        match name {
            Some(name) => names.insert(semaphore, name.to_string_lossy().into_owned()),
            None => names.remove(&semaphore),
        };
    }
}
