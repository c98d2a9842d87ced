//! Warnings and errors that a program logs, to be asserted on.
//!
//! A process has one log, to which the threads of all apps write. So a test that collects runs alone: [`collect`] waits until the
//! tests end that have an app, and apps of other tests wait for its end.

use std::cell::RefCell;
use std::fmt::{Debug, Write as _};
use std::sync::{Mutex, Once, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Held to write by a test that collects, to read by all others that have an app.
static USERS: RwLock<()> = RwLock::new(());

enum Use {
    None,
    Shared {
        _guard: RwLockReadGuard<'static, ()>,
    },
    Alone {
        _guard: RwLockWriteGuard<'static, ()>,
    },
}

thread_local! {
    /// Until the thread ends, which is that of one test where there are several.
    static USE: RefCell<Use> = const { RefCell::new(Use::None) };
}

/// Waits until no other test collects.
pub(crate) fn share() {
    USE.with_borrow_mut(|by| {
        if matches!(by, Use::None) {
            let _guard = USERS.read().unwrap_or_else(PoisonError::into_inner);
            *by = Use::Shared { _guard };
        }
    });
}

/// Collects from now on, on all threads, and forgets what was collected. No other test has an app meanwhile.
pub(crate) fn collect() {
    USE.with_borrow_mut(|by| {
        if !matches!(by, Use::Alone { .. }) {
            *by = Use::None;
            let _guard = USERS.write().unwrap_or_else(PoisonError::into_inner);
            *by = Use::Alone { _guard };
        }
    });
    static SET: Once = Once::new();
    SET.call_once(|| {
        tracing::subscriber::set_global_default(Collector).expect("nobody else collects");
    });
    take();
}

/// Returns the lines that were logged since the last call.
pub(crate) fn take() -> Vec<String> {
    std::mem::take(&mut *LINES.lock().unwrap_or_else(PoisonError::into_inner))
}

struct Collector;

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{} ", event.metadata().target()));
        event.record(&mut line);
        let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            write!(self.0, "{value:?}").expect("memory can be written");
        }
    }
}
