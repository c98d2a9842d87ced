//! Cost of tables of images per frame, with recording.
//!
//! Passes are systems that declare a table, or images of a list: a frame of a hundred of them.

use std::time::Duration;

use bevy_derive::{Deref, DerefMut};
use bevy_ecs::prelude::*;
use bevy_ecs::system::{ParamBuilder, SystemParamBuilder};
use quadrille::ecs::{AccessKind, AccessList, AnyAccess, RecordOn, Table, access_kind, declared};
use quadrille::prelude::*;
use quadrille::vulkan::Format;
use quadrille::vulkan::resources::{ImageTable, ImageTableDesc, Sharing};
use quadrille_bench::{BUFFER_SHADER, FrameTimes};

use super::engine::settings;
use super::watched::Watched;
use super::{Mode, Outcome};

/// The passes of a frame that declare the table.
const PASSES: usize = 100;

/// Members that are there all the time.
const SETTLED: u32 = 100_000;

/// Members that are written in each frame, and how often as many are there.
const WRITTEN: [usize; 2] = [10, 100];
const TURNS: usize = 10;

/// Images that come while frames go on, so many in each.
const COMING: u32 = 10_000;
const COMING_IN_EACH: usize = 100;

/// Frames that are measured, by turns of so many.
const FRAMES: usize = 400;
const TURN: usize = 20;

/// Sizes of a table whose entries are all of one image, and how many of them change in each frame.
const SHARED: [u32; 3] = [1024, 16_384, 131_072];
const SHARED_CHANGES: u32 = 100_000;
const SHARED_FRAMES: u32 = 20;

/// The side of an image in texels.
const SIDE: u32 = 4;

#[derive(Resource, Deref, DerefMut)]
struct Textures(ImageTable);

/// Images that passes declare one by one.
#[derive(Resource, Deref, DerefMut, Default)]
struct Listed(Vec<GpuImage>);

/// Buffer that all passes read.
#[derive(Resource, Deref)]
struct Source(GpuBuffer);

#[derive(Resource)]
struct Work(ComputePipeline);

/// The figures, as lines of a table.
///
/// # Errors
/// There is no device, or a frame fails.
pub fn tables() -> Outcome<String> {
    let mut lines = format!("| frame of {PASSES} passes that declare a table | us a frame |\n");
    lines += "| --- | ---: |\n";
    let [empty, full] = settled()?;
    lines += &format!("| no members | {empty:.1} |\n| {SETTLED} settled members | {full:.1} |\n");
    lines += &format!("| difference | {:.1} |\n", full - empty);
    for written in WRITTEN {
        let [listed, members] = changing(written)?;
        lines += &format!("| {written} members written in each | {members:.0} |\n");
        lines += &format!("| {written} images written in each, declared by all | {listed:.0} |\n");
        lines += &format!("| ratio | {:.2} |\n", members / listed);
    }
    let Coming {
        resting,
        mut times,
        submissions,
    } = coming()?;
    times.sort_unstable();
    let at = |share: usize| us(times[(times.len() - 1) * share / 100]);
    lines += &format!(
        "| {COMING} images come, {COMING_IN_EACH} in each frame of {submissions} submissions: median | {:.0} |\n\
         | the same: 9 of 10, the worst | {:.0}, {:.0} |\n\
         | none come: median | {resting:.0} |\n",
        at(50),
        at(90),
        at(100)
    );
    for entries in SHARED {
        let [changes, frame] = shared(entries)?;
        lines += &format!(
            "| {SHARED_CHANGES} changes, one image in {entries} entries: ns a change | {:.0} |\n\
             | the same: the frame behind them | {frame:.0} |\n",
            1e3 * changes / f64::from(SHARED_CHANGES)
        );
    }
    Ok(lines)
}

