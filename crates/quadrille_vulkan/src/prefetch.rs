//! Prefetch hints for the CPU cache.

/// Size of a cache line in bytes.
pub const LINE: usize = 64;

/// Prefetches cache lines from an address on. The address may be invalid.
#[inline]
pub fn lines(from: *const u8, count: usize) {
    (0..count).for_each(|at| line(from.wrapping_add(at * LINE)));
}

/// Prefetches the cache line of an address. The address may be invalid.
#[cfg(target_arch = "x86_64")]
#[inline]
fn line(at: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: prefetching does not access memory architecturally and never faults, for any address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
}

/// Does nothing: the standard library has no stable prefetch for other architectures.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn line(_: *const u8) {}
