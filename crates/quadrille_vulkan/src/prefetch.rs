//! Hints to the processor: what to fetch from memory before it is needed.

/// The bytes that processors fetch at once.
pub const LINE: usize = 64;

/// Has the processor fetch some lines from an address on, which may be any.
#[inline]
pub fn lines(from: *const u8, count: usize) {
    (0..count).for_each(|at| line(from.wrapping_add(at * LINE)));
}

/// Has the processor fetch the line of an address, which may be any.
#[cfg(target_arch = "x86_64")]
#[inline]
fn line(at: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: fetching reads nothing and never faults, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
}

/// Elsewhere the standard library has no stable way to say it.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn line(_: *const u8) {}
