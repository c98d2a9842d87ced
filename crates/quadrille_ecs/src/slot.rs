//! The memory that a pass system records into.
//!
//! The system and the renderer take turns at it, and bevy sees to the turns: see [`Slot`].

#![expect(
    unsafe_code,
    reason = "a recorder and the renderer share memory, each in its turn"
)]

use std::cell::UnsafeCell;

use crate::recording::{PassRecording, Recorded, Recordings};

/// The recording of one pass system.
///
/// - Its system writes it while it runs. It has the state of its parameter for itself then, and
///   reads the resource [`Recordings`], by what it registered in `init_access`.
/// - Everybody else needs that resource for himself, `&mut Recordings` or a [`Recorded`] made from
///   it, which bevy gives to nobody while a system runs that reads it.
#[derive(Default)]
pub(crate) struct Slot(UnsafeCell<PassRecording>);

// SAFETY: a recording can be sent, and who may touch it is settled as the type says: never two at
// once if one of them writes.
unsafe impl Sync for Slot {}

impl Slot {
    /// The recording, for its system.
    ///
    /// # Safety
    /// The caller is the parameter of the one system that this slot was made for, holds its state
    /// exclusively for the life of the result, and may read the resource [`Recordings`] of the
    /// slot's world.
    #[expect(
        clippy::mut_from_ref,
        reason = "the caller has the only right to write, by contract"
    )]
    pub(crate) unsafe fn write(&self) -> &mut PassRecording {
        // SAFETY: no other system has this slot, and nobody has `Recordings` for himself.
        unsafe { &mut *self.0.get() }
    }

    /// The recording, for who has all recordings for himself.
    pub(crate) fn with<'a>(&'a self, _: &'a mut Recordings) -> &'a mut PassRecording {
        // SAFETY: no system that could write reads `Recordings` now, and the borrow of it keeps
        // others out.
        unsafe { &mut *self.0.get() }
    }

    /// The recording, for who reads all recordings.
    pub(crate) fn read<'a>(&'a self, _: &Recorded<'a>) -> &'a PassRecording {
        // SAFETY: `Recorded` borrows all recordings exclusively for its life, so nobody writes.
        unsafe { &*self.0.get() }
    }
}
