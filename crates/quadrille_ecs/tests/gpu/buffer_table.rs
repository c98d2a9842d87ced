//! Tables of storage buffers: each invocation chooses its buffer; buffers come, go and change while
//! frames are drawn.

use bevy_derive::{Deref, DerefMut};
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::pipeline::{
    ComputePipeline, ComputePipelineDesc, GraphicsPipeline, GraphicsPipelineDesc,
};
use quadrille_vulkan::resources::{
    BufferDesc, BufferTable, BufferTableDesc, GpuBuffer, GpuImage, ImageDesc, Memory, Sharing,
    TableIndex,
};
use quadrille_vulkan::shader::GpuShader;

use crate::common::{Rig, read, read_image};
use crate::table_rows::{ENTRIES, Look, ROWS, Seen, SeenBeside, insert_look, look, row};

#[derive(Resource, Deref, DerefMut)]
struct Rows(BufferTable);

/// A shader in which each invocation reads the entry of its own number.
fn source(seen: &str) -> String {
    format!(
        "
        enable wgpu_binding_array;
        struct Row {{ count: u32, values: array<u32> }}
        @group(0) @binding(0) var<storage, read_write> seen: array<u32>;
        @group(1) @binding(0) var<storage, read> rows: binding_array<Row>;
        var<immediate> frame: u32;

        @compute @workgroup_size({ENTRIES})
        fn look(@builtin(global_invocation_id) id: vec3u) {{
            seen[frame * {ENTRIES} + id.x] = {seen};
        }}"
    )
}

/// Contents of a row, and the length of one row that all invocations read.
const BOTH: &str =
    "rows[id.x].count + rows[id.x].values[2] + 1000000 * arrayLength(&rows[frame & 3u].values)";

const FIRST: &str = "rows[id.x].count";

fn rig(seen: &str, spirv: bool) -> Rig {
    let mut rig = Rig::new();
    let gpu = rig.app.world().resource::<GpuDevice>();
    let desc = BufferTableDesc::new("rows", ENTRIES);
    let table = gpu.buffer_table(&desc).expect("tables can be made");
    assert_eq!(*table.desc(), desc);
    rig.app.world_mut().insert_resource(Rows(table));
    insert_look(&mut rig, &source(seen), spirv);
    rig
}

fn make(rig: &Rig, name: &str, numbers: u64, sharing: Sharing) -> GpuBuffer {
    let gpu = rig.app.world().resource::<GpuDevice>();
    let desc = BufferDesc::storage(name, numbers * 4).with_sharing(sharing);
    gpu.create_buffer(&desc).expect("buffers can be made")
}

/// Writes numbers from the start on.
fn fill(rig: &mut Rig, buffer: &GpuBuffer, numbers: &[u32]) {
    let bytes: Vec<u8> = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
    let mut uploads = rig.app.world_mut().resource_mut::<Uploads>();
    uploads.write_buffer(buffer, 0, &bytes);
}

fn rows(rig: &mut Rig) -> Mut<'_, Rows> {
    rig.app.world_mut().resource_mut::<Rows>()
}

#[test]
#[ignore = "needs a device"]
fn indices_beyond_a_table_find_its_last_buffer() {
    let wild = "array(0u, 7u, 8u, 9u, 1000u, 1048576u, 2147483648u, 4294967295u)[id.x]";
    let mut rig = rig(&format!("rows[{wild}].count"), false);
    rig.app.add_systems(Render, look::<Rows, Seen>);
    for at in 0..ENTRIES {
        let buffer = make(&rig, &format!("row {at}"), 4, Sharing::Concurrent);
        fill(&mut rig, &buffer, &[7 + at, 0, 0, 0]);
        rows(&mut rig).insert(&buffer).expect("it fits");
    }
    rig.update(2);
    let seen = read(&mut rig, |world| world.resource::<Seen>().0.clone());
    rig.expect_no_errors();
    assert_eq!(row(&seen, 1), [7, 14, 14, 14, 14, 14, 14, 14]);
}

fn each_invocation_chooses(spirv: bool) {
    let mut rig = rig(BOTH, spirv);
    rig.app.add_systems(Render, look::<Rows, Seen>);
    for at in 0..3 {
        let buffer = make(
            &rig,
            &format!("row {at}"),
            4 + u64::from(at),
            Sharing::Concurrent,
        );
        fill(&mut rig, &buffer, &[7 + at, 100, 1000, 10_000]);
        let index = rows(&mut rig).insert(&buffer).expect("it fits");
        assert_eq!(index.0, at);
        assert_eq!(rows(&mut rig).get(index), Some(buffer));
    }
    rig.update(4);
    let seen = read(&mut rig, |world| world.resource::<Seen>().0.clone());
    rig.expect_no_errors();
    // Each frame reads the length of another row; the fourth is the fallback, of 64 numbers.
    let lengths: Vec<u32> = (0..4)
        .map(|frame| row(&seen, frame)[0] / 1_000_000)
        .collect();
    assert_eq!(lengths, [3, 4, 5, 63]);
    let values = |frame| row(&seen, frame).iter().map(|it| it % 1_000_000);
    let expected = [10_007, 10_008, 10_009, 0, 0, 0, 0, 0];
    assert!(values(0).eq(expected), "{:?}", row(&seen, 0));
    assert!(
        values(1).eq(expected),
        "also in a frame that declares none: {:?}",
        row(&seen, 1)
    );
}

