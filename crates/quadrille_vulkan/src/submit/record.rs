//! Recording of a frame: checks its input, divides the plan into chunks, and passes them to [`record`].

use quadrille_sync::plan::Step;
use quadrille_sync::topology::QueueIndex;

use crate::error::FrameError;
use crate::record::chunks::{self, Chunk};
use crate::record::encode::Target;
use crate::record::{self, FrameInput, Job, Parallel, Recorded};
use crate::submit::frames::Frames;

impl Frames {
    /// Encodes the command lists of a frame into command buffers, in the order of the plan, with its barriers in
    /// between. `parallel` runs about `tasks` tasks, each of which encodes a contiguous part of the plan into one
    /// command buffer per submission.
    ///
    /// Swapchain images must be acquired first.
    ///
    /// # Errors
    /// Returns the first invalid command (with its pass), a pipeline that does not compile, or inconsistent arguments.
    /// Nothing was submitted; the frame can be abandoned.
    pub fn record(
        &mut self,
        input: FrameInput<'_>,
        parallel: &dyn Parallel,
        tasks: usize,
    ) -> Result<Recorded, FrameError> {
        self.check_plan(&input)?;
        self.settle_transients(input.frame, input.handles)?;
        let is_main_loop = self.mailbox.is_none();
        let check_stream = |what: &str, name: &str, used: &str| {
            let problem =
                || format!("the {what} {name} is {used} by another stream than the main loop");
            is_main_loop
                .then_some(())
                .ok_or_else(|| FrameError::Mismatch { problem: problem() })
        };
        for list in input.lists.iter().flatten() {
            for table in list.tables() {
                check_stream("table", table.name(), "read")?;
                table.update_set(self.current)?;
            }
            for set in list.query_sets() {
                check_stream("query set", set.name(), "used")?;
                set.begin(self.current);
            }
        }
        let cost = |step: &Step| record::step_cost(&input, step);
        let chunks = chunks::cut(input.plan, tasks, cost);
        let targets = self.targets(&input, &chunks)?;
        if let Some(timing) = &mut self.timing {
            let (device, first, lanes) = (&self.device, self.first, &self.lanes);
            let bits = |queue: QueueIndex| {
                let lane = &lanes[usize::from(queue.0) - first];
                device.queues[lane.queue].timestamp_bits
            };
            timing.prepare(device, self.current, &input, bits)?;
        }
        let job = Job {
            device: &self.device,
            input,
            chunks: &chunks,
            targets: &targets,
            timing: self.timing.as_ref(),
            slot: self.current,
        };
        let call_cache = self.call_caches.of(input.plan);
        let recorded = record::record(&job, call_cache, parallel)?;
        self.recorded = true;
        Ok(recorded)
    }
}

impl Frames {
    /// Allocates a command buffer for each chunk.
    fn targets(
        &mut self,
        input: &FrameInput<'_>,
        chunks: &[Chunk],
    ) -> Result<Vec<Target>, FrameError> {
        let mut targets = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let queue = input.plan.submissions[chunk.submission].queue;
            let family = self.topology.family(queue).0;
            let pools = &mut self.slots[self.current].pools;
            let buffer = pools
                .take(&self.device, chunk.task, family)
                .map_err(FrameError::vulkan(&self.device, "vkAllocateCommandBuffers"))?;
            let queue = self.lanes[usize::from(queue.0) - self.first].queue;
            targets.push(Target {
                buffer,
                capabilities: self.device.topology.queues[queue].capabilities,
                granularity: self.device.queues[queue].granularity,
                slot: self.current,
            });
        }
        Ok(targets)
    }

    /// Checks that the frame can be recorded.
    fn check_plan(&self, input: &FrameInput<'_>) -> Result<(), FrameError> {
        self.check_lanes(input)?;
        record::check(input)?;
        // A rejected plan is not cached, so that it is rejected again.
        if self.call_caches.know(input.plan) {
            Ok(())
        } else {
            record::check_steps(&self.device, input)
        }
    }

    /// Checks that the plan submits only to queues of this stream.
    fn check_lanes(&self, input: &FrameInput<'_>) -> Result<(), FrameError> {
        for submission in &input.plan.submissions {
            let queue = submission.queue.0;
            if self.lane(usize::from(queue)).is_none() {
                let problem = format!("the plan names queue {queue}, which is not this stream's");
                return Err(FrameError::Mismatch { problem });
            }
        }
        Ok(())
    }
}
