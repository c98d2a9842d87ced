//! Passes with unchanged commands, which are replayed.

use quadrille_sync::access::Access;
use quadrille_sync::frame::{Frame, Use};
use quadrille_sync::planner::Planner;
use quadrille_vulkan::FrameError;
use quadrille_vulkan::commands::CommandList;
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::record::{FrameInput, Serial};
use quadrille_vulkan::resources::{GpuBuffer, Handle};
use quadrille_vulkan::shader::GpuShader;

use crate::rig::{Rig, TIMEOUT, compute, discard, transfer};

pub(crate) const ADD: &str = "
var<immediate> value: u32;
@group(0) @binding(0) var<storage, read_write> cells: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { cells[id.x] += value; }
";

const BYTES: u64 = 256;

/// Frames in which each pass adds a number to a buffer, with lists that are rewritten.
pub(crate) struct Adding {
    pub(crate) rig: Rig,
    planner: Planner,
    add: ComputePipeline,
    lists: Vec<CommandList>,
    /// Number of frames that reused a plan.
    pub(crate) reused: u32,
    /// Number of replayed passes in the last frame.
    repeated: u32,
}

impl Adding {
    fn new(chunks: usize) -> Self {
        Self::with(chunks, &GpuShader::wgsl("add", ADD).unwrap())
    }

    /// Adds with a shader like [`ADD`].
    pub(crate) fn with(chunks: usize, shader: &GpuShader) -> Self {
        let mut rig = Rig::new();
        rig.chunks = chunks;
        let add = rig
            .gpu
            .compute_pipeline(&ComputePipelineDesc::of("add", shader));
        Self {
            planner: Planner::default(),
            add: add.unwrap(),
            lists: Vec::new(),
            reused: 0,
            repeated: 0,
            rig,
        }
    }

    /// A buffer of zeros.
    pub(crate) fn zeros(&mut self, name: &str) -> GpuBuffer {
        let cells = self.rig.storage(name, BYTES);
        self.rig.frame(|frame| {
            let uses = [discard(frame.resource(cells.clone()), Access::Clear)];
            let clear = |list: &mut CommandList| list.fill_buffer(&cells, 0, 0, 0);
            frame.pass("clear", transfer(), &uses, clear);
        });
        cells
    }

    /// Runs this many frames, each with a pass for each buffer and number.
    pub(crate) fn run(&mut self, frames: u32, passes: &[(&GpuBuffer, u32)]) {
        for _ in 0..frames {
            self.rig.frames.begin(TIMEOUT).unwrap();
            self.frame(passes);
        }
    }

    fn frame(&mut self, passes: &[(&GpuBuffer, u32)]) {
        let mut frame = Frame::default();
        self.lists.resize_with(passes.len(), CommandList::default);
        for (list, (cells, value)) in self.lists.iter_mut().zip(passes) {
            let cells_index = frame.add_resource(cells.declare());
            let uses = [Use::whole(cells_index, Access::StorageReadWriteCompute)];
            frame.add_pass("add", compute(), &uses, &[]);
            list.clear();
            list.bind_compute(&self.add);
            list.bind_buffer(0, cells, 0, 0);
            list.push_constants(&value.to_le_bytes());
            list.dispatch([1, 1, 1]);
        }
        let handles: Vec<Handle> = passes.iter().map(|(it, _)| (*it).clone().into()).collect();
        let repeated =
            (self.rig).planned_frame(&mut self.planner, &frame, (&self.lists, &handles), &mut []);
        self.reused += u32::from(repeated.plan);
        self.repeated = repeated.passes;
    }

