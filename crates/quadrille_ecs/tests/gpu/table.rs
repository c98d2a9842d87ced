//! Tables: each invocation chooses its image; images come, go and change while frames are drawn.

use bevy_derive::{Deref, DerefMut};
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::resources::{
    BufferDesc, GpuImage, ImageDesc, ImageTable, ImageTableDesc, SamplerDesc, Sharing, TableIndex,
};
use quadrille_vulkan::shader::GpuShader;

use crate::common::{Rig, read};
use crate::table_rows::{ENTRIES, Look, ROWS, Seen, SeenBeside, insert_look, look, row};

const FORMAT: Format = Format::R8G8B8A8_UNORM;

/// Color of an entry without an image.
const MAGENTA: u32 = 0xffff_00ff;

#[derive(Resource, Deref, DerefMut)]
struct Textures(ImageTable);

/// A shader in which each invocation reads the entry of its own number.
fn source(kind: &str, texel: &str) -> String {
    format!(
        "
        enable wgpu_binding_array;
        @group(0) @binding(0) var<storage, read_write> seen: array<u32>;
        @group(1) @binding(0) var nearest: sampler;
        @group(1) @binding(1) var textures: binding_array<{kind}>;
        var<immediate> frame: u32;

        @compute @workgroup_size({ENTRIES})
        fn look(@builtin(global_invocation_id) id: vec3u) {{
            let place = vec3f(0.01);
            seen[frame * {ENTRIES} + id.x] = pack4x8unorm({texel});
        }}"
    )
}

const D2: [&str; 2] = [
    "texture_2d<f32>",
    "textureSampleLevel(textures[id.x], nearest, place.xy, 0.0)",
];

/// An app with a table, and the pipeline that reads it.
fn rig(desc: impl FnOnce(&str) -> ImageTableDesc, shader: [&str; 2], spirv: bool) -> Rig {
    equip(Rig::new(), desc, shader, spirv)
}

fn equip(
    mut rig: Rig,
    desc: impl FnOnce(&str) -> ImageTableDesc,
    [kind, texel]: [&str; 2],
    spirv: bool,
) -> Rig {
    let gpu = rig.app.world().resource::<GpuDevice>();
    let sampler = gpu
        .create_sampler(&SamplerDesc::nearest())
        .expect("samplers can be made");
    let desc = desc("textures").with_sampler(&sampler);
    let table = gpu.image_table(&desc).expect("tables can be made");
    rig.app.world_mut().insert_resource(Textures(table));
    insert_look(&mut rig, &source(kind, texel), spirv);
    rig
}

fn make(rig: &Rig, desc: &ImageDesc) -> GpuImage {
    make_shared(rig, desc, Sharing::Concurrent)
}

fn make_shared(rig: &Rig, desc: &ImageDesc, sharing: Sharing) -> GpuImage {
    let gpu = rig.app.world().resource::<GpuDevice>();
    let desc = desc.clone().with_sharing(sharing);
    gpu.create_image(&desc).expect("images can be made")
}

fn texture(rig: &Rig, name: &str) -> GpuImage {
    make(rig, &ImageDesc::sampled(name, [4, 4], FORMAT))
}

/// Fills an image with one color.
fn fill(rig: &mut Rig, image: &GpuImage, color: u32) {
    let desc = image.desc();
    let texels = desc.extent.iter().product::<u32>() * desc.array_layers;
    let bytes: Vec<u8> = (0..texels).flat_map(|_| color.to_le_bytes()).collect();
    let mut uploads = rig.app.world_mut().resource_mut::<Uploads>();
    uploads.write_image(image, &bytes);
}

fn table(rig: &mut Rig) -> Mut<'_, Textures> {
    rig.app.world_mut().resource_mut::<Textures>()
}

