//! Queries that passes use, and commands that a value on the device decides about.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::pipeline::{GraphicsPipeline, GraphicsPipelineDesc};
use quadrille_vulkan::resources::{
    BufferDesc, BufferUsage, GpuBuffer, GpuImage, ImageDesc, ImageUsage, QuerySet, QuerySetDesc,
    Statistics,
};
use quadrille_vulkan::shader::GpuShader;

use crate::common::{Add, Errors, Rig, Squares, read, read_image};

/// Eight pixels in a row.
#[derive(Resource, Deref)]
struct Row(GpuImage);

#[derive(Resource, Deref)]
struct Seen(QuerySet);

#[derive(Resource, Deref)]
struct Work(QuerySet);

/// The results of `Seen` as each frame found them.
#[derive(Resource, Deref)]
struct Log(GpuBuffer);

#[derive(Resource)]
struct Tools {
    paint: GraphicsPipeline,
    frame: u32,
}

const QUERIES: u32 = 3;

const PAINT: &str = "
    @vertex fn corner(@builtin(vertex_index) corner: u32) -> @builtin(position) vec4f {
        return vec4f(f32(corner & 1u) * 4.0 - 1.0, f32(corner >> 1u) * 4.0 - 1.0, 0.0, 1.0);
    }
    @fragment fn paint() -> @location(0) vec4f { return vec4f(1.0); }";

fn rig(kind: fn(&str) -> QuerySetDesc) -> Rig {
    let mut rig = Rig::new();
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let row = ImageDesc::color_target("row", [8, 1], Format::R8G8B8A8_UNORM);
    let row = row.with_usage(ImageUsage::TRANSFER_SRC);
    let paint = GpuShader::wgsl("paint.wgsl", PAINT).expect("it is WGSL");
    let paint = gpu.graphics_pipeline(&GraphicsPipelineDesc::of("paint", &paint));
    let log = gpu.create_buffer(&BufferDesc::storage("log", 1024));
    let seen = gpu.query_set(&kind("seen"));
    rig.app
        .insert_resource(Row(gpu.create_image(&row).expect("images can be made")))
        .insert_resource(Seen(seen.expect("sets can be made")))
        .insert_resource(Log(log.expect("buffers can be made")))
        .insert_resource(Tools {
            paint: paint.expect("pipelines can be made"),
            frame: 0,
        })
        .add_systems(bevy_app::Last, |mut tools: ResMut<Tools>| tools.frame += 1);
    rig
}

fn precise(name: &str) -> QuerySetDesc {
    QuerySetDesc::precise_occlusion(name, QUERIES)
}

/// Query 0 sees as many pixels as frames have passed, query 1 none, query 2 all.
fn paint(mut recorder: Recorder, row: ColorTarget<Row>, seen: QueryWrite<Seen>, tools: Res<Tools>) {
    let mut rendering = recorder.render(row.clear([0.0; 4]));
    rendering
        .pipeline(&tools.paint)
        .scissor([0, 0, tools.frame % 8, 1])
        .query(&seen, 0, |rendering| {
            rendering.draw(0..3, 0..1);
        })
        .query(&seen, 2, |rendering| {
            rendering.scissor([0, 0, 8, 1]).draw(0..3, 0..1);
        })
        .query(&seen, 1, |_| {});
}

/// Keeps what the frame found.
fn log(
    mut recorder: Recorder,
    seen: TransferRead<Seen>,
    log: TransferWrite<Log>,
    tools: Res<Tools>,
) {
    let bytes = seen.bytes();
    recorder
        .transfer()
        .copy_buffer(&seen, 0, &log, u64::from(tools.frame) * bytes, bytes);
}

fn expect_log(rig: &mut Rig, frames: u32) {
    rig.update(frames);
    let found = read(rig, |world| world.resource::<Log>().0.clone());
    rig.expect_no_errors();
    for frame in 0..frames {
        let words = &found[(frame * QUERIES * 2) as usize..][..(QUERIES * 2) as usize];
        assert_eq!(words, [frame % 8, 0, 0, 0, 8, 0], "frame {frame}");
    }
}

#[test]
#[ignore = "needs a device"]
fn each_frame_has_results_of_its_own() {
    let mut rig = rig(precise);
    rig.app.add_systems(Render, (paint, log).chain());
    expect_log(&mut rig, 12);
}

