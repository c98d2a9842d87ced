//! Streams: a worker thread that submits independently of the main loop.

use std::thread;
use std::time::{Duration, Instant};

use quadrille_sync::access::Access;
use quadrille_sync::flags::Layout;
use quadrille_sync::frame::{Give, Use};
use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::device::{Gpu, StreamDesc};
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer, Handle, ImageDesc, ImageUsage, Sharing};
use quadrille_vulkan::shader::GpuShader;
use quadrille_vulkan::submit::{Closed, Consumer, Producer, RingEntry};
use quadrille_vulkan::{Format, FrameError};

use crate::rig::{Declared, Rig, TIMEOUT, compute, discard, graphics};

const WORDS: u64 = 256;

/// The next turn from the one before.
const NEXT: &str = "
@group(0) @binding(0) var<storage, read> now: array<u32>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    next[id.x] = now[id.x] * 1664525u + 1013904223u;
}
";

/// Computes the words of a turn as the shader does.
fn expected(turn: u64) -> u32 {
    (1..turn).fold(7, |word: u32, _| {
        word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
    })
}

fn pipeline(gpu: &Gpu) -> ComputePipeline {
    let shader = GpuShader::wgsl("next", NEXT).unwrap();
    gpu.compute_pipeline(&ComputePipelineDesc::of("next", &shader))
        .unwrap()
}

fn ring(gpu: &Gpu, slots: u64) -> (Producer, Consumer) {
    let slot = |at| {
        let desc = BufferDesc::storage(format!("slot {at}"), WORDS * 4);
        Handle::Buffer(
            gpu.create_buffer(&desc.with_sharing(Sharing::Concurrent))
                .unwrap(),
        )
    };
    gpu.ring("turns", (0..slots).map(slot).collect()).unwrap()
}

fn buffer(handle: &Handle) -> &GpuBuffer {
    match handle {
        Handle::Buffer(buffer) => buffer,
        Handle::Image(image) => panic!("{} is an image", image.name()),
    }
}

/// The simulation: owns a stream and writes turns.
struct Worker {
    rig: Rig,
    next: ComputePipeline,
    producer: Producer,
    last: Option<Handle>,
}

impl Worker {
    fn new(gpu: &Gpu, desc: &StreamDesc, producer: Producer) -> Self {
        Self {
            rig: Rig::stream(gpu, desc),
            next: pipeline(gpu),
            producer,
            last: None,
        }
    }

    /// Writes a turn; waits only for the worker's own frames in flight.
    fn turn(&mut self) -> Result<u64, Closed> {
        let turn = self.producer.reserve(&mut self.rig.states)?;
        let (from, to) = (self.last.take(), turn.slot.clone());
        // The worker's pacing may have to wait for the main loop.
        while let Err(error) = self.rig.frames.begin(Duration::from_millis(20)) {
            assert!(matches!(error, FrameError::Timeout { .. }), "{error}");
        }
        let next = &self.next;
        self.rig.begun_frame(|frame| match &from {
            None => {
                let uses = [discard(frame.resource(to.clone()), Access::Clear)];
                frame.pass("first", compute(), &uses, |list| {
                    list.fill_buffer(buffer(&to), 0, 0, 7);
                });
            }
            Some(from) => {
                let uses = [
                    Use::whole(frame.resource(from.clone()), Access::StorageReadCompute),
                    discard(frame.resource(to.clone()), Access::StorageWriteCompute),
                ];
                frame.pass("next", compute(), &uses, |list| {
                    list.bind_compute(next);
                    list.bind_buffer(0, buffer(from), 0, 0);
                    list.bind_buffer(1, buffer(&to), 0, 0);
                    list.dispatch([(WORDS / 64) as u32, 1, 1]);
                });
            }
        });
        self.producer.publish(&mut self.rig.states);
        self.last = Some(turn.slot);
        Ok(turn.number)
    }

    /// Writes turns until it is stopped.
    fn run(mut self, turns: u64) {
        for _ in 0..turns {
            if self.rig.frames.is_stopping() || self.turn() == Err(Closed) {
                break;
            }
        }
    }
}