fn each_invocation_chooses(
    desc: impl FnOnce(&str) -> ImageTableDesc,
    shader: [&str; 2],
    image: impl Fn(&str) -> ImageDesc,
    spirv: bool,
) {
    let mut rig = rig(desc, shader, spirv);
    rig.app.add_systems(Render, look::<Textures, Seen>);
    let colors = [0xff00_00ff, 0xff00_ff00, 0xffff_0000];
    for (at, color) in colors.into_iter().enumerate() {
        let image = make(&rig, &image(&format!("texture {at}")));
        fill(&mut rig, &image, color);
        let index = table(&mut rig).insert(&image).expect("it fits");
        assert_eq!(index.0 as usize, at);
    }
    rig.update(4);
    let seen = read(&mut rig, |world| world.resource::<Seen>().0.clone());
    rig.expect_no_errors();
    let mut expected = [MAGENTA; ENTRIES as usize];
    expected[..3].copy_from_slice(&colors);
    assert_eq!(row(&seen, 0), expected);
    assert_eq!(
        row(&seen, 1),
        expected,
        "also in a frame that declares none"
    );
}

#[test]
#[ignore = "needs a device"]
fn each_invocation_chooses_a_2d_image() {
    let image = |name: &str| ImageDesc::sampled(name, [4, 4], FORMAT);
    each_invocation_chooses(|name| ImageTableDesc::d2(name, ENTRIES), D2, image, false);
}

/// An image at an index that is of the table, or not.
const WILD: [&str; 2] = [
    "texture_2d<f32>",
    "textureSampleLevel(
        textures[array(0u, 1u, 2u, 3u, 8u, 1048576u, 2147483648u, 4294967295u)[id.x]],
        nearest, place.xy, 0.0,
    )",
];

fn indices_beyond_find_the_last_image(spirv: bool) {
    let mut rig = rig(|name| ImageTableDesc::d2(name, 3), WILD, spirv);
    rig.app.add_systems(Render, look::<Textures, Seen>);
    let colors = [0xff00_00ff, 0xff00_ff00, 0xffff_0000];
    for (at, color) in colors.into_iter().enumerate() {
        let image = texture(&rig, &format!("texture {at}"));
        fill(&mut rig, &image, color);
        table(&mut rig).insert(&image).expect("it fits");
    }
    rig.update(2);
    let seen = read(&mut rig, |world| world.resource::<Seen>().0.clone());
    rig.expect_no_errors();
    let mut expected = [colors[2]; ENTRIES as usize];
    expected[..3].copy_from_slice(&colors);
    assert_eq!(row(&seen, 1), expected);
}

#[test]
#[ignore = "needs a device"]
fn indices_beyond_a_table_find_its_last_image() {
    indices_beyond_find_the_last_image(false);
}

#[test]
#[ignore = "needs a device"]
fn indices_of_spirv_beyond_a_table_find_its_last_image() {
    indices_beyond_find_the_last_image(true);
}

#[test]
#[ignore = "needs a device"]
fn tables_bind_by_name_as_by_number() {
    fn look(
        mut recorder: Recorder,
        textures: Table<Textures>,
        seen: StorageReadWrite<Seen>,
        look: Res<Look>,
    ) {
        recorder
            .compute(&look.pipeline)
            .bind("seen", &seen)
            .table("textures", &textures)
            .push(&look.frame)
            .dispatch([1, 1, 1]);
    }
    let mut rig = rig(|name| ImageTableDesc::d2(name, ENTRIES), D2, false);
    rig.app.add_systems(Render, look);
    rig.update(2);
    let seen = read(&mut rig, |world| world.resource::<Seen>().0.clone());
    rig.expect_no_errors();
    assert_eq!(row(&seen, 1), [MAGENTA; ENTRIES as usize]);
}

#[test]
#[ignore = "needs a device"]
fn spirv_has_runtime_arrays() {
    let image = |name: &str| ImageDesc::sampled(name, [4, 4], FORMAT);
    each_invocation_chooses(|name| ImageTableDesc::d2(name, ENTRIES), D2, image, true);
}

#[test]
#[ignore = "needs a device"]
fn each_invocation_chooses_an_image_with_layers() {
    let shader = [
        "texture_2d_array<f32>",
        "textureSampleLevel(textures[id.x], nearest, place.xy, 0, 0.0)",
    ];
    let image = |name: &str| ImageDesc::sampled(name, [4, 4], FORMAT).with_layers(3);
    each_invocation_chooses(
        |name| ImageTableDesc::d2_array(name, ENTRIES),
        shader,
        image,
        false,
    );
}

