//! The courier and its camera: keys become steps of the game, entities follow its state.

use bevy_app::{App, Last, Plugin, Startup, Update};
use bevy_camera::Hdr;
use bevy_ecs::prelude::*;
use bevy_input::ButtonInput;
use bevy_input::gamepad::GamepadButton;
use bevy_input::keyboard::KeyCode;
use bevy_time::{Real, Time};
use examples::gamepads::GamepadInput;
use examples::run::Run;
use quadrille_3d::CameraCut;
use quadrille_3d::prelude::*;

use crate::buildings::merged;
use crate::delivery::Phase;
use crate::flight::{Controls, STEP, TOP_SPEED};
use crate::game::{Game, Input};
use crate::options::Screen;
use crate::process;
use crate::quality::Quality;
use crate::settings::{Action, Settings};

/// Source of the steps of a game.
#[derive(Resource, Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pace {
    /// Real time; the seconds of it that are not yet a step.
    Time(f32),
    /// Frames, without a window or with a script: so many steps in each.
    Frames(u32),
}

impl Pace {
    /// Returns frames of so many steps, or real time.
    pub(crate) fn new(frames: Option<u32>) -> Self {
        frames.map_or(Self::Time(0.0), Self::Frames)
    }

    /// Returns the steps of a frame that took so many seconds.
    fn steps(&mut self, seconds: f32) -> u32 {
        match self {
            Self::Frames(steps) => *steps,
            Self::Time(left_over) => {
                // After a long stall the game does not try to catch up.
                *left_over = (*left_over + seconds).min(4.0 * STEP);
                let steps = (*left_over / STEP).floor();
                *left_over -= steps * STEP;
                steps as u32
            }
        }
    }

    /// Returns the part of the next step that has passed, from 0 to 1.
    fn part(self) -> f32 {
        match self {
            Self::Time(left_over) => left_over / STEP,
            Self::Frames(_) => 1.0,
        }
    }
}

/// Camera behind the courier.
#[derive(Component)]
pub(crate) struct FollowCamera;

/// The courier.
#[derive(Component)]
pub(crate) struct Courier;

/// The parcel below the courier, visible while it is on board.
#[derive(Component)]
pub(crate) struct Parcel;

/// Place and field of view of a camera.
type Lens = (
    &'static mut Transform,
    &'static mut Projection,
    &'static mut CameraCut,
);

/// Meters that the camera moves in a frame at most; further away it shows another place.
const LEAP: f32 = 20.0;

/// Adds the courier, its camera and its controls.
pub(crate) struct PlayerPlugin;

impl Plugin for PlayerPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, (spawn_courier, spawn_camera))
            .add_systems(Update, (play, follow).chain())
            .add_systems(Last, note_memory);
    }
}

/// Returns meshes of hull, jets, lamps, canopy and stripes.
fn courier_meshes() -> [Mesh; 5] {
    let hull = merged([
        (Vec3::new(1.5, 0.55, 3.6), Vec3::ZERO),
        (Vec3::new(0.9, 0.3, 1.1), Vec3::new(0.0, 0.36, 0.7)),
        (Vec3::new(3.4, 0.14, 0.9), Vec3::new(0.0, 0.05, 0.9)),
        (Vec3::new(0.5, 0.5, 1.6), Vec3::new(-1.75, 0.0, 0.9)),
        (Vec3::new(0.5, 0.5, 1.6), Vec3::new(1.75, 0.0, 0.9)),
        (Vec3::new(0.12, 0.8, 0.8), Vec3::new(0.0, 0.6, 1.4)),
    ]);
    let jets = merged([
        (Vec3::new(0.36, 0.36, 0.1), Vec3::new(-1.75, 0.0, 1.74)),
        (Vec3::new(0.36, 0.36, 0.1), Vec3::new(1.75, 0.0, 1.74)),
        (Vec3::new(0.9, 0.12, 0.1), Vec3::new(0.0, 0.05, 1.84)),
    ]);
    let lamps = merged([
        (Vec3::new(0.3, 0.14, 0.1), Vec3::new(-0.5, 0.0, -1.82)),
        (Vec3::new(0.3, 0.14, 0.1), Vec3::new(0.5, 0.0, -1.82)),
    ]);
    let canopy = merged([(Vec3::new(1.0, 0.44, 1.5), Vec3::new(0.0, 0.44, -0.4))]);
    let stripes = merged([
        (Vec3::new(0.16, 0.02, 1.2), Vec3::new(-0.5, 0.285, 1.0)),
        (Vec3::new(0.16, 0.02, 1.2), Vec3::new(0.5, 0.285, 1.0)),
        (Vec3::new(3.42, 0.15, 0.14), Vec3::new(0.0, 0.05, 1.2)),
    ]);
    [hull, jets, lamps, canopy, stripes]
}