    /// Returns the value of all words of a buffer, which must be equal.
    pub(crate) fn sum(&mut self, cells: &GpuBuffer) -> u32 {
        let back = self.rig.readback(BYTES);
        self.rig.frame(|frame| frame.read_back(cells, &back));
        let words = self.rig.words(&back);
        assert!(words.iter().all(|word| *word == words[0]), "{words:?}");
        words[0]
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn changes_between_repeated_frames_take_effect() {
    for chunks in [1, 3] {
        let mut adding = Adding::new(chunks);
        let cells = ["a", "b", "c"].map(|name| adding.zeros(name));
        let [a, b, c] = &cells;
        adding.run(6, &[(a, 1), (b, 10), (c, 100)]);
        // One pass sometimes changes, all others stay the same.
        adding.run(1, &[(a, 1), (b, 20), (c, 100)]);
        adding.run(4, &[(a, 1), (b, 10), (c, 100)]);
        adding.run(4, &[(a, 1), (b, 30), (c, 100)]);
        // Resources are exchanged, every frame and permanently.
        for _ in 0..4 {
            adding.run(1, &[(b, 2), (a, 10), (c, 100)]);
            adding.run(1, &[(a, 2), (b, 10), (c, 100)]);
        }
        adding.run(4, &[(c, 3), (b, 10), (a, 1)]);
        assert!(
            adding.reused > 10,
            "{} plans were used again",
            adding.reused
        );
        let [a_sum, b_sum, c_sum] = cells.each_ref().map(|cells| adding.sum(cells));
        assert_eq!(a_sum, 15 + 4 * (10 + 2) + 4, "in {chunks} chunks");
        assert_eq!(
            b_sum,
            10 * 10 + 20 + 4 * 30 + 4 * (2 + 10) + 40,
            "in {chunks} chunks"
        );
        assert_eq!(c_sum, 15 * 100 + 8 * 100 + 4 * 3, "in {chunks} chunks");
    }
}

/// Each frame gets a new plan, because one pass accesses a new resource. The other passes are replayed, at any position
/// in the plan and with any other declarations.
#[test]
#[ignore = "needs a Vulkan device"]
fn repeated_passes_of_a_new_plan_are_replayed() {
    let names: Vec<String> = (0..12).map(|at| format!("cells {at}")).collect();
    for chunks in [1, 2] {
        let mut adding = Adding::new(chunks);
        let cells: Vec<GpuBuffer> = names.iter().map(|name| adding.zeros(name)).collect();
        let [a, b, others @ ..] = cells.as_slice() else {
            unreachable!("there are twelve");
        };
        for (at, other) in others.iter().enumerate() {
            adding.run(1, &[(a, 1), (other, 100), (b, 10)]);
            // Detected as a repetition the second time, cached then, and replayed from the third time on.
            let expected = if at < 2 { 0 } else { 2 };
            assert_eq!(adding.repeated, expected, "frame {at} in {chunks} chunks");
        }
        // Resources are added, removed and exchanged.
        adding.run(1, &[(b, 10), (a, 1)]);
        adding.run(1, &[(a, 1), (b, 10), (&others[0], 100)]);
        assert_eq!(adding.reused, 0, "each frame was another");
        let sums: Vec<u32> = cells.iter().map(|cells| adding.sum(cells)).collect();
        assert_eq!(sums[..3], [12, 120, 200], "in {chunks} chunks");
        assert!(sums[3..].iter().all(|sum| *sum == 100), "{sums:?}");
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_resource_that_has_got_the_id_of_another_is_not_taken_for_it() {
    let mut adding = Adding::new(1);
    let old = adding.zeros("cells");
    adding.run(6, &[(&old, 1)]);
    let id = old.id();
    drop(old);
    adding.rig.finish();
    let new = adding.zeros("cells");
    assert_eq!(new.id(), id, "ids are used again");
    adding.run(6, &[(&new, 1)]);
    assert_eq!(adding.sum(&new), 6);
}

/// The calls of one list are not replayed for another list of the same length and revision.
#[test]
#[ignore = "needs a Vulkan device"]
fn lists_are_distinguished() {
    let mut adding = Adding::new(1);
    let cells = ["a", "b"].map(|name| adding.zeros(name));
    let [a, b] = &cells;
    adding.run(6, &[(a, 1), (b, 10)]);
    adding.lists.swap(0, 1);
    adding.run(6, &[(a, 1), (b, 10)]);
    let sums = cells.each_ref().map(|cells| adding.sum(cells));
    assert_eq!(sums, [12, 120]);
}

/// The repeated frame has the same id and plan.
#[test]
#[ignore = "needs a Vulkan device"]
fn a_resource_of_another_device_is_not_taken_for_one_with_its_id() {
    let mut adding = Adding::new(1);
    let cells = adding.zeros("cells");
    adding.run(6, &[(&cells, 1)]);
    let other = Rig::new();
    let stranger = other.storage("stranger", BYTES);
    assert_eq!(stranger.id(), cells.id(), "both are the first");

    let mut frame = Frame::default();
    let uses = [Use::whole(
        frame.add_resource(stranger.declare()),
        Access::StorageReadWriteCompute,
    )];
    frame.add_pass("add", compute(), &uses, &[]);
    let rig = &mut adding.rig;
    rig.frames.begin(TIMEOUT).unwrap();
    let topology = rig.frames.topology();
    let planned = adding.planner.plan(&frame, topology, &rig.states).unwrap();
    let input = FrameInput {
        frame: &frame,
        plan: &planned.plan,
        lists: &[None],
        handles: &[stranger.clone().into()],
        timelines: &[],
    };
    let recorded = rig.frames.record(input, &Serial, 1);
    assert!(
        matches!(&recorded, Err(FrameError::OtherDevice { name }) if name == "stranger"),
        "{recorded:?}"
    );
    // The frame goes on with resources of its own device.
    adding.frame(&[(&cells, 1)]);
    assert_eq!(adding.sum(&cells), 7);
}