#[test]
#[ignore = "needs a device"]
fn each_invocation_chooses_a_buffer() {
    each_invocation_chooses(false);
}

#[test]
#[ignore = "needs a device"]
fn spirv_has_runtime_arrays_of_buffers() {
    each_invocation_chooses(true);
}

#[derive(Resource, Deref)]
struct Picture(GpuImage);

#[derive(Resource)]
struct Paint(GraphicsPipeline);

/// Vertices of each instance are moved by one row, and its pixel is colored by another.
const PAINT: &str = "
    enable wgpu_binding_array;
    struct Row { count: u32, values: array<u32> }
    @group(3) @binding(0) var<storage, read> rows: binding_array<Row>;

    struct Corner { @builtin(position) at: vec4f, @location(0) @interpolate(flat) row: u32 }

    @vertex
    fn corner(@builtin(vertex_index) i: u32, @builtin(instance_index) row: u32) -> Corner {
        let left = f32(rows[row].count) / 4.0 - 1.0;
        let at = vec2f(left + f32(i) * 0.125, f32(i & 1u) * 8.0 - 4.0);
        return Corner(vec4f(at, 0.0, 1.0), row);
    }

    @fragment
    fn paint(corner: Corner) -> @location(0) vec4u {
        return vec4u(rows[corner.row].values[0], 0u, 0u, 1u);
    }";

fn paint(
    mut recorder: Recorder,
    rows: Table<Rows>,
    picture: ColorTarget<Picture>,
    paint: Res<Paint>,
) {
    let mut rendering = recorder.render(picture.clear([0.0; 4]));
    rendering
        .pipeline(&paint.0)
        .table("rows", &rows)
        .draw(0..3, 0..3);
}

#[test]
#[ignore = "needs a device"]
fn shaders_of_all_stages_choose() {
    let mut rig = rig(FIRST, false);
    for [place, color] in [[1, 70], [5, 80], [6, 90]] {
        let buffer = make(&rig, "row", 4, Sharing::Auto);
        fill(&mut rig, &buffer, &[place, color]);
        rows(&mut rig).insert(&buffer).expect("it fits");
    }
    let gpu = rig.app.world().resource::<GpuDevice>();
    let shader = GpuShader::wgsl("paint", PAINT).expect("it is WGSL");
    let pipeline = gpu
        .graphics_pipeline(&GraphicsPipelineDesc::of("paint", &shader))
        .expect("it is a pipeline");
    let desc = ImageDesc::color_target("picture", [8, 1], Format::R8G8B8A8_UINT);
    let picture = gpu.create_image(&desc).expect("images can be made");
    rig.app.world_mut().insert_resource(Paint(pipeline));
    rig.app
        .world_mut()
        .insert_resource(Picture(picture.clone()));
    rig.app.add_systems(
        Render,
        (paint, look::<Rows, Seen>.on_queue(QueuePreference::Async)),
    );
    rig.update(3);
    let texels = read_image(&mut rig, &picture);
    rig.expect_no_errors();
    let reds: Vec<u8> = texels.chunks_exact(4).map(|texel| texel[0]).collect();
    assert_eq!(reds, [0, 70, 0, 0, 0, 80, 90, 0]);
}

/// A small generator of numbers.
struct Chance(u64);

impl Chance {
    fn below(&mut self, count: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % count
    }
}

