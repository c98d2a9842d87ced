//! Random streams: few resources, few passes, each after the one before.

use quadrille_oracle::Random;
use quadrille_sync::access::Access;
use quadrille_sync::frame::{Frame, Preference, QueueRequest, Use};
use quadrille_sync::plan::{BarrierBatch, Plan, Step};
use quadrille_sync::resource::ResourceIndex;
use quadrille_sync::solve::plan;
use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::commands::CommandList;
use quadrille_vulkan::instance::validation_messages;
use quadrille_vulkan::resources::{Handle, ImageRegion};

use crate::class::Outcome;
use crate::device::{BYTES, Device};

/// Frames of a stream: the second finds what the first has left out.
const FRAMES: usize = 2;

/// A frame, what its passes do, and how its first plan is to be changed.
pub(crate) struct Stream {
    frame: Frame,
    lists: Vec<CommandList>,
    handles: Vec<Handle>,
    /// Picks what the plan is to missing.
    change: Option<u64>,
}

impl Stream {
    /// A random stream on new resources.
    pub(crate) fn random(random: &mut Random, device: &Device) -> Self {
        let mut stream = Self {
            frame: Frame::default(),
            lists: Vec::new(),
            handles: Vec::new(),
            change: random.chance(50).then(|| random.next()),
        };
        for number in 0..random.between(2, 4) {
            let name = format!("r{number}");
            let handle = if number > 0 && random.chance(40) {
                device.image(&name)
            } else {
                device.buffer(&name)
            };
            stream.frame.add_resource(handle.declare());
            stream.handles.push(handle);
        }
        let mut written = Vec::new();
        for number in 0..random.between(2, 6) {
            let dst = random.below(stream.handles.len());
            let others: Vec<usize> = written.iter().copied().filter(|at| *at != dst).collect();
            let src = random.pick(&others).copied().filter(|_| number > 0);
            stream.add_pass(random, device, src, dst);
            written.push(dst);
        }
        stream
    }

    /// Adds a pass that fills a resource, from another one if one is named.
    fn add_pass(&mut self, random: &mut Random, device: &Device, src: Option<usize>, dst: usize) {
        let mut list = CommandList::default();
        let target = self.handles[dst].clone();
        let source = src.map(|src| self.handles[src].clone());
        let with_shader = random.chance(50);
        let (required, read, write) = match (&source, &target) {
            (None, Handle::Buffer(buffer)) => {
                list.fill_buffer(buffer, 0, 0, 7);
                (Capabilities::TRANSFER, None, Access::Clear)
            }
            (None, Handle::Image(image)) => {
                list.clear_image(image, [0.5; 4]);
                (Capabilities::COMPUTE, None, Access::Clear)
            }
            (Some(Handle::Buffer(from)), Handle::Buffer(to)) if with_shader => {
                list.bind_compute(&device.add);
                list.bind_buffer(0, from, 0, 0);
                list.bind_buffer(1, to, 0, 0);
                list.dispatch([1, 1, 1]);
                let read = Some(Access::StorageReadCompute);
                (Capabilities::COMPUTE, read, Access::StorageWriteCompute)
            }
            (Some(from), to) => {
                match (from, to) {
                    (Handle::Buffer(from), Handle::Buffer(to)) => {
                        list.copy_buffer(from, 0, to, 0, BYTES);
                    }
                    (Handle::Buffer(from), Handle::Image(to)) => {
                        list.copy_buffer_to_image(from, 0, to, ImageRegion::whole(to));
                    }
                    (Handle::Image(from), Handle::Buffer(to)) => {
                        list.copy_image_to_buffer(from, ImageRegion::whole(from), to, 0);
                    }
                    (Handle::Image(from), Handle::Image(to)) => {
                        let (src, dst) = (ImageRegion::whole(from), ImageRegion::whole(to));
                        list.copy_image(from, src, to, dst);
                    }
                }
                let read = Some(Access::CopyRead);
                (Capabilities::TRANSFER, read, Access::CopyWrite)
            }
        };
        let index = |at: usize| ResourceIndex(at as u32);
        let mut uses = vec![Use {
            discard: true,
            ..Use::whole(index(dst), write)
        }];
        uses.extend(
            src.zip(read)
                .map(|(src, read)| Use::whole(index(src), read)),
        );
        let preference = if random.chance(60) {
            Preference::Async
        } else {
            Preference::Main
        };
        let queue = QueueRequest {
            required,
            preference,
            fixed: None,
        };
        let before: Vec<_> = self.frame.pass_indices().last().into_iter().collect();
        let name = format!("p{}", self.lists.len());
        self.frame.add_pass(name.as_str(), queue, &uses, &before);
        self.lists.push(list);
    }

    /// Runs and judges the stream.
    pub(crate) fn run(self, device: &mut Device) -> Outcome {
        let before = validation_messages();
        let mut judge = device.judge();
        let (mut violations, mut changed) = (Vec::new(), None);
        let (mut plans, mut text) = (Vec::new(), self.frame.to_string());
        for number in 0..FRAMES {
            let topology = device.topology().clone();
            let right = plan(&self.frame, &topology, &device.states).unwrap();
            let change = self.change.filter(|_| number == 0);
            let lacking = change.and_then(|draw| {
                let all = lacking_one(&right);
                Random::new(draw).pick(&all).cloned()
            });
            let run = lacking.as_ref().map_or(&right, |(_, plan)| plan).clone();
            text += &format!("\n{}", run.display(&self.frame, &topology));
            violations.extend(judge.frame(&self.frame, &run));
            device.execute(&self.frame, (&run, &right), &self.lists, &self.handles);
            plans.push(run);
            changed = changed.or(lacking.map(|(what, _)| what));
        }
        let messages = device.finish() - before;
        let frame = self.frame.clone();
        drop(self);
        device.retire();
        Outcome {
            changed,
            violations,
            messages,
            plans,
            frame,
            text,
        }
    }
}

/// The plans that missing one wait or barrier, which is what the layer claims to judge. Weaker scopes are
/// for the judge's own tests.
fn lacking_one(plan: &Plan) -> Vec<(String, Plan)> {
    let mut all = Vec::new();
    let mut add = |what: String, change: &dyn Fn(&mut Plan)| {
        let mut plan = plan.clone();
        change(&mut plan);
        all.push((what, plan));
    };
    for (at, submission) in plan.submissions.iter().enumerate() {
        for wait in 0..submission.waits.len() {
            add(format!("wait {wait} of submission {at}"), &|plan| {
                plan.submissions[at].waits.remove(wait);
            });
        }
        for (step_at, step) in submission.steps.iter().enumerate() {
            let Step::Barriers(batch) = step else {
                continue;
            };
            let mut without = |what: &str, change: &dyn Fn(&mut BarrierBatch)| {
                let place = format!("{what} of step {step_at} of submission {at}");
                add(place, &|plan| {
                    let steps = &mut plan.submissions[at].steps;
                    if let Step::Barriers(batch) = &mut steps[step_at] {
                        change(batch);
                        if batch.is_empty() {
                            steps.remove(step_at);
                        }
                    }
                });
            };
            if batch.memory.is_some() {
                without("memory barrier", &|batch| batch.memory = None);
            }
            for buffer in 0..batch.buffers.len() {
                let what = format!("buffer barrier {buffer}");
                without(&what, &|batch| drop(batch.buffers.remove(buffer)));
            }
            for image in 0..batch.images.len() {
                let what = format!("image barrier {image}");
                without(&what, &|batch| drop(batch.images.remove(image)));
            }
        }
    }
    all
}