#[test]
#[ignore = "needs a device"]
fn each_invocation_chooses_a_cube() {
    let shader = [
        "texture_cube<f32>",
        "textureSampleLevel(textures[id.x], nearest, vec3f(1.0, 0.9, 0.9), 0.0)",
    ];
    let image = |name: &str| ImageDesc {
        cube: true,
        ..ImageDesc::sampled(name, [4, 4], FORMAT).with_layers(6)
    };
    each_invocation_chooses(
        |name| ImageTableDesc::cube(name, ENTRIES),
        shader,
        image,
        false,
    );
}

#[test]
#[ignore = "needs a device"]
fn each_invocation_chooses_a_3d_image() {
    let shader = [
        "texture_3d<f32>",
        "textureSampleLevel(textures[id.x], nearest, place, 0.0)",
    ];
    let image = |name: &str| ImageDesc {
        extent: [4, 4, 4],
        ..ImageDesc::sampled(name, [4, 4], FORMAT)
    };
    each_invocation_chooses(
        |name| ImageTableDesc::d3(name, ENTRIES),
        shader,
        image,
        false,
    );
}

#[test]
#[ignore = "needs a device"]
fn image_in_all_entries_of_a_large_table_is_replaced_in_each() {
    // A search for each change among the entries of an image would be 17 thousand million steps a frame.
    const MANY: u32 = 131_072;
    let roomy = Rig::with(|plugins| plugins.settings.table_entries = Some(2 * MANY));
    let mut rig = equip(roomy, |name| ImageTableDesc::d2(name, MANY), D2, false);
    rig.app.add_systems(Render, look::<Textures, Seen>);
    let colors = [0xff00_00ff, 0xff00_ff00];
    let images = colors.map(|color| {
        let image = texture(&rig, "shared");
        fill(&mut rig, &image, color);
        image
    });
    for _ in 0..MANY {
        table(&mut rig).insert(&images[0]).expect("it fits");
    }
    rig.update(2);
    for at in 0..MANY {
        let image = &images[usize::from(at % 3 != 0)];
        let replaced = table(&mut rig).replace(TableIndex(at), image);
        replaced.expect("there is an image");
    }
    rig.update(2);
    for at in (0..MANY).rev().filter(|at| at % 4 == 1) {
        table(&mut rig).remove(TableIndex(at)).expect("it is there");
    }
    rig.update(1);
    fill(&mut rig, &images[0], 0xffff_0000);
    fill(&mut rig, &images[1], 0xff12_3456);
    rig.update(2);
    let seen = read(&mut rig, |world| world.resource::<Seen>().0.clone());
    rig.expect_no_errors();
    let of = |entries: [usize; 8], colors: [u32; 3]| entries.map(|entry| colors[entry]);
    let [first, second] = colors;
    assert_eq!(row(&seen, 1), [first; 8]);
    let mixed = [0, 1, 1, 0, 1, 1, 0, 1];
    assert_eq!(row(&seen, 3), of(mixed, [first, second, MAGENTA]));
    let emptied = [0, 2, 1, 0, 1, 2, 0, 1];
    assert_eq!(row(&seen, 4), of(emptied, [first, second, MAGENTA]));
    assert_eq!(
        row(&seen, 6),
        of(emptied, [0xffff_0000, 0xff12_3456, MAGENTA])
    );
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
fn images_come_and_go_and_change_while_two_queues_read() {
    // Resources that families own in turn are handed over in each frame, and stay correct.
    let modes = [Sharing::Concurrent, Sharing::Concurrent, Sharing::Exclusive];
    for (seed, sharing) in (1..).zip(modes.into_iter().chain([Sharing::Auto])) {
        let mut chance = Chance(seed << 33 | 0x7f4a_7c15);
        let mut rig = rig(|name| ImageTableDesc::d2(name, ENTRIES), D2, false);
        rig.app.add_systems(
            Render,
            (
                look::<Textures, Seen>,
                look::<Textures, SeenBeside>.on_queue(QueuePreference::Async),
            ),
        );
        // The images, their colors (none if nothing was uploaded), and the entries.
        let mut images: Vec<(GpuImage, Option<u32>)> = Vec::new();
        let mut entries: [Option<usize>; ENTRIES as usize] = [None; ENTRIES as usize];
        let mut expected = Vec::new();
        for frame in 0..ROWS - 12 {
            // Now and then nothing changes for a while.
            let changes = if frame % 16 > 10 { 0 } else { chance.below(4) };
            for _ in 0..changes {
                let at = chance.below(u64::from(ENTRIES)) as usize;
                let is_new = images.is_empty() || chance.below(3) == 0;
                let image = if is_new {
                    let name = format!("image {}", images.len());
                    let desc = ImageDesc::sampled(name, [4, 4], FORMAT);
                    let made = make_shared(&rig, &desc, sharing);
                    images.push((made, None));
                    images.len() - 1
                } else {
                    chance.below(images.len() as u64) as usize
                };
                if !is_new || chance.below(4) > 0 {
                    let color = 0xff00_0000 | chance.below(0xff_ffff) as u32;
                    fill(&mut rig, &images[image].0.clone(), color);
                    images[image].1 = Some(color);
                }
                let handle = images[image].0.clone();
                match entries[at] {
                    None => {
                        if let Ok(index) = table(&mut rig).insert(&handle) {
                            assert_eq!(entries[index.0 as usize], None, "an entry is taken twice");
                            entries[index.0 as usize] = Some(image);
                        }
                    }
                    Some(_) if chance.below(2) == 0 => {
                        let index = TableIndex(at as u32);
                        table(&mut rig).remove(index).expect("it is there");
                        entries[at] = None;
                    }
                    Some(_) => {
                        let index = TableIndex(at as u32);
                        table(&mut rig).replace(index, &handle).expect("it fits");
                        entries[at] = Some(image);
                    }
                }
            }
            let shown = entries.map(|entry| entry.and_then(|at| images[at].1));
            expected.push(shown.map(|color| color.unwrap_or(MAGENTA)));
            // The program holds on to none of those that it does not fill any more.
            rig.update(1);
        }
        let seen = read(&mut rig, |world| world.resource::<Seen>().0.clone());
        rig.expect_no_errors();
        let rest = rig.app.world_mut().resource_mut::<Look>().frame;
        assert!(rest <= ROWS, "reading takes a few frames");
        rig.app.world_mut().resource_mut::<Look>().frame = ROWS - 1;
        let beside = read(&mut rig, |world| world.resource::<SeenBeside>().0.clone());
        for (frame, expected) in (0..).zip(&expected) {
            assert_eq!(row(&seen, frame), expected, "frame {frame} of seed {seed}");
            assert_eq!(
                row(&beside, frame),
                expected,
                "frame {frame} of {seed}, beside"
            );
        }
    }
}

#[derive(Resource, Deref)]
struct Mirror(GpuImage);

#[derive(Resource, Default)]
struct Rests(bool);

fn paint(mut recorder: Recorder, mirror: ColorTarget<Mirror>, look: Res<Look>) {
    let red = (look.frame % 4) as f32 / 3.0;
    let _cleared = recorder.render(mirror.clear([red, 0.0, 0.0, 1.0]));
}

#[test]
#[ignore = "needs a device"]
fn table_image_drawn_in_the_frame_is_current() {
    let mut rig = rig(|name| ImageTableDesc::d2(name, ENTRIES), D2, false);
    let mirror = make(&rig, &ImageDesc::color_target("mirror", [4, 4], FORMAT));
    table(&mut rig).insert(&mirror).expect("it fits");
    let still = texture(&rig, "still");
    fill(&mut rig, &still, 0xff11_2233);
    table(&mut rig).insert(&still).expect("it fits");
    let world = rig.app.world_mut();
    world.insert_resource(Mirror(mirror));
    world.init_resource::<Rests>();
    let paints = |rests: Res<Rests>| !rests.0;
    rig.app.add_systems(
        Render,
        (
            look::<Textures, Seen>,
            look::<Textures, SeenBeside>.on_queue(QueuePreference::Async),
            paint.run_if(paints),
        ),
    );
    rig.update(8);
    // The last picture stays, and is settled.
    rig.app.world_mut().resource_mut::<Rests>().0 = true;
    rig.update(8);
    rig.app.world_mut().resource_mut::<Rests>().0 = false;
    rig.update(8);
    let frames = rig.app.world().resource::<Look>().frame;
    let seen = read(&mut rig, |world| world.resource::<Seen>().0.clone());
    rig.app.world_mut().resource_mut::<Look>().frame = ROWS - 1;
    let beside = read(&mut rig, |world| world.resource::<SeenBeside>().0.clone());
    rig.expect_no_errors();
    for frame in 0..frames {
        let drawn = if (8..16).contains(&frame) { 7 } else { frame };
        let red = [0, 85, 170, 255][(drawn % 4) as usize];
        let expected: [u32; 3] = [0xff00_0000 | red, 0xff11_2233, MAGENTA];
        assert_eq!(row(&seen, frame)[..3], expected, "frame {frame}");
        assert_eq!(row(&beside, frame)[..3], expected, "frame {frame}, beside");
    }
}

#[test]
#[ignore = "needs a device"]
fn a_queue_that_begins_to_read_later_finds_everything() {
    let mut rig = rig(|name| ImageTableDesc::d2(name, ENTRIES), D2, false);
    for at in 0..ENTRIES {
        let image = texture(&rig, &format!("image {at}"));
        fill(&mut rig, &image, 0xff00_0000 | at);
        table(&mut rig).insert(&image).expect("it fits");
    }
    rig.app.world_mut().init_resource::<Rests>();
    let reads = |rests: Res<Rests>| rests.0;
    rig.app.add_systems(
        Render,
        (
            look::<Textures, Seen>,
            look::<Textures, SeenBeside>
                .on_queue(QueuePreference::Async)
                .run_if(reads),
        ),
    );
    rig.update(6);
    rig.app.world_mut().resource_mut::<Rests>().0 = true;
    rig.update(2);
    // Writers still wait for readers that no longer declare the image.
    let first = table(&mut rig).get(TableIndex(0)).expect("it is there");
    fill(&mut rig, &first, 0xff12_3456);
    rig.update(2);
    let beside = read(&mut rig, |world| world.resource::<SeenBeside>().0.clone());
    rig.expect_no_errors();
    let mut expected: Vec<u32> = (0..ENTRIES).map(|at| 0xff00_0000 | at).collect();
    assert_eq!(row(&beside, 6), expected);
    assert_eq!(row(&beside, 7), expected);
    expected[0] = 0xff12_3456;
    assert_eq!(row(&beside, 8), expected);
}

#[test]
#[ignore = "needs a device"]
fn an_entry_that_nobody_has_written_shows_the_fallback_until_somebody_has() {
    let mut rig = rig(|name| ImageTableDesc::d2(name, ENTRIES), D2, false);
    rig.app.add_systems(Render, look::<Textures, Seen>);
    let image = texture(&rig, "late");
    table(&mut rig).insert(&image).expect("it fits");
    rig.update(3);
    fill(&mut rig, &image, 0xff00_ff00);
    rig.update(3);
    let seen = read(&mut rig, |world| world.resource::<Seen>().0.clone());
    rig.expect_no_errors();
    let shown: Vec<u32> = (0..6).map(|frame| row(&seen, frame)[0]).collect();
    let late = 0xff00_ff00;
    assert_eq!(shown, [MAGENTA, MAGENTA, MAGENTA, late, late, late]);
}

#[test]
#[ignore = "needs a device"]
fn a_table_that_is_dropped_leaves_its_images_in_order() {
    let mut rig = rig(|name| ImageTableDesc::d2(name, ENTRIES), D2, false);
    rig.app.add_systems(
        Render,
        (
            look::<Textures, Seen>,
            look::<Textures, SeenBeside>.on_queue(QueuePreference::Async),
        )
            .run_if(resource_exists::<Textures>),
    );
    let image = texture(&rig, "kept");
    fill(&mut rig, &image, 0xff00_00ff);
    table(&mut rig).insert(&image).expect("it fits");
    rig.update(5);
    rig.app.world_mut().remove_resource::<Textures>();
    fill(&mut rig, &image, 0xff00_ff00);
    rig.update(5);
    rig.expect_no_errors();
}

#[test]
#[ignore = "needs a device"]
fn an_app_without_passes_has_no_tables() {
    let mut rig = Rig::new();
    rig.update(3);
    rig.expect_no_errors();
}

/// Sums of many images, chosen at random, in as many invocations as `QUADRILLE_TABLE_GROUPS` says times 64.
const SUMS: &str = "
    enable wgpu_binding_array;
    @group(0) @binding(0) var<storage, read_write> sums: array<vec4f>;
    @group(1) @binding(0) var nearest: sampler;
    @group(1) @binding(1) var textures: binding_array<texture_2d<f32>>;

    @compute @workgroup_size(64)
    fn sum(@builtin(global_invocation_id) id: vec3u) {
        // Invocations that write to one word write the same value.
        var random = (id.x % 256u) * 747796405u + 2891336453u;
        var sum = vec4f();
        for (var at = 0; at < 256; at += 1) {
            random = random * 1664525u + 1013904223u;
            let place = vec2f(f32(random & 255u) / 256.0, 0.5);
            sum += textureSampleLevel(textures[random >> 22u], nearest, place, 0.0);
        }
        sums[id.x % 256u] = sum;
    }";

#[derive(Resource)]
struct Sum {
    pipeline: ComputePipeline,
    groups: u32,
}

fn sum(
    mut recorder: Recorder,
    textures: Table<Textures>,
    sums: StorageReadWrite<Seen>,
    sum: Res<Sum>,
) {
    recorder
        .compute(&sum.pipeline)
        .bind(0, &sums)
        .table(1, &textures)
        .dispatch([sum.groups, 1, 1]);
}

/// The sums, and the least time that the pass took on the device.
fn sums(unchecked: bool, groups: u32) -> (Vec<u32>, std::time::Duration) {
    let mut rig = Rig::with(|plugins| plugins.settings.unchecked_tables = unchecked);
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let sampler = gpu
        .create_sampler(&SamplerDesc::nearest())
        .expect("samplers can be made");
    let desc = ImageTableDesc::d2("textures", 1024).with_sampler(&sampler);
    let table = gpu.image_table(&desc).expect("tables can be made");
    let shader = GpuShader::wgsl("sums", SUMS).expect("it is WGSL");
    let pipeline = gpu
        .compute_pipeline(&ComputePipelineDesc::of("sums", &shader))
        .expect("it is a pipeline");
    let desc = BufferDesc::storage("sums", 256 * 16);
    let seen = gpu.create_buffer(&desc).expect("buffers can be made");
    let world = rig.app.world_mut();
    let mut uploads = world.resource_mut::<Uploads>();
    uploads.write_buffer(&seen, 0, &[0; 256 * 16]);
    world.insert_resource(Textures(table));
    world.insert_resource(Seen(seen));
    world.insert_resource(Sum { pipeline, groups });
    for at in 0..1024 {
        let image = texture(&rig, &format!("texture {at}"));
        fill(&mut rig, &image, (at % 256) * 0x0101_0101);
        self::table(&mut rig).insert(&image).expect("it fits");
    }
    rig.app.add_systems(Render, sum);
    rig.app.world_mut().resource_mut::<Renderer>().measure(true);
    let mut least = std::time::Duration::MAX;
    for _ in 0..if groups > 4 { 60 } else { 4 } {
        rig.update(1);
        let times = rig.app.world().resource::<Renderer>().device_times();
        let passes = times.iter().flat_map(|times| &times.passes);
        let took = passes.filter(|pass| pass.name.contains("sum"));
        least = took.map(|pass| pass.end - pass.begin).fold(least, Ord::min);
    }
    let seen = read(&mut rig, |world| world.resource::<Seen>().0.clone());
    rig.expect_no_errors();
    (seen, least)
}

#[test]
#[ignore = "needs a device"]
fn good_indices_find_the_same_checked_and_unchecked() {
    let groups = std::env::var("QUADRILLE_TABLE_GROUPS").ok();
    let groups = groups.map_or(4, |groups| groups.parse().expect("it is a number"));
    let [checked, unchecked] = [false, true].map(|unchecked| sums(unchecked, groups));
    println!("checked {:?}, unchecked {:?}", checked.1, unchecked.1);
    assert!(checked.0.iter().any(|it| *it != 0));
    assert_eq!(checked.0, unchecked.0);
}
