//! Motion that only pleases the eye: stars, the ball's trail, pieces of bricks, a shaken camera. It moves by frames of a
//! 60th of a second, so that the same game gives the same picture.

use bevy_app::{App, Plugin, Startup, Update};
use bevy_ecs::prelude::*;
use bevy_math::{Vec2, Vec3};
use examples::breakout::{BALL, FIELD, PADDLE_Y, Phase, STEP};
use examples::random::Random;
use examples::run::Run;
use quadrille_2d::prelude::*;

use crate::field::{brick_color, effect_color};
use crate::{Game, Play};

/// Adds the motion.
pub(crate) struct JuicePlugin;

impl Plugin for JuicePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Juice>()
            .add_systems(Startup, (spawn_sky, spawn_trail))
            .add_systems(
                Update,
                (advance, (shake, twinkle, follow, shatter, fly))
                    .chain()
                    .after(Play)
                    .run_if(is_moving),
            );
    }
}

fn is_moving(game: Res<Game>, run: Res<Run>) -> bool {
    !matches!(game.rules.phase, Phase::Paused(_)) && !run.is_over()
}

/// Timers of motion.
#[derive(Resource, Default)]
pub(crate) struct Juice {
    frame: u32,
    /// Distance that the camera is shaken by, in units of the field.
    shake: f32,
    /// Frames that the paddle flashes on.
    flash: u32,
}

/// Frames that the paddle flashes.
const FLASH: u32 = 30;
/// Positions of the ball in its trail.
const TRAIL: usize = 14;

impl Juice {
    /// Brightness of the paddle's flash, from 0 to 1.
    pub(crate) fn flash(&self) -> f32 {
        self.flash as f32 / FLASH as f32
    }
}

fn advance(game: Res<Game>, mut juice: ResMut<Juice>) {
    let rules = &game.rules;
    juice.frame = juice.frame.wrapping_add(1);
    juice.shake *= 0.88;
    juice.flash = juice.flash.saturating_sub(1);
    juice.shake += 0.8 * rules.hits.len() as f32;
    if rules.has_lost_ball {
        juice.shake += 7.0;
    }
    if rules.caught.is_some() {
        juice.flash = FLASH;
    }
}

fn shake(juice: Res<Juice>, mut camera: Single<&mut Transform, With<Camera2d>>) {
    let time = juice.frame as f32;
    let by = juice.shake * Vec2::new((time * 1.9).sin(), (time * 2.7).cos());
    let by = if juice.shake < 0.05 { Vec2::ZERO } else { by };
    let at = by.extend(camera.translation.z);
    if camera.translation != at {
        camera.translation = at;
    }
}

/// A star, with the phase of its twinkling.
#[derive(Component)]
struct Star(f32);

/// Bands of night sky behind stars.
fn spawn_sky(mut commands: Commands) {
    const BANDS: i16 = 18;
    for band in 0..BANDS {
        let share = f32::from(band) / f32::from(BANDS - 1);
        let color = Color::srgb(
            0.04 + 0.12 * share * share,
            0.03 + 0.04 * share,
            0.10 + 0.16 * share,
        );
        let height = FIELD.y / f32::from(BANDS);
        let y = FIELD.y / 2.0 - (f32::from(band) + 0.5) * height;
        commands.spawn((
            Sprite::from_color(color, Vec2::new(FIELD.x, height + 0.5)),
            Transform::from_xyz(0.0, y, -2.0),
        ));
    }
    let mut random = Random::new(11);
    for _ in 0..70 {
        let at = Vec2::new(random.within(-0.5, 0.5), random.within(-0.5, 0.43)) * FIELD;
        let size = random.within(0.7, 1.8);
        commands.spawn((
            Star(random.within(0.0, 6.3)),
            Sprite::from_color(Color::WHITE, Vec2::splat(size)),
            Transform::from_translation(at.extend(-1.0)),
        ));
    }
}

fn twinkle(juice: Res<Juice>, mut stars: Query<(&Star, &mut Sprite)>) {
    let time = juice.frame as f32 * STEP;
    for (&Star(phase), mut sprite) in &mut stars {
        let alpha = 0.35 + 0.3 * (time * 1.3 + phase).sin();
        sprite.color = Color::srgba(0.8, 0.85, 1.0, alpha);
    }
}

/// A point of the ball's trail, by its age in frames.
#[derive(Component)]
struct Trail(usize);

fn spawn_trail(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
) {
    for age in 0..TRAIL {
        let share = 1.0 - age as f32 / TRAIL as f32;
        let color = Color::srgba(1.0, 0.55, 0.2, 0.35 * share * share);
        commands.spawn((
            Trail(age),
            Mesh2d(meshes.add(Circle::new(BALL * (0.4 + 0.6 * share)))),
            MeshMaterial2d(materials.add(color)),
            Transform::from_xyz(0.0, -FIELD.y, 1.9),
        ));
    }
}

fn follow(
    game: Res<Game>,
    mut past: Local<Vec<Vec2>>,
    mut trail: Query<(&Trail, &mut Transform, &mut Visibility)>,
) {
    past.insert(0, game.rules.ball);
    past.truncate(TRAIL);
    let is_flying = game.rules.phase == Phase::Play;
    for (&Trail(age), mut transform, mut shown) in &mut trail {
        let at = past.get(age).filter(|_| is_flying);
        shown.set_if_neq(match at {
            Some(_) => Visibility::Inherited,
            None => Visibility::Hidden,
        });
        if let Some(at) = at {
            transform.translation = at.extend(1.9);
        }
    }
    if !is_flying {
        past.clear();
    }
}

/// A piece that flies off.
#[derive(Component)]
struct Shard {
    velocity: Vec2,
    seconds: f32,
}

/// Pieces fly off where a brick was hit, and where a capsule was caught.
fn shatter(mut commands: Commands, game: Res<Game>) {
    let rules = &game.rules;
    let hits = rules.hits.iter();
    let hits = hits.map(|hit| (hit.at, brick_color(hit.brick, 1), hit.brick as f32));
    let caught = rules.caught.map(|effect| {
        let at = Vec2::new(rules.paddle, PADDLE_Y + 6.0);
        (at, effect_color(effect), 0.0)
    });
    for (at, color, turn) in hits.chain(caught) {
        for piece in 0..14_u8 {
            let piece = f32::from(piece);
            let angle = (piece + turn * 0.37) * std::f32::consts::TAU / 14.0;
            commands.spawn((
                Shard {
                    velocity: Vec2::from_angle(angle) * (35.0 + 9.0 * (piece % 5.0)),
                    seconds: 0.6,
                },
                Sprite::from_color(color, Vec2::splat(2.0 + piece % 3.0)),
                Transform::from_translation(at.extend(1.5)),
            ));
        }
    }
}

fn fly(
    mut commands: Commands,
    mut shards: Query<(Entity, &mut Shard, &mut Sprite, &mut Transform)>,
) {
    for (entity, mut shard, mut sprite, mut transform) in &mut shards {
        shard.seconds -= STEP;
        shard.velocity.y -= 200.0 * STEP;
        transform.translation += Vec3::from((shard.velocity * STEP, 0.0));
        transform.rotate_z(6.0 * STEP);
        sprite
            .color
            .set_alpha((shard.seconds * 2.0).clamp(0.0, 1.0));
        if shard.seconds <= 0.0 {
            commands.entity(entity).despawn();
        }
    }
}
