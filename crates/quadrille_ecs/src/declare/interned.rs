//! Static references to accesses, for passes that choose one while they record.

use std::sync::{PoisonError, RwLock};

use crate::declare::declaration::DeclaredAccess;
use crate::declare::kind::{AccessKind, for_each_kind};

/// Accesses without a constant. Each is leaked once, which is bounded because a program uses few.
static EXACT: RwLock<Vec<&'static DeclaredAccess>> = RwLock::new(Vec::new());

/// Returns this access of a whole resource, in the stages of the pass's pipelines.
pub(crate) fn access(kind: AccessKind) -> &'static DeclaredAccess {
    macro_rules! constants {
        ($($(#[$doc:meta])* $name:ident $word:literal,)*) => {
            match kind {
                $(AccessKind::$name => const { &DeclaredAccess::new(AccessKind::$name) },)*
                AccessKind::Exactly(_) => exact(kind),
            }
        };
    }
    for_each_kind!(constants)
}

fn exact(kind: AccessKind) -> &'static DeclaredAccess {
    let find = |all: &[&'static DeclaredAccess]| all.iter().find(|one| one.kind == kind).copied();
    let known = find(&EXACT.read().unwrap_or_else(PoisonError::into_inner));
    known.unwrap_or_else(|| {
        let mut all = EXACT.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have added it since the lock was released.
        find(&all).unwrap_or_else(|| {
            let access = &*Box::leak(Box::new(DeclaredAccess::new(kind)));
            all.push(access);
            access
        })
    })
}

#[cfg(test)]
mod tests;