/// Medians in microseconds of the changes to a table whose entries are all of one image or another, and
/// of the frame that follows them.
fn shared(entries: u32) -> Outcome<[f64; 2]> {
    let mut app = app_with(true, entries)?;
    let images = images(&app, 2)?;
    write(&mut app, &images);
    let mut textures = app.app.world_mut().resource_mut::<Textures>();
    let places: Vec<_> = (0..entries)
        .map(|_| textures.insert(&images[0]))
        .collect::<Result<_, _>>()?;
    app.frame()?;
    let mut times = [Vec::new(), Vec::new()];
    for frame in 0..SHARED_FRAMES {
        let begun = std::time::Instant::now();
        let mut textures = app.app.world_mut().resource_mut::<Textures>();
        for change in 0..SHARED_CHANGES {
            // A stride that has no factor in common with the sizes, which are powers of two.
            let at = (change * 7919 + frame) % entries;
            let image = &images[((change + frame) % 2) as usize];
            textures.replace(places[at as usize], image)?;
        }
        times[0].push(us(begun.elapsed()));
        times[1].push(us(app.frame()?.frame));
    }
    Ok(times.map(median))
}

/// A frame with an empty table, and one with settled members.
fn settled() -> Outcome<[f64; 2]> {
    let mut empty = app(true)?;
    let mut full = app(true)?;
    let images = images(&full, SETTLED)?;
    for images in images.chunks(COMING_IN_EACH * 20) {
        insert(&mut full, images)?;
        write(&mut full, images);
        full.frame()?;
    }
    take_turns([&mut empty, &mut full], |_, _, _| {})
}

/// A frame in which images are written: of a list that each pass declares, and of a table.
fn changing(written: usize) -> Outcome<[f64; 2]> {
    let mut listed = app(false)?;
    let mut members = app(true)?;
    let all = [&listed, &members].map(|app| images(app, (written * TURNS) as u32));
    let [of_list, of_table] = all;
    let (of_list, of_table) = (of_list?, of_table?);
    insert(&mut members, &of_table)?;
    write(&mut listed, &of_list);
    write(&mut members, &of_table);
    take_turns([&mut listed, &mut members], |app, which, at| {
        let first = at % TURNS * written;
        let images = &[&of_list, &of_table][which][first..first + written];
        write(app, images);
        if which == 0 {
            let mut list = app.app.world_mut().resource_mut::<Listed>();
            list.0 = images.to_vec();
        }
    })
}

/// Measurements of frames during which images are uploaded.
struct Coming {
    /// The median without them, in microseconds.
    resting: f64,
    times: Vec<Duration>,
    submissions: u32,
}

fn coming() -> Outcome<Coming> {
    let mut app = app(true)?;
    let images = images(&app, COMING)?;
    let mut resting = Vec::new();
    for _ in 0..FRAMES {
        resting.push(us(app.frame()?.frame));
    }
    let mut times = Vec::new();
    for images in images.chunks(COMING_IN_EACH) {
        let begun = std::time::Instant::now();
        insert(&mut app, images)?;
        write(&mut app, images);
        app.frame()?;
        times.push(begun.elapsed());
    }
    Ok(Coming {
        resting: median(resting),
        times,
        submissions: app.counts().map_or(0, |counts| counts.submissions),
    })
}

/// The medians of two apps before submission, in microseconds. `prepare` is not measured.
fn take_turns(
    mut apps: [&mut Watched; 2],
    mut prepare: impl FnMut(&mut Watched, usize, usize),
) -> Outcome<[f64; 2]> {
    let mut times = [Vec::new(), Vec::new()];
    for turn in 0..FRAMES / TURN {
        for (which, app) in apps.iter_mut().enumerate() {
            for at in 0..TURN {
                prepare(app, which, turn * TURN + at);
                let FrameTimes { pre_submit, .. } = app.frame()?;
                // The first few find cold caches, or what the first turns have to settle.
                if turn > 0 && at > 2 {
                    times[which].push(us(pre_submit));
                }
            }
        }
    }
    Ok(times.map(median))
}

