//! Sequences and combinations of faults that have broken other renderers. Rules are separated by semicolons;
//! `quadrille_layer/README.md` has their grammar.

use anyhow::{Context, Result, ensure};

use super::combinations::Counted;
use super::program::{Fault, Program};

/// The scripts.
const TRAPS: [&str; 60] = [
    // Images are returned out of order.
    "image order 0,0,0",
    "image order 0,1,0,2",
    "image order 3,1,2,0,0,0,0",
    "image order 2,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,\
     0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1",
    // Suboptimal, also while the same image is always acquired.
    "vkAcquireNextImageKHR every=3 -> VK_SUBOPTIMAL_KHR; image order 1",
    "vkAcquireNextImageKHR every=3 -> VK_SUBOPTIMAL_KHR",
    "vkQueuePresentKHR every=3 -> VK_SUBOPTIMAL_KHR",
    "vkQueuePresentKHR from=1 -> VK_SUBOPTIMAL_KHR",
    "vkQueuePresentKHR from=1 to=4 -> VK_SUBOPTIMAL_KHR; \
     vkQueuePresentKHR nth=5 -> VK_ERROR_OUT_OF_DATE_KHR; \
     image order 0,1,2,3",
    // Presents fail.
    "vkQueuePresentKHR from=1 -> VK_ERROR_OUT_OF_DATE_KHR",
    "vkQueuePresentKHR nth=5 -> VK_ERROR_OUT_OF_DATE_KHR",
    "vkQueuePresentKHR nth=5 -> VK_ERROR_SURFACE_LOST_KHR",
    "vkQueuePresentKHR nth=5 -> VK_ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT",
    "vkQueuePresentKHR nth=5 -> VK_ERROR_DEVICE_LOST",
    "vkQueuePresentKHR every=5 -> VK_ERROR_OUT_OF_DEVICE_MEMORY; \
     vkAcquireNextImageKHR every=2 -> VK_SUBOPTIMAL_KHR; image order 0",
    // Acquisitions fail.
    "vkAcquireNextImageKHR from=1 -> VK_ERROR_OUT_OF_DATE_KHR",
    "vkAcquireNextImageKHR every=2 -> VK_ERROR_OUT_OF_DATE_KHR",
    "vkAcquireNextImageKHR every=3 -> VK_TIMEOUT",
    "vkAcquireNextImageKHR every=3 -> VK_NOT_READY",
    // Images come late or suboptimal while windows sometimes have no area, or a huge one.
    "vkAcquireNextImageKHR every=2 -> VK_TIMEOUT; \
     vkAcquireNextImageKHR every=3 -> VK_SUBOPTIMAL_KHR; \
     extent every=2 0x0; extent every=3 16384x1",
    "vkAcquireNextImageKHR nth=5 -> VK_ERROR_SURFACE_LOST_KHR",
    "vkAcquireNextImageKHR from=5 to=9 -> VK_ERROR_SURFACE_LOST_KHR",
    "vkAcquireNextImageKHR nth=5 -> VK_ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT",
    "vkAcquireNextImageKHR nth=5 -> VK_ERROR_OUT_OF_DEVICE_MEMORY",
    "vkAcquireNextImageKHR nth=5 -> VK_ERROR_DEVICE_LOST",
    // Creation fails, also after the old swapchain was passed to it.
    "vkCreateSwapchainKHR nth=2 -> VK_ERROR_INITIALIZATION_FAILED",
    "vkCreateSwapchainKHR from=2 to=3 -> VK_ERROR_INITIALIZATION_FAILED",
    "vkCreateSwapchainKHR from=2 to=3 -> VK_ERROR_OUT_OF_DEVICE_MEMORY; \
     extent from=6 to=16 0x0",
    "vkCreateSwapchainKHR nth=2 -> VK_ERROR_INITIALIZATION_FAILED; extent from=5 to=15 0x0",
    "vkCreateSwapchainKHR nth=2 -> VK_ERROR_SURFACE_LOST_KHR",
    "vkCreateSwapchainKHR from=2 -> VK_ERROR_SURFACE_LOST_KHR",
    "vkCreateSwapchainKHR nth=2 -> VK_ERROR_NATIVE_WINDOW_IN_USE_KHR",
    "vkCreateSwapchainKHR from=1 -> VK_ERROR_NATIVE_WINDOW_IN_USE_KHR",
    // No area, invalid areas, and sizes that lag behind.
    "extent from=3 to=12 0x0",
    "extent from=3 to=5 1x0",
    "extent from=3 to=5 1x1",
    "extent every=2 0x0",
    "extent from=2 16x16; vkAcquireNextImageKHR every=2 -> VK_SUBOPTIMAL_KHR",
    // Fences that signal late or never.
    "fence never nth=3",
    "fence never from=3",
    "fence never every=4",
    "fence late=50 every=3",
    "fence never from=1; vkQueuePresentKHR every=2 -> VK_SUBOPTIMAL_KHR",
    // Presents are never proven complete, and the surface allows no other swapchain meanwhile.
    "fence never from=1; swapchains most=2; vkQueuePresentKHR from=1 -> VK_SUBOPTIMAL_KHR",
    // The last means of proof fails too, and recovers.
    "fence never from=1; vkQueuePresentKHR from=1 -> VK_SUBOPTIMAL_KHR; \
     vkQueueWaitIdle from=1 to=9 -> VK_ERROR_OUT_OF_HOST_MEMORY",
    "vkGetFenceStatus every=2 -> VK_ERROR_OUT_OF_HOST_MEMORY; \
     vkQueuePresentKHR every=2 -> VK_SUBOPTIMAL_KHR",
    "fence late=300 from=1; vkQueuePresentKHR from=1 -> VK_SUBOPTIMAL_KHR",
    "fence late=100 from=1; vkQueuePresentKHR from=6 -> VK_ERROR_OUT_OF_DATE_KHR",
    // Calls that create a window fail.
    "vkGetPhysicalDeviceSurfaceCapabilitiesKHR nth=2 -> VK_ERROR_SURFACE_LOST_KHR",
    "vkGetPhysicalDeviceSurfaceCapabilitiesKHR from=2 -> VK_ERROR_SURFACE_LOST_KHR",
    "vkGetPhysicalDeviceSurfaceFormatsKHR nth=2 -> VK_ERROR_SURFACE_LOST_KHR",
    "vkGetPhysicalDeviceSurfacePresentModesKHR nth=2 -> VK_ERROR_OUT_OF_HOST_MEMORY",
    "vkCreateImageView nth=3 -> VK_ERROR_OUT_OF_DEVICE_MEMORY",
    "vkCreateHeadlessSurfaceEXT nth=2 -> VK_ERROR_OUT_OF_HOST_MEMORY",
    "vkResetFences every=2 -> VK_ERROR_OUT_OF_DEVICE_MEMORY",
    "vkCreateSemaphore every=3 -> VK_ERROR_OUT_OF_HOST_MEMORY",
    "vkCreateFence every=2 -> VK_ERROR_OUT_OF_HOST_MEMORY",
    // The device is lost.
    "lost nth=7",
    "lost nth=1",
    "lost nth=40; vkWaitSemaphores nth=3 -> VK_ERROR_OUT_OF_HOST_MEMORY",
];

