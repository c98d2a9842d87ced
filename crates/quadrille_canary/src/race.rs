//! Two threads that write one word with no order between them, on purpose: ThreadSanitizer must say
//! so, or it would not say anything of other programs either.

#![expect(unsafe_code, reason = "a race, which safe Rust does not have")]

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};

/// A word that nothing protects.
struct Word(UnsafeCell<u32>);

// SAFETY: it is not safe. That is the error that is to be seen.
unsafe impl Sync for Word {}

/// Once in a while ThreadSanitizer misses two writes at the very same time.
const ROUNDS: u32 = 100;

static WORD: Word = Word(UnsafeCell::new(0));

/// Waits until both threads have come here so often. Relaxed, so that it orders nothing.
fn meet(arrivals: &AtomicU32, until: u32) {
    arrivals.fetch_add(1, Ordering::Relaxed);
    while arrivals.load(Ordering::Relaxed) < until {
        std::thread::yield_now();
    }
}

fn main() {
    let arrivals = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for number in 1..=2 {
            let arrivals = &arrivals;
            scope.spawn(move || {
                for round in 1..=ROUNDS {
                    meet(arrivals, 2 * round);
                    // SAFETY: the pointer is valid; that the other thread writes too is the error.
                    unsafe { WORD.0.get().write_volatile(number) };
                }
                meet(arrivals, 2 * ROUNDS + 2);
            });
        }
    });
}