/// Draws nothing, but reads on the main queue what the worker wrote.
fn read(frame: &mut Declared, turn: &RingEntry, back: &GpuBuffer) {
    let uses = [
        Use::whole(frame.resource(turn.slot.clone()), Access::CopyRead),
        discard(frame.resource(back.clone()), Access::CopyWrite),
    ];
    frame.pass("read", graphics(), &uses, |list| {
        list.copy_buffer(buffer(&turn.slot), 0, back, 0, WORDS * 4);
    });
}

fn run_ahead(desc: &StreamDesc, slots: u64, every_turn: bool) {
    const TURNS: u64 = 40;
    let mut main = Rig::new();
    let gpu = main.gpu.clone();
    let (producer, mut consumer) = ring(&gpu, slots);
    main.frames.attach(&consumer);
    let worker = Worker::new(&gpu, desc, producer);
    gpu.keep_thread(thread::spawn(move || worker.run(TURNS)));
    let back = main.readback(WORDS * 4);
    let mut last = 0;
    while last < TURNS {
        assert!(consumer.wait(TIMEOUT), "after turn {last}");
        let turn = if every_turn {
            consumer.take_next().unwrap()
        } else {
            consumer.take_newest().unwrap()
        };
        assert!(turn.number > last && (!every_turn || turn.number == last + 1));
        last = turn.number;
        // The same turn twice: it stays acquired until the next one is taken.
        main.frame(|frame| read(frame, &turn, &back));
        main.frame(|frame| read(frame, &turn, &back));
        assert_eq!(
            main.words(&back),
            vec![expected(last); WORDS as usize],
            "turn {last}"
        );
    }
    assert!(consumer.take_next().is_none());
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_worker_runs_ahead_and_each_of_its_turns_is_read() {
    run_ahead(&StreamDesc::compute("simulation"), 2, true);
    run_ahead(&StreamDesc::compute("simulation"), 3, false);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_worker_that_shares_its_queue_is_held_back_and_gets_on() {
    let desc = StreamDesc {
        shared: true,
        ..StreamDesc::compute("simulation")
    };
    run_ahead(&desc, 2, true);
    run_ahead(&desc, 3, false);
}

/// A worker whose last submissions wait for reads that are never submitted.
fn blocked(gpu: &Gpu, desc: &StreamDesc) -> (Consumer, Worker) {
    let (producer, consumer) = ring(gpu, 2);
    let mut worker = Worker::new(gpu, desc, producer);
    // Two turns fill the slots, the next ones wait; frames in flight bound how many can be.
    for turn in 1..=2 + u64::from(gpu.frames_in_flight()) {
        assert_eq!(worker.turn(), Ok(turn));
    }
    (consumer, worker)
}

#[test]
#[ignore = "needs a Vulkan device"]
fn the_main_loop_ends_in_time_while_a_worker_is_blocked() {
    for shared in [false, true] {
        for order in 0..3 {
            let mut main = Rig::new();
            let gpu = main.gpu.clone();
            let desc = StreamDesc {
                shared,
                ..StreamDesc::compute("simulation")
            };
            let (mut consumer, worker) = blocked(&gpu, &desc);
            main.frames.attach(&consumer);
            let back = main.readback(WORDS * 4);
            let turn = consumer.take_next().unwrap();
            main.frame(|frame| read(frame, &turn, &back));
            gpu.keep_thread(thread::spawn(move || worker.run(1000)));
            let start = Instant::now();
            match order {
                0 => drop((main, consumer)),
                1 => drop((consumer, main)),
                _ => {
                    // The main loop goes on without its consumer, which lets the worker go.
                    drop(consumer);
                    main.frame(|_| {});
                    drop(main);
                }
            }
            drop((turn, back, gpu));
            let took = start.elapsed();
            assert!(took < Duration::from_secs(2), "{took:?}, shared: {shared}");
        }
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_stuck_stream_is_reported_with_its_last_completed_pass() {
    let main = Rig::new();
    let gpu = main.gpu.clone();
    let (producer, consumer) = ring(&gpu, 2);
    let desc = StreamDesc::compute("simulation");
    let mut worker = Worker::new(&gpu, &desc, producer);
    worker.rig.frames.measure(true);
    for turn in 1..=3 {
        assert_eq!(worker.turn(), Ok(turn));
    }
    // The third turn waits for a read that is never submitted; the second is complete.
    let error = worker.rig.frames.drain(TIMEOUT / 100).unwrap_err();
    let FrameError::Timeout {
        passes, last_done, ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(passes, &["next"], "{error}");
    assert_eq!(last_done.as_deref(), Some("next"), "{error}");
    let work = worker.rig.frames.describe_work();
    assert_eq!(work.len(), 1, "{work:?}");
    assert!(work[0].contains("had the passes next to do"), "{work:?}");
    drop((consumer, worker, main));
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_blocked_stream_is_dropped_without_waiting() {
    let main = Rig::new();
    let gpu = main.gpu.clone();
    let (consumer, worker) = blocked(&gpu, &StreamDesc::compute("simulation"));
    drop(worker);
    drop(consumer);
    drop(main);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn streams_and_rings_come_and_go_without_end() {
    let mut main = Rig::new();
    let gpu = main.gpu.clone();
    for round in 0..50 {
        let (producer, mut consumer) = ring(&gpu, 2);
        main.frames.attach(&consumer);
        let mut worker = Worker::new(&gpu, &StreamDesc::compute("simulation"), producer);
        let back = main.readback(WORDS * 4);
        for number in 1..=3 {
            assert_eq!(worker.turn(), Ok(number), "round {round}");
            let turn = consumer.take_newest().unwrap();
            assert_eq!(turn.number, number);
            main.frame(|frame| read(frame, &turn, &back));
        }
        assert_eq!(main.words(&back)[0], expected(3), "round {round}");
        drop((worker, consumer));
        main.frame(|_| {});
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn returned_ring_entries_cannot_be_read() {
    let mut main = Rig::new();
    let gpu = main.gpu.clone();
    let (producer, mut consumer) = ring(&gpu, 2);
    main.frames.attach(&consumer);
    let mut worker = Worker::new(&gpu, &StreamDesc::compute("simulation"), producer);
    let back = main.readback(WORDS * 4);
    let mut turns = Vec::new();
    for _ in 0..2 {
        worker.turn().unwrap();
        let turn = consumer.take_next().unwrap();
        main.frame(|frame| read(frame, &turn, &back));
        turns.push(turn);
    }
    let mut declared = Declared::default();
    read(&mut declared, &turns[0], &back);
    let planned =
        quadrille_sync::solve::plan(&declared.frame, main.frames.topology(), &main.states);
    let error = planned.unwrap_err().to_string();
    assert!(error.contains("given to another"), "{error}");
}

#[test]
#[ignore = "needs a Vulkan device"]
fn images_are_lent_for_sampling() {
    let mut main = Rig::new();
    let gpu = main.gpu.clone();
    let slot = |at| {
        let name = format!("picture {at}");
        let mut desc = ImageDesc::color_target(&name, [8, 8], Format::R8G8B8A8_UNORM);
        desc.usage |= ImageUsage::TRANSFER_DST | ImageUsage::SAMPLED;
        let desc = desc.with_sharing(Sharing::Concurrent);
        Handle::Image(gpu.create_image(&desc).unwrap())
    };
    let (mut producer, mut consumer) = gpu.ring("pictures", vec![slot(0), slot(1)]).unwrap();
    main.frames.attach(&consumer);
    let mut worker = Rig::stream(&gpu, &StreamDesc::compute("painter"));
    for number in 1..=6 {
        let turn = producer.reserve(&mut worker.states).unwrap();
        let publish = producer.publish_access().unwrap();
        assert_eq!(publish.layout(), Layout::ShaderReadOnlyOptimal);
        worker.frame(|frame| {
            let at = frame.resource(turn.slot.clone());
            let Handle::Image(image) = &turn.slot else {
                panic!("an image");
            };
            frame.pass("paint", compute(), &[discard(at, Access::Clear)], |list| {
                list.clear_image(image, [0.25, 0.5, 0.75, 1.0]);
            });
            frame.pass("publish", compute(), &[Use::whole(at, publish)], |_| {});
        });
        producer.publish(&mut worker.states);
        let turn = consumer.take_newest().unwrap();
        assert_eq!(turn.number, number);
        main.frame(|frame| {
            let at = frame.resource(turn.slot.clone());
            let uses = [Use::whole(at, Access::SampledFragment)];
            frame.pass("draw", graphics(), &uses, |_| {});
        });
    }
}

/// A buffer goes to another stream's family and back, by value.
#[test]
#[ignore = "needs a Vulkan device"]
fn released_buffers_change_their_queue_family() {
    let mut main = Rig::new();
    let gpu = main.gpu.clone();
    let mut worker = Rig::stream(&gpu, &StreamDesc::compute("helper"));
    let next = pipeline(&gpu);
    let family = |rig: &Rig| {
        let topology = rig.frames.topology();
        let queue = topology.queues.iter().find(|queue| !queue.is_foreign());
        queue.unwrap().family
    };
    let families = [family(&main), family(&worker)];
    let (cells, more) = (
        main.storage("cells", WORDS * 4),
        main.storage("more", WORDS * 4),
    );
    let back = main.readback(WORDS * 4);
    let give = |frame: &mut Declared, handle: &GpuBuffer, to: usize| {
        let resource = frame.resource(handle.clone());
        frame.frame.gives.push(Give {
            resource,
            family: families[to],
            layout: Layout::Undefined,
        });
    };
    main.frame(|frame| {
        let uses = [discard(frame.resource(cells.clone()), Access::Clear)];
        frame.pass("fill", graphics(), &uses, |list| {
            list.fill_buffer(&cells, 0, 0, 7);
        });
        give(frame, &cells, 1);
    });
    worker.states.take(main.states.give(cells.id()).unwrap());
    worker.frame(|frame| {
        let uses = [
            Use::whole(frame.resource(cells.clone()), Access::StorageReadCompute),
            discard(frame.resource(more.clone()), Access::StorageWriteCompute),
        ];
        frame.pass("next", compute(), &uses, |list| {
            list.bind_compute(&next);
            list.bind_buffer(0, &cells, 0, 0);
            list.bind_buffer(1, &more, 0, 0);
            list.dispatch([(WORDS / 64) as u32, 1, 1]);
        });
        give(frame, &more, 0);
    });
    main.states.take(worker.states.give(more.id()).unwrap());
    main.frame(|frame| {
        let uses = [
            Use::whole(frame.resource(more.clone()), Access::CopyRead),
            discard(frame.resource(back.clone()), Access::CopyWrite),
        ];
        frame.pass("read", graphics(), &uses, |list| {
            list.copy_buffer(&more, 0, &back, 0, WORDS * 4);
        });
    });
    assert_eq!(main.words(&back), vec![expected(2); WORDS as usize]);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn streams_that_cannot_be_are_errors_with_reasons() {
    let main = Rig::new();
    let desc = StreamDesc {
        capabilities: Capabilities::OPTICAL_FLOW,
        ..StreamDesc::compute("flow")
    };
    let error = main.gpu.stream(&desc).unwrap_err().to_string();
    assert!(
        error.contains("flow") && error.contains("no queue"),
        "{error}"
    );
    let one = main.storage("one", 64);
    let slots = vec![Handle::Buffer(one.clone())];
    let error = main.gpu.ring("short", slots).unwrap_err().to_string();
    assert!(error.contains("two slots"), "{error}");
    let slots = vec![Handle::Buffer(one.clone()), Handle::Buffer(one)];
    let error = main.gpu.ring("twice", slots).unwrap_err().to_string();
    assert!(error.contains("twice"), "{error}");
    let many: Vec<_> = (0..40)
        .map(|_| main.gpu.stream(&StreamDesc::compute("many")))
        .collect();
    let error = many.into_iter().find_map(Result::err).unwrap().to_string();
    assert!(error.contains("the most there can be"), "{error}");
}