/// Whether a script has the same outcome with fences and with the history: the device is not lost, and the script does
/// not count fences or semaphores, whose numbers differ.
fn is_blind_to_proofs(script: &str) -> bool {
    // Set-up may end without any frames.
    let parts = [
        "fence",
        "Fence",
        "Semaphore",
        "lost",
        "DEVICE_LOST",
        "Formats",
    ];
    !parts.iter().any(|part| script.contains(part))
}

/// Checks that the frames of a script are the same with fences and with the history.
///
/// # Errors
/// When the numbers of shown, skipped, out-of-date or failed frames differ.
fn compare(by_fences: &str, by_history: &str) -> Result<()> {
    let (fences, history) = (Counted::read(by_fences)?, Counted::read(by_history)?);
    ensure!(
        fences.frames() == history.frames(),
        "by fences {fences:?}, by history {history:?}"
    );
    Ok(())
}

impl Program<'_> {
    /// Runs the traps, with and without present fences.
    ///
    /// # Errors
    /// When the program does not survive a trap; the error has its script.
    pub(crate) fn traps(&self) -> Result<String> {
        let faults = TRAPS.iter().flat_map(|script| {
            [true, false].map(|fences| Fault {
                script: script.replace("; ", "\n"),
                frames: 40,
                families: if fences { "gct:1,ct:1,t:1" } else { "gct:1" },
                fences,
                environment: Vec::new(),
            })
        });
        let faults: Vec<_> = faults.collect();
        let outputs = self.run_all(&faults)?;
        let mut same = 0;
        for (script, pair) in TRAPS.iter().zip(outputs.chunks(2)) {
            if let [fences, history] = pair
                && is_blind_to_proofs(script)
            {
                compare(fences, history).with_context(|| (*script).to_owned())?;
                same += 1;
            }
        }
        Ok(format!(
            "{} scripts, by fences and by history, {same} of them with the same frames",
            TRAPS.len()
        ))
    }
}