#[test]
#[ignore = "needs a device"]
fn another_queue_reads_results() {
    let mut rig = rig(precise);
    let log = log.on_queue(QueuePreference::Async);
    rig.app.add_systems(Render, (paint, log).chain());
    expect_log(&mut rig, 12);
}

#[test]
#[ignore = "needs a device"]
fn results_are_read_back() {
    let mut rig = rig(|name| QuerySetDesc::occlusion(name, QUERIES));
    rig.app.add_systems(Render, paint);
    rig.update(2);
    let found = read(&mut rig, |world| (*world.resource::<Seen>().0).clone());
    rig.expect_no_errors();
    let seen = [0, 2, 4].map(|at| found[at] != 0);
    assert_eq!(seen, [true, false, true], "{found:?}");
}

/// Two passes, on two queues where there are two, use queries of one set.
#[test]
#[ignore = "needs a device"]
fn passes_share_a_set() {
    fn first(
        mut recorder: Recorder,
        work: QueryWrite<Work>,
        add: Res<Add>,
        squares: StorageReadWrite<Squares>,
    ) {
        count(&mut recorder, &work, 0, &add, &squares);
    }
    fn second(
        mut recorder: Recorder,
        work: QueryWrite<Work>,
        add: Res<Add>,
        squares: StorageReadWrite<Squares>,
    ) {
        count(&mut recorder, &work, 1, &add, &squares);
    }
    /// Dispatches `query + 1` workgroups of 64.
    fn count(
        recorder: &mut Recorder,
        work: &QueryWrite<Work>,
        query: u32,
        add: &Add,
        squares: &StorageReadWrite<Squares>,
    ) {
        let mut compute = recorder.compute(&add.add);
        compute.bind(0, squares).push(&1_u32);
        compute.query(work, query, |compute| {
            compute.dispatch([query + 1, 1, 1]);
        });
    }
    let mut rig = rig(precise);
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let desc = QuerySetDesc::statistics("work", 2, Statistics::COMPUTE_INVOCATIONS);
    let work = gpu.query_set(&desc).expect("sets can be made");
    rig.update(1);
    let squares = rig.app.world().resource::<Squares>().0.clone();
    let mut uploads = rig.app.world_mut().resource_mut::<Uploads>();
    uploads.write_buffer(&squares, 0, &[0; 1024]);
    rig.app.insert_resource(Work(work)).add_systems(
        Render,
        (first, second.on_queue(QueuePreference::Async)).chain(),
    );
    rig.update(6);
    let found = read(&mut rig, |world| (*world.resource::<Work>().0).clone());
    rig.expect_no_errors();
    assert_eq!(found, [64, 0, 128, 0]);
}

#[test]
#[ignore = "needs a device"]
fn statistics_have_a_value_for_each_bit() {
    let counted = |name: &str| {
        let counted = Statistics::VERTICES | Statistics::FRAGMENT_INVOCATIONS;
        QuerySetDesc::statistics(name, QUERIES, counted)
    };
    let mut rig = rig(counted);
    rig.app.add_systems(Render, paint);
    rig.update(3);
    let found = read(&mut rig, |world| (*world.resource::<Seen>().0).clone());
    rig.expect_no_errors();
    let set = &rig.app.world().resource::<Seen>().0;
    let vertices = |query| found[set.result_offset(query) as usize / 4];
    let fragments = |query| found[set.result_offset(query) as usize / 4 + 2];
    assert_eq!(
        [vertices(0), vertices(1), vertices(2)],
        [3, 0, 3],
        "{found:?}"
    );
    assert!(fragments(2) >= 8 && fragments(1) == 0, "{found:?}");
}

/// Draws the left half if a query saw something, the right half if it did not.
fn decide<const QUERY: u32>(
    mut recorder: Recorder,
    row: ColorTarget<Row>,
    seen: ConditionRead<Seen>,
    tools: Res<Tools>,
) {
    let offset = seen.result_offset(QUERY);
    let mut rendering = recorder.render(row.clear([0.0; 4]));
    rendering
        .pipeline(&tools.paint)
        .scissor([0, 0, 4, 1])
        .when(&seen, offset, |rendering| {
            rendering.draw(0..3, 0..1);
        })
        .scissor([4, 0, 4, 1])
        .unless(&seen, offset, |rendering| {
            rendering.draw(0..3, 0..1);
        });
}

