//! Allocation counter, for tests of steady-state costs.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

static COUNT: AtomicU64 = AtomicU64::new(0);

/// System allocator that counts. Set it in a test program:
///
/// ```
/// use quadrille_bench::CountingAllocator;
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator;
///
/// let before = CountingAllocator::count();
/// drop(vec![1, 2, 3]);
/// assert!(CountingAllocator::count() > before);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

impl CountingAllocator {
    /// Number of allocations and reallocations so far, over all threads.
    pub fn count() -> u64 {
        COUNT.load(Ordering::Relaxed)
    }
}

// SAFETY: all calls are forwarded to the system allocator; counting does not allocate.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: passed on.
        unsafe { System.realloc(memory, layout, size) }
    }
}
