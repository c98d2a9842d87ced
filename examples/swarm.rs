//! Survive a swarm of 50,000: enemies live on the device alone.
//!
//! `count` and `advance` move them on a compute queue beside the graphics queue, between two
//! buffers that change roles; `draw_swarm` draws them with one instanced draw; `draw_2d`, the pass
//! of `quadrille_2d`, draws player, shots and text over them; `glow` and `develop` are bloom. The
//! score comes back through `tell_score`, a host pass. Nothing here says which pass waits for which.

use std::path::PathBuf;

use bevy_app::{App, AppExit, Update};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_input::ButtonInput;
use bevy_input::keyboard::KeyCode;
use bevy_math::Vec2;
use bevy_time::{Real, Time};
use clap::Parser;
use examples::run::Run;
use examples::script::{InputScript, Pointer, Script};
use examples::swarm::{CELLS, Counters, FIELD, MOST_SHOTS, Phase, STEP, Survival, Wish, constants};
use examples::{CommonArgs, args};
use quadrille::ecs::HostRead;
use quadrille::prelude::{GpuImage, *};
use quadrille::vulkan::Format;
use quadrille::vulkan::resources::Sharing;
use quadrille_2d::prelude::*;
use quadrille_2d::systems::draw_2d;

/// Survive a swarm that lives on the GPU.
///
/// WASD or arrow keys move, the mouse aims, B turns bloom off and on, P or escape pauses, R begins
/// again.
#[derive(Parser, Resource, Clone)]
#[command(after_help = EXAMPLES)]
struct Args {
    /// How many enemies there are
    #[arg(long, value_name = "N", default_value_t = 50_000,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    enemies: u32,
    /// Decides where they begin
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Play input from a file: lines such as `10 press left`, `45 tap p`, `60 pointer 0.5 0.9`
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  swarm                                                    play
  swarm --enemies 200000                                   more of them
  swarm --headless --script assets/scripts/swarm.txt --frames 240 --screenshot swarm.png
  QUADRILLE_QUEUES=1 swarm --headless --plan plan.txt      the same on one queue";

/// The enemies before the step, and after it.
#[derive(Resource, Deref)]
struct Before(GpuBuffer);
#[derive(Resource, Deref)]
struct After(GpuBuffer);
/// Enemies by cell of the grid.
#[derive(Resource, Deref)]
struct Cells(GpuBuffer);
#[derive(Resource, Deref)]
struct Shots(GpuBuffer);
#[derive(Resource, Deref)]
struct Counted(GpuBuffer);
/// Counts up to this step, where the host reads them.
#[derive(Resource, Deref)]
struct Tally(GpuBuffer);
/// The same up to the step before. With two, no step has to wait until the host has read the last.
#[derive(Resource, Deref)]
struct TallyBefore(GpuBuffer);
/// Light before it is brought into the range of a window.
#[derive(Resource, Deref)]
struct Scene(GpuImage);
#[derive(Resource, Deref)]
struct Glow(GpuImage);

#[derive(Resource)]
struct Pipelines {
    count: ComputePipeline,
    advance: ComputePipeline,
    draw: GraphicsPipeline,
    glow: GraphicsPipeline,
    develop: GraphicsPipeline,
    sampler: Sampler,
}

#[derive(Resource)]
struct Game {
    rules: Survival,
    enemies: u32,
    bloom: bool,
    /// Real time that is not yet a step; without a window each frame is one.
    left_over: Option<f32>,
    /// Whether this frame is a step.
    moves: bool,
    /// Whether the game restarts with this frame.
    is_new: bool,
    /// Frames drawn.
    frame: u64,
    /// The frame with which the game began: what was counted before is of another.
    began: u64,
    /// Counts of earlier frames, by frame.
    counted: std::collections::VecDeque<(u64, Counters)>,
}

impl Game {
    /// Begins with a swarm that has counted nothing.
    fn begin(&mut self) {
        self.rules = Survival::default();
        self.began = self.frame;
    }
}

#[derive(Component)]
struct Player;
#[derive(Component)]
struct ShotSprite(usize);
#[derive(Component)]
struct Score;
#[derive(Component)]
struct Message;

const SCENE: bevy_camera::ManualTextureViewHandle = bevy_camera::ManualTextureViewHandle(0);

fn main() -> AppExit {
    let args: Args = args::parse();
    let script = args.script.as_deref().map(Script::load).transpose();
    let script = script.unwrap_or_else(|error| args::exit_with(error));
    let plugins = args.common.plugins("Swarm", FIELD);
    let every_frame = args.common.is_headless() || script.is_some();
    App::new()
        .insert_resource(Game {
            rules: Survival::default(),
            enemies: args.enemies,
            bloom: true,
            left_over: (!every_frame).then_some(0.0),
            moves: false,
            is_new: false,
            frame: 0,
            began: 0,
            counted: Default::default(),
        })
        .add_plugins((plugins, Quadrille2dPlugin::default()))
        .add_plugins((args.common.clone(), InputScript(script)))
        .insert_resource(args)
        .add_systems(RenderStartup, (make, populate).chain())
        .add_systems(bevy_app::Startup, spawn)
        .add_systems(Update, (play, (place, write)).chain())
        .add_systems(
            Render,
            (
                exchange.in_set(RenderSystems::Declare),
                populate.in_set(RenderSystems::Declare).run_if(is_new),
                empty_cells.run_if(moves),
                count
                    .after(empty_cells)
                    .run_if(moves)
                    .on_queue(QueuePreference::Async),
                advance
                    .after(count)
                    .run_if(moves)
                    .on_queue(QueuePreference::Async),
                (copy_score.on_queue(QueuePreference::Async), tell_score)
                    .chain()
                    .after(advance)
                    .run_if(moves),
                draw_swarm.after(advance).before(draw_2d),
                glow.after(draw_2d),
                develop.after(glow),
            ),
        )
        .run()
}

/// Makes what belongs to the device.
fn make(
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
        count: compute("count.wgsl", include_str!("../shaders/swarm/count.wgsl"))?,
        advance: compute("move.wgsl", include_str!("../shaders/swarm/move.wgsl"))?,
        draw: graphics("draw.wgsl", include_str!("../shaders/swarm/draw.wgsl"))?,
        glow: graphics("glow.wgsl", include_str!("../shaders/swarm/glow.wgsl"))?,
        develop: graphics(
            "develop.wgsl",
            include_str!("../shaders/swarm/develop.wgsl"),
        )?,
        sampler: gpu.create_sampler(&SamplerDesc::linear())?,
    });
    Ok(())
}

