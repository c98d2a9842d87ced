//! Results of a few calls, which a script replaces.

use std::time::Instant;

use ash::vk;

use crate::Outcome;
use crate::gpu::{Gpu, LONG_NS};

/// Submits six times with a fence, waits for each, and prints the result of every call.
pub(crate) fn results() -> Outcome {
    let gpu = Gpu::new()?;
    for round in 1..=6 {
        let fence = gpu.fence()?;
        let submitted = gpu.submit(gpu.queues[0][0], &[], &[], &[], fence);
        println!("submit {round} {}", word(submitted));
        if submitted.is_err() {
            continue;
        }
        let start = Instant::now();
        // SAFETY: a valid fence, in use.
        let waited = unsafe { gpu.device.wait_for_fences(&[fence], true, 2_000_000_000) };
        let slow = start.elapsed().as_millis() >= 200;
        println!(
            "wait {round} {}{}",
            word(waited),
            if slow { " slow" } else { "" }
        );
    }
    let allocated = gpu.buffer(64, &[]);
    println!("buffer {}", word(allocated.map(drop)));
    println!("idle {}", word(gpu.idle()));
    let timeline = gpu.timeline()?;
    let done = gpu.submit(
        gpu.queues[0][0],
        &[],
        &[],
        &[(timeline, 1)],
        vk::Fence::null(),
    );
    println!(
        "last {}",
        word(done.and_then(|()| gpu.wait((timeline, 1), LONG_NS)))
    );
    Ok(())
}

/// Formats a result by its Vulkan name.
pub(crate) fn word<T>(result: Result<T, vk::Result>) -> String {
    format!("{:?}", result.err().unwrap_or(vk::Result::SUCCESS))
}