/// An app of passes that declare a table, or a list of images.
fn app(by_table: bool) -> Outcome<Watched> {
    app_with(by_table, SETTLED)
}

/// The same with a table of so many entries.
fn app_with(by_table: bool, capacity: u32) -> Outcome<Watched> {
    let mut watched = Watched::new(settings(Mode::Systems), RecordOn::OneThread);
    let app = &mut watched.app;
    let Some(gpu) = app.world().get_resource::<GpuDevice>().cloned() else {
        return Err("there is no device; the log says why".into());
    };
    let buffer = |name| gpu.create_buffer(&BufferDesc::storage(name, 256));
    let source = buffer("source")?;
    let shader = GpuShader::wgsl("buffer.wgsl", BUFFER_SHADER)?;
    let pipeline = gpu.compute_pipeline(&ComputePipelineDesc::of("work", &shader))?;
    pipeline.wait()?;
    let mut uploads = app.world_mut().resource_mut::<Uploads>();
    uploads.write_buffer(&source, 0, &[0; 256]);
    let table = gpu.image_table(&ImageTableDesc::d2("textures", capacity))?;
    app.insert_resource(Textures(table))
        .insert_resource(Source(source))
        .insert_resource(Work(pipeline))
        .init_resource::<Listed>();
    for _ in 0..PASSES {
        let own = declared(AccessKind::StorageWrite, &buffer("own")?);
        if by_table {
            let builder = (
                ParamBuilder::of::<Recorder>(),
                ParamBuilder::of::<Table<Textures>>(),
                ParamBuilder::of::<StorageRead<Source>>(),
                own,
                ParamBuilder::of::<Res<Work>>(),
            );
            app.add_systems(Render, builder.build_system(reads_table));
        } else {
            let builder = (
                ParamBuilder::of::<Recorder>(),
                ParamBuilder::of::<AccessList<Listed, access_kind::Sampled>>(),
                ParamBuilder::of::<StorageRead<Source>>(),
                own,
                ParamBuilder::of::<Res<Work>>(),
            );
            app.add_systems(Render, builder.build_system(reads_list));
        }
    }
    watched.begin();
    Ok(watched)
}

fn reads_table(
    recorder: Recorder,
    _: Table<Textures>,
    source: StorageRead<Source>,
    own: AnyAccess,
    work: Res<Work>,
) {
    record(recorder, &source, &own, &work);
}

fn reads_list(
    recorder: Recorder,
    _: AccessList<Listed, access_kind::Sampled>,
    source: StorageRead<Source>,
    own: AnyAccess,
    work: Res<Work>,
) {
    record(recorder, &source, &own, &work);
}

fn record(mut recorder: Recorder, source: &StorageRead<Source>, own: &AnyAccess, work: &Work) {
    let mut compute = recorder.compute(&work.0);
    compute
        .bind(0, source)
        .bind(1, source)
        .bind(2, own)
        .dispatch([1; 3]);
}

fn images(watched: &Watched, count: u32) -> Outcome<Vec<GpuImage>> {
    let gpu = watched.app.world().resource::<GpuDevice>();
    let image = |_| {
        let desc = ImageDesc::sampled("member", [SIDE, SIDE], Format::R8G8B8A8_UNORM);
        gpu.create_image(&desc.with_sharing(Sharing::Concurrent))
    };
    Ok((0..count).map(image).collect::<Result<_, _>>()?)
}

fn insert(watched: &mut Watched, images: &[GpuImage]) -> Outcome<()> {
    let mut textures = watched.app.world_mut().resource_mut::<Textures>();
    for image in images {
        textures.insert(image)?;
    }
    Ok(())
}

fn write(watched: &mut Watched, images: &[GpuImage]) {
    let mut uploads = watched.app.world_mut().resource_mut::<Uploads>();
    for image in images {
        uploads.write_image(image, &[0; (SIDE * SIDE * 4) as usize]);
    }
}

fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