/// Returns the materials of the meshes of [`courier_meshes`].
fn courier_materials() -> [StandardMaterial; 5] {
    let lit = |emissive, color| StandardMaterial {
        emissive,
        emissive_exposure_weight: 0.0,
        ..StandardMaterial::from(color)
    };
    let paint = StandardMaterial {
        metallic: 0.2,
        perceptual_roughness: 0.4,
        ..lit(
            LinearRgba::rgb(0.36, 0.09, 0.006),
            Color::srgb(1.0, 0.42, 0.05),
        )
    };
    let glass = StandardMaterial {
        perceptual_roughness: 0.12,
        ..StandardMaterial::from(Color::srgb(0.05, 0.07, 0.12))
    };
    [
        paint,
        lit(LinearRgba::rgb(1.5, 9.0, 12.0), Color::BLACK),
        lit(LinearRgba::rgb(10.0, 9.5, 8.5), Color::BLACK),
        glass,
        lit(
            LinearRgba::rgb(0.28, 0.24, 0.17),
            Color::srgb(1.0, 0.92, 0.78),
        ),
    ]
}

fn spawn_courier(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    quality: Res<Quality>,
) {
    let amber = materials.add(StandardMaterial {
        emissive: LinearRgba::rgb(2.0, 1.1, 0.25),
        emissive_exposure_weight: 0.0,
        ..StandardMaterial::from(Color::BLACK)
    });
    let boxed = meshes.add(Cuboid::new(1.2, 0.8, 1.3));
    let courier = (Courier, Transform::default(), Visibility::default());
    commands.spawn(courier).with_children(|courier| {
        for (mesh, material) in courier_meshes().into_iter().zip(courier_materials()) {
            courier.spawn((
                Mesh3d(meshes.add(mesh)),
                MeshMaterial3d(materials.add(material)),
            ));
        }
        courier.spawn((
            Parcel,
            Mesh3d(boxed),
            MeshMaterial3d(amber),
            Transform::from_xyz(0.0, -0.6, 0.3),
        ));
        courier.spawn((
            SpotLight {
                color: Color::srgb(0.85, 0.93, 1.0),
                intensity: 5_000_000.0,
                range: 90.0,
                inner_angle: 0.2,
                outer_angle: 0.42,
                shadow_maps_enabled: quality.has_shadows(),
                ..SpotLight::default()
            },
            Transform::from_xyz(0.0, -0.2, -2.0).with_rotation(Quat::from_rotation_x(-0.1)),
        ));
        courier.spawn((
            PointLight {
                color: Color::srgb(0.35, 0.85, 1.0),
                intensity: 260_000.0,
                range: 14.0,
                ..PointLight::default()
            },
            Transform::from_xyz(0.0, 1.6, 3.4),
        ));
    });
}

/// Spawns the camera; `effects.rs` adds its effects.
fn spawn_camera(mut commands: Commands) {
    commands.spawn((
        FollowCamera,
        Camera3d::default(),
        Hdr,
        CameraCut::default(),
        Projection::Perspective(PerspectiveProjection {
            fov: 1.05,
            ..PerspectiveProjection::default()
        }),
        Tonemapping::AcesFitted,
        Transform::default(),
    ));
}

/// Returns the input of a step from keys and gamepads. The arrow keys steer beside the player's own.
fn input(keys: &ButtonInput<KeyCode>, pad: &GamepadInput, settings: &Settings) -> Input {
    let down = |code: KeyCode| u8::from(keys.pressed(code));
    let axis = |[plus, minus]: [Action; 2], arrows: Option<[KeyCode; 2]>| {
        let own = [plus, minus].map(|it| down(settings.key(it)));
        let arrows = arrows.map_or([0; 2], |it| it.map(down));
        f32::from(own[0] | arrows[0]) - f32::from(own[1] | arrows[1])
    };
    let held = |button| f32::from(u8::from(pad.pressed(button)));
    let [brakes, speed] = pad.triggers;
    let lift = pad.look.y + held(GamepadButton::South) - held(GamepadButton::East);
    let start = pad.just_pressed(GamepadButton::Start);
    let keyed = Controls {
        throttle: axis([Action::Speed, Action::Brakes], None),
        turn: axis(
            [Action::Left, Action::Right],
            Some([KeyCode::ArrowLeft, KeyCode::ArrowRight]),
        ),
        lift: axis(
            [Action::Climb, Action::Sink],
            Some([KeyCode::ArrowUp, KeyCode::ArrowDown]),
        ),
    };
    Input {
        controls: Controls {
            throttle: (keyed.throttle + speed - brakes + pad.direction.y).clamp(-1.0, 1.0),
            turn: (keyed.turn - pad.direction.x).clamp(-1.0, 1.0),
            lift: (keyed.lift + lift).clamp(-1.0, 1.0),
        },
        // At the title start begins; in a game it pauses and goes on.
        start: keys.just_pressed(KeyCode::Enter) || pad.just_pressed(GamepadButton::South) || start,
        pause: keys.any_just_pressed([KeyCode::KeyP, KeyCode::Escape]) || start,
        restart: keys.just_pressed(KeyCode::KeyR) || pad.just_pressed(GamepadButton::Select),
    }
}