/// Whether the device has conditional rendering; if not, the error says so.
fn has_conditions(rig: &mut Rig) -> bool {
    rig.update(1);
    let reported = std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0);
    let Some(error) = reported.first() else {
        return true;
    };
    let lacks =
        "takes the feature conditionalRendering of VK_EXT_conditional_rendering, which the device";
    assert!(error.contains(lacks), "{error}");
    assert!(std::env::var("QUADRILLE_LAYER_HIDE").is_ok(), "{error}");
    false
}

#[test]
#[ignore = "needs a device"]
fn device_decides_draws() {
    fn drawn<const QUERY: u32>() -> Option<Vec<u8>> {
        let mut rig = rig(precise);
        rig.app
            .add_systems(Render, (paint, decide::<QUERY>).chain());
        if !has_conditions(&mut rig) {
            return None;
        }
        rig.update(3);
        let row = rig.app.world().resource::<Row>().0.clone();
        let texels = read_image(&mut rig, &row);
        rig.expect_no_errors();
        Some(texels.chunks(4).map(|texel| texel[0] / 255).collect())
    }
    if let (Some(seen), Some(unseen)) = (drawn::<2>(), drawn::<1>()) {
        assert_eq!(seen, [1, 1, 1, 1, 0, 0, 0, 0]);
        assert_eq!(unseen, [0, 0, 0, 0, 1, 1, 1, 1]);
    }
}

/// Adds to the numbers where the value on the device, written by a pass on another queue, says so.
#[test]
#[ignore = "needs a device"]
fn device_decides_dispatches() {
    #[derive(Resource, Deref)]
    struct Flags(GpuBuffer);
    fn flag(mut recorder: Recorder, flags: TransferWrite<Flags>, tools: Res<Tools>) {
        let mut transfer = recorder.transfer();
        transfer.fill_buffer(&flags, 4, 4, tools.frame & 1);
    }
    fn add_if(
        mut recorder: Recorder,
        flags: ConditionRead<Flags>,
        squares: StorageReadWrite<Squares>,
        add: Res<Add>,
    ) {
        let mut compute = recorder.compute(&add.add);
        compute.bind(0, &squares).push(&1_u32);
        compute.when(&flags, 4, |compute| {
            compute.dispatch([4, 1, 1]);
        });
    }
    /// In a pass of its own: between dispatches of one pass stands no barrier.
    fn add_unless(
        mut recorder: Recorder,
        flags: ConditionRead<Flags>,
        squares: StorageReadWrite<Squares>,
        add: Res<Add>,
    ) {
        let mut compute = recorder.compute(&add.add);
        compute.bind(0, &squares).push(&100_u32);
        compute.unless(&flags, 4, |compute| {
            compute.dispatch([4, 1, 1]);
        });
    }
    let mut rig = rig(precise);
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let usage = BufferUsage::CONDITION | BufferUsage::TRANSFER_DST;
    let flags = match gpu.create_buffer(&BufferDesc::new("flags", 8, usage)) {
        Ok(flags) => flags,
        Err(error) => {
            let lacks = "its usage CONDITION takes the extension VK_EXT_conditional_rendering";
            assert!(error.to_string().contains(lacks), "{error}");
            assert!(std::env::var("QUADRILLE_LAYER_HIDE").is_ok(), "{error}");
            return;
        }
    };
    rig.update(1);
    let squares = rig.app.world().resource::<Squares>().0.clone();
    let mut uploads = rig.app.world_mut().resource_mut::<Uploads>();
    uploads.write_buffer(&squares, 0, &[0; 1024]);
    rig.app.insert_resource(Flags(flags)).add_systems(
        Render,
        (
            flag.on_queue(QueuePreference::Async),
            add_if.on_queue(QueuePreference::Async),
            add_unless,
        )
            .chain(),
    );
    rig.update(3);
    let found = read(&mut rig, |world| world.resource::<Squares>().0.clone());
    rig.expect_no_errors();
    let frames = rig.app.world().resource::<Tools>().frame;
    // Reading back takes frames that go on adding; of all before them, every other one adds 1.
    let (hundreds, ones) = (found[0] / 100, found[0] % 100);
    assert!(
        hundreds == ones || hundreds == ones + 1,
        "{found:?} after {frames}"
    );
    assert!(
        found[0] > 0 && found.iter().all(|it| *it == found[0]),
        "{found:?}"
    );
}