#[test]
#[ignore = "needs a device"]
fn buffers_come_and_go_and_change_while_two_queues_read() {
    // Resources that families own in turn are handed over in each frame, and stay correct.
    let modes = [Sharing::Concurrent, Sharing::Concurrent, Sharing::Exclusive];
    for (seed, sharing) in (1..).zip(modes.into_iter().chain([Sharing::Auto])) {
        let mut chance = Chance(seed << 33 | 0x7f4a_7c15);
        let mut rig = rig(FIRST, false);
        rig.app.add_systems(
            Render,
            (
                look::<Rows, Seen>,
                look::<Rows, SeenBeside>.on_queue(QueuePreference::Async),
            ),
        );
        // The buffers, their first numbers (0 if nothing was uploaded), and the entries.
        let mut buffers: Vec<(GpuBuffer, u32)> = Vec::new();
        let mut entries: [Option<usize>; ENTRIES as usize] = [None; ENTRIES as usize];
        let mut expected = Vec::new();
        for frame in 0..ROWS - 12 {
            // Now and then nothing changes for a while.
            let changes = if frame % 16 > 10 { 0 } else { chance.below(4) };
            for _ in 0..changes {
                let at = chance.below(u64::from(ENTRIES)) as usize;
                let is_new = buffers.is_empty() || chance.below(3) == 0;
                let buffer = if is_new {
                    let name = format!("buffer {}", buffers.len());
                    buffers.push((make(&rig, &name, 16, sharing), 0));
                    buffers.len() - 1
                } else {
                    chance.below(buffers.len() as u64) as usize
                };
                let handle = buffers[buffer].0.clone();
                if !is_new || chance.below(4) > 0 {
                    let number = chance.below(1 << 30) as u32;
                    // Less than all of it is enough.
                    fill(&mut rig, &handle, &[number, number]);
                    buffers[buffer].1 = number;
                }
                let index = TableIndex(at as u32);
                match entries[at] {
                    None => {
                        if let Ok(index) = rows(&mut rig).insert(&handle) {
                            let place = &mut entries[index.0 as usize];
                            assert_eq!(*place, None, "an entry is taken twice");
                            *place = Some(buffer);
                        }
                    }
                    Some(_) if chance.below(2) == 0 => {
                        rows(&mut rig).remove(index).expect("it is there");
                        entries[at] = None;
                    }
                    Some(_) => {
                        rows(&mut rig).replace(index, &handle).expect("it fits");
                        entries[at] = Some(buffer);
                    }
                }
            }
            expected.push(entries.map(|entry| entry.map_or(0, |at| buffers[at].1)));
            rig.update(1);
        }
        let seen = read(&mut rig, |world| world.resource::<Seen>().0.clone());
        let rest = rig.app.world_mut().resource_mut::<Look>().frame;
        assert!(rest <= ROWS, "reading takes a few frames");
        rig.app.world_mut().resource_mut::<Look>().frame = ROWS - 1;
        let beside = read(&mut rig, |world| world.resource::<SeenBeside>().0.clone());
        rig.expect_no_errors();
        for (frame, expected) in (0..).zip(&expected) {
            assert_eq!(row(&seen, frame), expected, "{sharing:?}, frame {frame}");
            assert_eq!(row(&beside, frame), expected, "{sharing:?}, frame {frame}");
        }
    }
}

/// A member that a pass writes in each frame.
#[derive(Resource, Deref)]
struct Written(GpuBuffer);

#[derive(Resource)]
struct Count(ComputePipeline);

#[derive(Resource, Default)]
struct Rests(bool);

/// Writes it by a copy: on a queue for copies, if there is one.
fn copy(mut recorder: Recorder, to: TransferWrite<Written>, look: Res<Look>) {
    recorder
        .transfer()
        .fill_buffer(&to, 0, 64, 100 + look.frame);
}

/// Writes it by a shader.
fn compute(mut recorder: Recorder, to: StorageWrite<Written>, count: Res<Count>, look: Res<Look>) {
    recorder
        .compute(&count.0)
        .bind(0, &to)
        .push(&(100 + look.frame))
        .dispatch([1, 1, 1]);
}

/// Both readers find what was written in their frame, on whichever queues they and `write` run.
fn a_member_is_written_and_read_in_one_frame<M>(
    write: impl IntoScheduleConfigs<bevy_ecs::system::ScheduleSystem, M>,
    sharing: Sharing,
) {
    let mut rig = rig(FIRST, false);
    let source = "
        @group(0) @binding(0) var<storage, read_write> row: array<u32>;
        var<immediate> number: u32;
        @compute @workgroup_size(1) fn count() { row[0] = number; }";
    let gpu = rig.app.world().resource::<GpuDevice>();
    let shader = GpuShader::wgsl("count", source).expect("it is WGSL");
    let pipeline = gpu
        .compute_pipeline(&ComputePipelineDesc::of("count", &shader))
        .expect("it is a pipeline");
    let written = make(&rig, "written", 16, sharing);
    let still = make(&rig, "still", 16, sharing);
    fill(&mut rig, &still, &[77]);
    for buffer in [&written, &still] {
        rows(&mut rig).insert(buffer).expect("it fits");
    }
    let world = rig.app.world_mut();
    world.insert_resource(Written(written));
    world.insert_resource(Count(pipeline));
    world.init_resource::<Rests>();
    let writes = |rests: Res<Rests>| !rests.0;
    let readers = (
        look::<Rows, Seen>,
        look::<Rows, SeenBeside>.on_queue(QueuePreference::Async),
    );
    rig.app
        .add_systems(Render, (write.run_if(writes), readers).chain());
    for rests in [false, true, false] {
        // The last written contents stay, and are settled.
        rig.app.world_mut().resource_mut::<Rests>().0 = rests;
        rig.update(8);
    }
    let seen = read(&mut rig, |world| world.resource::<Seen>().0.clone());
    rig.app.world_mut().resource_mut::<Look>().frame = ROWS - 1;
    let beside = read(&mut rig, |world| world.resource::<SeenBeside>().0.clone());
    rig.expect_no_errors();
    for frame in 0..24 {
        let written = if (8..16).contains(&frame) { 7 } else { frame };
        let expected = [100 + written, 77, 0];
        let case = format!("frame {frame}, {sharing:?}");
        assert_eq!(row(&seen, frame)[..3], expected, "{case}");
        assert_eq!(row(&beside, frame)[..3], expected, "{case}, beside");
    }
}

