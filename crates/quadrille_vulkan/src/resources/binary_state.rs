//! States of binary semaphores: which signal is pending, and which use of a frame is next.

use std::sync::Mutex;

use crate::device::gate::Point;
use crate::lock;

/// Kinds of binary semaphores that others share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    /// Somebody signals it once, and a frame waits.
    Imported,
    /// A frame signals it once, and somebody waits.
    Exportable,
    /// Both sides signal it and wait for it, again and again.
    Shared,
}

/// The signal of a shared binary semaphore that has no wait yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PendingSignal {
    /// None: either side may signal.
    None,
    /// A submitted frame of this side signals it, and the other side waits: tell it that it may submit that wait.
    Ours,
    /// The other side has submitted a signal, and a frame of this side waits.
    Theirs,
}

/// State of a binary semaphore, which has one step from 0 to 1.
pub(crate) struct BinaryState {
    kind: Binary,
    now: Mutex<Now>,
}

struct Now {
    step: Step,
    /// The value that the submission of the last wait signals. A frame that signals waits for it, since a binary
    /// semaphore is unsignalled when it is signalled (`VUID-vkQueueSubmit2-semaphore-03868`).
    waited: Option<Point>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// A frame may use it.
    Free,
    /// A submitted frame signals it, or waits for its only signal.
    Submitted,
    /// All that the signal depends on is submitted too.
    Certain,
    /// The signal was exported.
    Exported,
    /// The other side has submitted a signal.
    Arrived,
}

impl BinaryState {
    pub(crate) fn new(kind: Binary) -> Self {
        Self {
            kind,
            now: Mutex::new(Now {
                step: Step::Free,
                waited: None,
            }),
        }
    }

    pub(crate) fn kind(&self) -> Binary {
        self.kind
    }

    fn step(&self) -> Step {
        lock(&self.now).step
    }

    /// The value on the host. A signal that is waited for was submitted before, or is one of a sync file, which is
    /// always signalled some day; so it counts as reached.
    pub(crate) fn value(&self) -> u64 {
        u64::from(self.kind != Binary::Exportable || self.step() != Step::Free)
    }

    /// The signal that nobody has waited for.
    pub(crate) fn pending(&self) -> PendingSignal {
        match self.step() {
            Step::Certain => PendingSignal::Ours,
            Step::Arrived => PendingSignal::Theirs,
            Step::Free | Step::Submitted | Step::Exported => PendingSignal::None,
        }
    }

    /// Describes why a frame cannot use it so.
    pub(crate) fn misuse(&self, is_signal: bool, value: u64) -> Option<&'static str> {
        if value != 1 {
            return Some("it has one step; use the value 1");
        }
        match (self.kind, self.step()) {
            (Binary::Shared, step) => misuse_of_shared(is_signal, step),
            (Binary::Imported, _) if is_signal => {
                Some("it is imported; signal one that `Gpu::exportable_semaphore` has made")
            }
            (Binary::Exportable, _) if !is_signal => {
                Some("it is made to be exported; order passes by their resources or by a timeline")
            }
            (_, Step::Free) => None,
            _ => Some("an earlier frame has used it; import or make another one for each frame"),
        }
    }

    /// Notes a submission that uses it, and the value that the submission signals.
    pub(crate) fn note_used(&self, is_signal: bool, done: Point) {
        let mut now = lock(&self.now);
        if self.kind == Binary::Shared && !is_signal {
            now.step = Step::Free;
            now.waited = Some(done);
        } else {
            now.step = Step::Submitted;
        }
    }

    /// Notes that all that its signal depends on is submitted.
    pub(crate) fn note_certain(&self) {
        let mut now = lock(&self.now);
        if self.kind != Binary::Imported && now.step == Step::Submitted {
            now.step = Step::Certain;
        }
    }

    /// The value that the submission of the last wait signals.
    pub(crate) fn waited(&self) -> Option<Point> {
        lock(&self.now).waited
    }

    /// Takes the signal for its one export as a sync file, or describes why there is none.
    pub(crate) fn take(&self) -> Result<(), &'static str> {
        match self.kind {
            Binary::Exportable => {}
            Binary::Imported => {
                return Err(
                    "it is imported, and its sync file is elsewhere; make one with `Gpu::exportable_semaphore`",
                );
            }
            Binary::Shared => {
                return Err(
                    "it is shared by an opaque descriptor, not as a sync file; export it with `BinarySemaphore::export_opaque`",
                );
            }
        }
        let mut now = lock(&self.now);
        match now.step {
            Step::Certain => {
                now.step = Step::Exported;
                Ok(())
            }
            Step::Exported => Err(
                "it was exported before, which takes its signal; duplicate the descriptor (`OwnedFd::try_clone`)",
            ),
            _ => Err("no submitted frame signals it; export it after the frame"),
        }
    }

    /// Notes that the other side has submitted a signal, or describes why it cannot have.
    pub(crate) fn arrived(&self) -> Result<(), &'static str> {
        self.check_shared()?;
        let mut now = lock(&self.now);
        match now.step {
            Step::Arrived => Err(
                "its signal has arrived before, and no frame has waited for it; let a frame wait between two signals",
            ),
            Step::Submitted => Err(LATE),
            _ => {
                now.step = Step::Arrived;
                Ok(())
            }
        }
    }

    /// Notes that the other side has waited for the signal of a frame, or describes why it cannot have.
    pub(crate) fn taken(&self) -> Result<(), &'static str> {
        self.check_shared()?;
        let mut now = lock(&self.now);
        if now.step != Step::Certain {
            return Err(
                "no signal of a frame is pending that the other side could have waited for; call `taken` once for each signal",
            );
        }
        now.step = Step::Free;
        Ok(())
    }

    fn check_shared(&self) -> Result<(), &'static str> {
        if self.kind == Binary::Shared {
            return Ok(());
        }
        Err(
            "it is of a sync file, which has one signal and one wait; share one with \
             `Gpu::create_exportable_binary_semaphore`",
        )
    }
}

/// The problem of a signal whose frame is submitted, without all that it depends on.
const LATE: &str = "its signal depends on work that nobody has submitted in time; make another one";

fn misuse_of_shared(is_signal: bool, step: Step) -> Option<&'static str> {
    match (step, is_signal) {
        (Step::Free, true) | (Step::Arrived, false) => None,
        (Step::Free, false) => Some(
            "no signal of the other side is pending; call `BinarySemaphore::arrived` once the other side has submitted \
             one",
        ),
        (Step::Arrived, true) => {
            Some("the other side has signalled it; let a frame wait for that signal first")
        }
        (Step::Submitted, _) => Some(LATE),
        (_, true) => Some(
            "nobody has waited for its last signal; call `BinarySemaphore::taken` once the other side has",
        ),
        (_, false) => Some(
            "an earlier frame signals it, and the other side waits; order passes by their resources or by a timeline",
        ),
    }
}

#[cfg(test)]
#[path = "binary_state_tests.rs"]
mod tests;
