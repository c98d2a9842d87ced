//! Device part of `swarm`: buffers, pipelines and passes.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_math::Vec2;
use examples::swarm::{CELLS, Counters, FIELD, MOST_SHOTS, Survival, constants};
use quadrille::ecs::HostRead;
use quadrille::prelude::{GpuImage, *};
use quadrille::vulkan::Format;
use quadrille::vulkan::resources::Sharing;
use quadrille_2d::prelude::*;

use super::picture::Effects;
use super::{Args, Game};

/// The enemies before the step, and after it.
#[derive(Resource, Deref)]
pub(super) struct Before(GpuBuffer);
#[derive(Resource, Deref)]
pub(super) struct After(GpuBuffer);
/// Enemies by cell of the grid.
#[derive(Resource, Deref)]
pub(super) struct Cells(GpuBuffer);
#[derive(Resource, Deref)]
pub(super) struct Shots(GpuBuffer);
#[derive(Resource, Deref)]
pub(super) struct Counted(GpuBuffer);
/// Counts up to this step, where the host reads them.
#[derive(Resource, Deref)]
pub(super) struct Tally(GpuBuffer);
/// The same up to the step before. With two, no step has to wait until the host has read the last.
#[derive(Resource, Deref)]
pub(super) struct TallyBefore(GpuBuffer);
/// Light before it is brought into the range of a window.
#[derive(Resource, Deref)]
pub(super) struct Scene(GpuImage);
#[derive(Resource, Deref)]
pub(super) struct Glow(GpuImage);

#[derive(Resource)]
pub(super) struct Pipelines {
    count: ComputePipeline,
    advance: ComputePipeline,
    draw: GraphicsPipeline,
    glow: GraphicsPipeline,
    develop: GraphicsPipeline,
    sampler: Sampler,
}

pub(super) const SCENE: bevy_camera::ManualTextureViewHandle =
    bevy_camera::ManualTextureViewHandle(0);

/// Makes what belongs to the device.
pub(super) fn make(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    args: Res<Args>,
    mut targets: ResMut<ManualTextureViews>,
) -> Result {
    let bytes = u64::from(args.enemies) * size_of::<examples::swarm::Enemy>() as u64;
    // Several queues use them in each step: the compute queue writes one while the graphics queue
    // reads the other, and a transfer queue copies what was counted.
    let shared = |name, bytes| BufferDesc::storage(name, bytes).with_sharing(Sharing::Concurrent);
    commands.insert_resource(Before(gpu.create_buffer(&shared("enemies a", bytes))?));
    commands.insert_resource(After(gpu.create_buffer(&shared("enemies b", bytes))?));
    commands.insert_resource(Cells(
        gpu.create_buffer(&BufferDesc::storage("cells", u64::from(CELLS) * 4))?,
    ));
    let shots = BufferDesc::storage("shots", (MOST_SHOTS * size_of::<Vec2>()) as u64);
    commands.insert_resource(Shots(gpu.create_buffer(&shots)?));
    let bytes = size_of::<Counters>() as u64;
    commands.insert_resource(Counted(gpu.create_buffer(&shared("counters", bytes))?));
    let tally = |name| BufferDesc::readback(name, bytes);
    commands.insert_resource(Tally(gpu.create_buffer(&tally("tally a"))?));
    commands.insert_resource(TallyBefore(gpu.create_buffer(&tally("tally b"))?));
    let [width, height] = FIELD;
    let light = |name, width, height| {
        ImageDesc::color_target(name, [width, height], Format::R16G16B16A16_SFLOAT)
    };
    let scene = gpu.create_image(&light("scene", width, height))?;
    targets.insert(SCENE, scene.clone());
    commands.insert_resource(Scene(scene));
    commands.insert_resource(Glow(gpu.create_image(&light(
        "glow",
        width / 2,
        height / 2,
    ))?));
    constants().publish()?;
    let compute = |name, source| -> Result<_, BevyError> {
        let shader = GpuShader::wgsl(name, source)?;
        Ok(gpu.compute_pipeline(&ComputePipelineDesc::of(name, &shader))?)
    };
    let graphics = |name, source| -> Result<_, BevyError> {
        let shader = GpuShader::wgsl(name, source)?;
        Ok(gpu.graphics_pipeline(&GraphicsPipelineDesc::of(name, &shader))?)
    };
    commands.insert_resource(Pipelines {
        count: compute("count.wgsl", include_str!("../../shaders/swarm/count.wgsl"))?,
        advance: compute("move.wgsl", include_str!("../../shaders/swarm/move.wgsl"))?,
        draw: graphics("draw.wgsl", include_str!("../../shaders/swarm/draw.wgsl"))?,
        glow: graphics("glow.wgsl", include_str!("../../shaders/swarm/glow.wgsl"))?,
        develop: graphics(
            "develop.wgsl",
            include_str!("../../shaders/swarm/develop.wgsl"),
        )?,
        sampler: gpu.create_sampler(&SamplerDesc::linear())?,
    });
    Ok(())
}

/// Puts the enemies where they begin: at first, when the player begins again, and after a device was
/// lost, which took the swarm along.
pub(super) fn populate(
    args: Res<Args>,
    mut uploads: ResMut<Uploads>,
    before: Res<Before>,
    after: Res<After>,
    counted: Res<Counted>,
    shots: Res<Shots>,
    mut game: ResMut<Game>,
) {
    game.begin();
    let enemies = Survival::enemies(args.enemies, args.seed);
    let bytes = bytemuck::cast_slice(&enemies);
    uploads.write_buffer(&before, 0, bytes);
    uploads.write_buffer(&after, 0, bytes);
    uploads.write_buffer(&counted, 0, bytemuck::bytes_of(&Counters::default()));
    uploads.write_buffer(&shots, 0, &[0; MOST_SHOTS * size_of::<Vec2>()]);
}