const MODES: [Sharing; 3] = [Sharing::Concurrent, Sharing::Exclusive, Sharing::Auto];

#[test]
#[ignore = "needs a device"]
fn a_member_that_is_copied_to_shows_it_in_the_frame() {
    for sharing in MODES {
        a_member_is_written_and_read_in_one_frame(copy.on_queue(QueuePreference::Async), sharing);
    }
}

#[test]
#[ignore = "needs a device"]
fn a_member_that_shaders_write_shows_it_in_the_frame() {
    for sharing in MODES {
        a_member_is_written_and_read_in_one_frame(
            compute.on_queue(QueuePreference::Async),
            sharing,
        );
        a_member_is_written_and_read_in_one_frame(compute.on_queue(QueuePreference::Main), sharing);
    }
}

#[test]
#[ignore = "needs a device"]
fn host_writes_are_visible_from_the_next_frame_on() {
    let mut rig = rig(FIRST, false);
    rig.app.add_systems(Render, look::<Rows, Seen>);
    let gpu = rig.app.world().resource::<GpuDevice>();
    let desc = BufferDesc::storage("mapped", 64).in_memory(Memory::Upload);
    let mapped = gpu.create_buffer(&desc).expect("buffers can be made");
    let before = gpu.create_buffer(&desc).expect("buffers can be made");
    before.write(0, &9_u32.to_le_bytes()).expect("it is mapped");
    rows(&mut rig).insert(&mapped).expect("it fits");
    rows(&mut rig).insert(&before).expect("it fits");
    rig.update(3);
    mapped.write(0, &8_u32.to_le_bytes()).expect("it is mapped");
    rig.update(3);
    let seen = read(&mut rig, |world| world.resource::<Seen>().0.clone());
    rig.expect_no_errors();
    let shown: Vec<[u32; 2]> = (0..6)
        .map(|frame| [row(&seen, frame)[0], row(&seen, frame)[1]])
        .collect();
    let [none, both] = [[0, 9], [8, 9]];
    assert_eq!(shown, [none, none, none, both, both, both]);
}

#[test]
#[ignore = "needs a device"]
fn a_table_that_is_dropped_leaves_its_buffers_in_order() {
    let mut rig = rig(FIRST, false);
    rig.app.add_systems(
        Render,
        (
            look::<Rows, Seen>,
            look::<Rows, SeenBeside>.on_queue(QueuePreference::Async),
        )
            .run_if(resource_exists::<Rows>),
    );
    let buffer = make(&rig, "kept", 16, Sharing::Concurrent);
    fill(&mut rig, &buffer, &[1]);
    rows(&mut rig).insert(&buffer).expect("it fits");
    rig.update(5);
    rig.app.world_mut().remove_resource::<Rows>();
    fill(&mut rig, &buffer, &[2]);
    rig.update(5);
    let kept = read(&mut rig, |_| buffer);
    rig.expect_no_errors();
    assert_eq!(kept[0], 2);
}

#[test]
#[ignore = "needs a device"]
fn tables_take_32_frames_in_flight() {
    for (frames, takes) in [(32, true), (33, false)] {
        let mut rig = Rig::with(|plugins| plugins.settings.frames_in_flight = frames);
        let gpu = rig.app.world().resource::<GpuDevice>();
        let made = gpu.buffer_table(&BufferTableDesc::new("rows", ENTRIES));
        match made {
            Ok(_) => assert!(takes, "{frames} frames in flight"),
            Err(error) => assert_eq!(
                error.to_string(),
                "`rows` cannot be made: there are 33 frames in flight, and tables take at most 32"
            ),
        }
        rig.update(1);
        rig.expect_no_errors();
    }
}