/// Puts the enemies where they begin: at first, when the player begins again, and after a device was
/// lost, which took the swarm along.
fn populate(
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

fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
) {
    // Over the swarm, which is there already.
    let camera = Camera {
        clear_color: ClearColorConfig::None,
        ..Camera::default()
    };
    commands.spawn((Camera2d, camera, RenderTarget::TextureView(SCENE)));
    let ship = Mesh2d(meshes.add(Triangle2d::new(
        Vec2::new(16.0, 0.0),
        Vec2::new(-11.0, 10.0),
        Vec2::new(-11.0, -10.0),
    )));
    // Colours above 1 glow.
    let bright = MeshMaterial2d(materials.add(Color::linear_rgb(0.9, 1.8, 2.2)));
    commands.spawn((Player, ship, bright, Transform::default()));
    for index in 0..MOST_SHOTS {
        let gold = Color::linear_rgb(4.0, 2.6, 0.7);
        let sprite = Sprite::from_color(gold, Vec2::new(14.0, 3.0));
        commands.spawn((ShotSprite(index), sprite, Transform::default()));
    }
    let font = |size| TextFont {
        font_size: FontSize::Px(size),
        ..TextFont::default()
    };
    let half = Vec2::new(FIELD[0] as f32, FIELD[1] as f32) / 2.0;
    commands.spawn((
        Score,
        Text2d::default(),
        font(26.0),
        Anchor::TOP_LEFT,
        Transform::from_xyz(-half.x + 14.0, half.y - 8.0, 3.0),
    ));
    commands.spawn((
        Message,
        Text2d::default(),
        font(44.0),
        TextLayout::justify(Justify::Center),
        Transform::from_xyz(0.0, 90.0, 3.0),
    ));
}

/// How many frames late counters are taken: what the device counted is there by then in any run,
/// so that a game is the same each time.
const COUNTERS_LATE: u64 = 5;