pub(super) fn moves(game: Res<Game>) -> bool {
    game.moves
}

pub(super) fn is_new(game: Res<Game>) -> bool {
    game.is_new
}

/// Swaps buffers: the output of the last step is the input of this one.
pub(super) fn exchange(
    game: Res<Game>,
    mut before: ResMut<Before>,
    mut after: ResMut<After>,
    (mut tally, mut tally_before): (ResMut<Tally>, ResMut<TallyBefore>),
    shots: Res<Shots>,
    mut uploads: ResMut<Uploads>,
) {
    if !game.moves {
        return;
    }
    std::mem::swap(&mut before.0, &mut after.0);
    std::mem::swap(&mut tally.0, &mut tally_before.0);
    let mut places = [Vec2::ZERO; MOST_SHOTS];
    for (place, shot) in places.iter_mut().zip(&game.rules.shots) {
        *place = shot.position;
    }
    uploads.write_buffer(
        &shots,
        0,
        bytemuck::cast_slice(&places.map(|p| p.to_array())),
    );
}

pub(super) fn empty_cells(mut recorder: Recorder, cells: TransferWrite<Cells>) {
    recorder
        .transfer()
        .fill_buffer(&cells, 0, u64::from(CELLS) * 4, 0);
}

pub(super) fn count(
    mut recorder: Recorder,
    enemies: StorageRead<Before>,
    cells: StorageReadWrite<Cells>,
    pipelines: Res<Pipelines>,
    game: Res<Game>,
) {
    recorder
        .compute(&pipelines.count)
        .bind("enemies", &enemies)
        .bind("cells", &cells)
        .push(&game.rules.to_step(game.enemies))
        .dispatch_invocations([game.enemies, 1, 1]);
}

/// The buffers that a step reads and writes.
#[derive(SystemParam, PassBindings)]
pub(super) struct Swarm<'w> {
    #[bind]
    before: StorageRead<'w, Before>,
    #[bind]
    after: StorageWrite<'w, After>,
    #[bind]
    cells: StorageRead<'w, Cells>,
    #[bind]
    shots: StorageRead<'w, Shots>,
    #[bind]
    counters: StorageReadWrite<'w, Counted>,
}

pub(super) fn advance(
    mut recorder: Recorder,
    swarm: Swarm,
    pipelines: Res<Pipelines>,
    game: Res<Game>,
) {
    recorder
        .compute(&pipelines.advance)
        .bind_all(&swarm)
        .push(&game.rules.to_step(game.enemies))
        .dispatch_invocations([game.enemies, 1, 1]);
}

pub(super) fn copy_score(
    mut recorder: Recorder,
    counted: TransferRead<Counted>,
    tally: TransferWrite<Tally>,
) {
    let bytes = size_of::<Counters>() as u64;
    recorder
        .transfer()
        .copy_buffer(&counted, 0, &tally, 0, bytes);
}

/// Reads what was counted, on the CPU, once the device has got there. No pass comes after it, so
/// the frame does not wait.
pub(super) fn tell_score(mut recorder: Recorder, tally: HostRead<Tally>, game: Res<Game>) {
    let (tally, frame) = (tally.memory(), game.frame);
    recorder.host(move |host| {
        let mut counters = [Counters::default()];
        tally.read_into(host, 0, &mut counters)?;
        let [counters] = counters;
        host.queue(move |world: &mut World| {
            let counted = &mut world.resource_mut::<Game>().counted;
            counted.push_back((frame, counters));
        });
        Ok(())
    });
}

pub(super) fn draw_swarm(
    mut recorder: Recorder,
    scene: ColorTarget<Scene>,
    enemies: StorageRead<After>,
    pipelines: Res<Pipelines>,
    (game, effects): (Res<Game>, Res<Effects>),
) {
    let offset = effects.offset();
    let view = [
        FIELD[0] as f32 / 2.0,
        FIELD[1] as f32 / 2.0,
        offset.x,
        offset.y,
    ];
    recorder
        .render(scene.clear([0.008, 0.010, 0.022, 1.0]))
        .pipeline(&pipelines.draw)
        .bind("enemies", &enemies)
        .push(&view)
        .draw(0..3, 0..game.enemies);
}

pub(super) fn glow(
    mut recorder: Recorder,
    scene: Sampled<Scene>,
    glow: ColorTarget<Glow>,
    pipelines: Res<Pipelines>,
) {
    recorder
        .render(glow.discard())
        .pipeline(&pipelines.glow)
        .bind("scene", &scene)
        .sampler("linear", &pipelines.sampler)
        .draw(0..3, 0..1);
}

pub(super) fn develop(
    mut recorder: Recorder,
    scene: Sampled<Scene>,
    glow: Sampled<Glow>,
    window: ColorTarget<PrimaryWindowImage>,
    pipelines: Res<Pipelines>,
    game: Res<Game>,
) {
    recorder
        .render(window.discard())
        .pipeline(&pipelines.develop)
        .bind("scene", &scene)
        .bind("glow", &glow)
        .sampler("linear", &pipelines.sampler)
        .push(&if game.bloom { 1.4_f32 } else { 0.0 })
        .draw(0..3, 0..1);
}