/// Advances the game by the steps that are due.
pub(crate) fn play(
    (keys, pad): (Res<ButtonInput<KeyCode>>, Res<GamepadInput>),
    (settings, screen): (Res<Settings>, Res<Screen>),
    time: Res<Time<Real>>,
    mut pace: ResMut<Pace>,
    mut game: ResMut<Game>,
    mut run: ResMut<Run>,
    mut held: Local<Input>,
) {
    if run.is_over() {
        return;
    }
    let now = match screen.takes_input {
        true => Input::default(),
        false => input(&keys, &pad, &settings),
    };
    // A key that is pressed in a frame without a step counts in the next step.
    *held = Input {
        controls: now.controls,
        start: held.start || now.start,
        pause: held.pause || now.pause,
        restart: held.restart || now.restart,
    };
    for _ in 0..pace.steps(time.delta_secs()) {
        game.step(*held);
        (held.start, held.pause, held.restart) = (false, false, false);
    }
    let rules = &game.rules;
    run.report.insert("score".to_owned(), rules.score.into());
    run.report
        .insert("level".to_owned(), (rules.level + 1).into());
    if game.is_autoplay {
        let [games, points] = game.ended;
        run.report.insert("games".to_owned(), games.into());
        run.report.insert("points".to_owned(), points.into());
    }
}

/// Reports the resident memory of a long run after a quarter of its frames and at its end, in KiB: it must not grow.
fn note_memory(mut run: ResMut<Run>, mut frame: Local<u64>) {
    *frame += 1;
    let Some(limit) = run.frame_limit().filter(|limit| *limit >= 8) else {
        return;
    };
    let name = match *frame {
        at if at == limit / 4 => "resident_kib_early",
        at if at == limit - 1 => "resident_kib_late",
        _ => return,
    };
    if let Some([resident, _]) = process::memory_kib() {
        run.report.insert(name.to_owned(), resident.into());
    }
}

/// Returns the offset in meters, in its own axes, of a camera that a crash shakes.
fn shaken(time: f32, shake: f32) -> Vec3 {
    let [x, y] = [57.0, 71.0].map(|rate: f32| (rate * time).sin() * 0.45 * shake * shake);
    Vec3::new(x, y, 0.0)
}

/// Lets courier and camera follow the game, between two steps where frames are faster than these.
pub(crate) fn follow(
    game: Res<Game>,
    pace: Res<Pace>,
    mut courier: Single<&mut Transform, (With<Courier>, Without<FollowCamera>)>,
    camera: Single<Lens, (With<FollowCamera>, Without<Courier>)>,
    mut parcel: Single<&mut Visibility, With<Parcel>>,
) {
    let part = pace.part();
    let (flight, chase) = game.earlier;
    let (next, next_chase) = (game.flight, game.chase);
    courier.translation = flight.position.lerp(next.position, part);
    courier.rotation = flight.rotation().slerp(next.rotation(), part);
    let (mut place, mut projection, mut cut) = camera.into_inner();
    let eye = chase.eye.lerp(next_chase.eye, part);
    let target = chase.target.lerp(next_chase.target, part);
    if place.translation.distance(eye) > LEAP {
        cut.cut();
    }
    *place = Transform::from_translation(eye).looking_at(target, Vec3::Y);
    let offset = place.rotation * shaken(game.time, game.shake);
    place.translation += offset;
    // Speed widens the view.
    if let Projection::Perspective(perspective) = &mut *projection {
        let speed = match game.rules.phase {
            Phase::Title => 0.0,
            _ => next.velocity.length() / TOP_SPEED,
        };
        perspective.fov = 1.0 + 0.16 * speed.min(1.0);
    }
    parcel.set_if_neq(match game.rules.is_carrying {
        true => Visibility::Inherited,
        false => Visibility::Hidden,
    });
}
