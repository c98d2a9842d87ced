//! Captures warnings and errors that a program logs, for assertions.
//!
//! A process has one log, written by the threads of all apps. A test that captures it must run alone: [`collect`] waits
//! until tests with an app have ended, and apps of other tests wait until it has ended.

use std::cell::RefCell;
use std::fmt::{Debug, Write as _};
use std::sync::{Mutex, Once, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Write-locked by a test that captures, read-locked by other tests with an app.
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
    /// Held until the thread ends: each of several tests runs on its own thread.
    static USE: RefCell<Use> = const { RefCell::new(Use::None) };
}

/// Waits until no other test captures.
pub(crate) fn share() {
    USE.with_borrow_mut(|by| {
        if matches!(by, Use::None) {
            let _guard = USERS.read().unwrap_or_else(PoisonError::into_inner);
            *by = Use::Shared { _guard };
        }
    });
}

/// Starts to capture from all threads, and clears the captured lines. No other test has an app meanwhile.
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