fn play(
    keys: Res<ButtonInput<KeyCode>>,
    pointer: Res<Pointer>,
    time: Res<Time<Real>>,
    mut game: ResMut<Game>,
    mut run: ResMut<Run>,
) {
    game.moves = false;
    game.is_new = false;
    if run.is_over() {
        return;
    }
    game.frame += 1;
    game.bloom ^= keys.just_pressed(KeyCode::KeyB);
    let due = game.frame.saturating_sub(COUNTERS_LATE);
    while let Some((frame, counters)) = game.counted.pop_front_if(|(frame, _)| *frame <= due) {
        if frame >= game.began {
            game.rules.counted(counters);
        }
    }
    let pressed = |codes: [KeyCode; 2]| f32::from(u8::from(keys.any_pressed(codes)));
    let wish = Wish {
        direction: Vec2::new(
            pressed([KeyCode::KeyD, KeyCode::ArrowRight])
                - pressed([KeyCode::KeyA, KeyCode::ArrowLeft]),
            pressed([KeyCode::KeyW, KeyCode::ArrowUp])
                - pressed([KeyCode::KeyS, KeyCode::ArrowDown]),
        ),
        aim: pointer
            .0
            .map(|[x, y]| Vec2::new((x - 0.5) * FIELD[0] as f32, (0.5 - y) * FIELD[1] as f32)),
        pause: keys.any_just_pressed([KeyCode::KeyP, KeyCode::Escape]),
        restart: keys.just_pressed(KeyCode::KeyR),
    };
    let is_step = game.left_over.as_mut().is_none_or(|left_over| {
        // A frame is one step at most: a slow device has a slow game, not one that leaps.
        *left_over = (*left_over + time.delta_secs()).min(2.0 * STEP);
        let due = *left_over >= STEP || wish.pause || wish.restart;
        *left_over -= if due { left_over.min(STEP) } else { 0.0 };
        due
    });
    if is_step {
        game.rules.step(wish);
        game.is_new = wish.restart;
        game.moves = game.rules.phase == Phase::Play && !game.is_new;
    }
    let rules = &game.rules;
    run.report.insert("score".to_owned(), rules.score().into());
    run.report
        .insert("health".to_owned(), rules.health().into());
}

/// Lets the entities follow the game.
fn place(
    game: Res<Game>,
    mut player: Single<&mut Transform, (With<Player>, Without<ShotSprite>)>,
    mut sprites: Query<(&ShotSprite, &mut Transform, &mut Visibility), Without<Player>>,
) {
    let rules = &game.rules;
    player.translation = rules.player.extend(2.0);
    player.rotation = bevy_math::Quat::from_rotation_z(rules.heading);
    for (&ShotSprite(index), mut transform, mut visibility) in &mut sprites {
        let shot = rules.shots.get(index);
        visibility.set_if_neq(match shot {
            Some(_) => Visibility::Inherited,
            None => Visibility::Hidden,
        });
        if let Some(shot) = shot {
            transform.translation = shot.position.extend(1.0);
            transform.rotation = bevy_math::Quat::from_rotation_z(shot.velocity.to_angle());
        }
    }
}

fn write(
    game: Res<Game>,
    mut score: Single<&mut Text2d, (With<Score>, Without<Message>)>,
    mut message: Single<&mut Text2d, (With<Message>, Without<Score>)>,
) {
    let rules = &game.rules;
    let line = format!("shot {}   health {}", rules.score(), rules.health());
    let shown = match rules.phase {
        Phase::Play => "",
        Phase::Paused => "paused",
        Phase::Over => "they got you\nR begins again",
    };
    if score.0 != line {
        score.0 = line;
    }
    if message.0 != shown {
        message.0 = shown.to_owned();
    }
}

fn moves(game: Res<Game>) -> bool {
    game.moves
}

fn is_new(game: Res<Game>) -> bool {
    game.is_new
}

/// Swaps buffers: the output of the last step is the input of this one.
fn exchange(
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

fn empty_cells(mut recorder: Recorder, cells: TransferWrite<Cells>) {
    recorder
        .transfer()
        .fill_buffer(&cells, 0, u64::from(CELLS) * 4, 0);
}

fn count(
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
struct Swarm<'w> {
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

fn advance(mut recorder: Recorder, swarm: Swarm, pipelines: Res<Pipelines>, game: Res<Game>) {
    recorder
        .compute(&pipelines.advance)
        .bind_all(&swarm)
        .push(&game.rules.to_step(game.enemies))
        .dispatch_invocations([game.enemies, 1, 1]);
}

fn copy_score(mut recorder: Recorder, counted: TransferRead<Counted>, tally: TransferWrite<Tally>) {
    let bytes = size_of::<Counters>() as u64;
    recorder
        .transfer()
        .copy_buffer(&counted, 0, &tally, 0, bytes);
}

/// Reads what was counted, on the CPU, once the device has got there. No pass comes after it, so
/// the frame does not wait.
fn tell_score(mut recorder: Recorder, tally: HostRead<Tally>, game: Res<Game>) {
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

fn draw_swarm(
    mut recorder: Recorder,
    scene: ColorTarget<Scene>,
    enemies: StorageRead<After>,
    pipelines: Res<Pipelines>,
    game: Res<Game>,
) {
    let half = [FIELD[0] as f32 / 2.0, FIELD[1] as f32 / 2.0];
    recorder
        .render(scene.clear([0.008, 0.010, 0.022, 1.0]))
        .pipeline(&pipelines.draw)
        .bind("enemies", &enemies)
        .push(&half)
        .draw(0..3, 0..game.enemies);
}

fn glow(
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

fn develop(
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
