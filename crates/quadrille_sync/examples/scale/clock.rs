//! The time that planning takes on the processor.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use quadrille_sync::PlanErrors;

/// How many times each frame is timed, and for how long: the system counts in steps of a few
/// milliseconds.
const BATCHES: usize = 5;
const BATCH: Duration = Duration::from_millis(60);

/// The time that a run takes on the processor: the median of [`BATCHES`], each at least [`BATCH`].
pub(crate) fn timed(
    mut run: impl FnMut() -> Result<(), PlanErrors>,
) -> Result<Duration, PlanErrors> {
    let mut times = Vec::with_capacity(BATCHES);
    for _ in 0..BATCHES {
        let (begin, mut runs) = (processor_time(), 0);
        let time = loop {
            run()?;
            runs += 1;
            // Asking is not free, and answers are coarse.
            if runs % 16 == 0 || runs < 4 {
                let time = processor_time().saturating_sub(begin);
                if time >= BATCH {
                    break time;
                }
            }
        };
        times.push(time / runs);
    }
    times.sort();
    Ok(times[BATCHES / 2])
}

/// How long this thread has run: what others do on the machine meanwhile counts only by what it
/// takes from the caches. Where the system does not tell, the time that has passed.
fn processor_time() -> Duration {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = text.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(
        || BEGIN.get_or_init(Instant::now).elapsed(),
        Duration::from_nanos,
    )
}
