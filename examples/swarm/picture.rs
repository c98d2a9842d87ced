//! Picture of `swarm` over the enemies: ship, shots, boss, particles, shake and text.

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleConfigs;
use bevy_ecs::system::ScheduleSystem;
use bevy_math::{Quat, Vec2, Vec3};
use examples::random::Random;
use examples::run::Run;
use examples::swarm::{Boss, FIELD, HEALTH, MOST_SHOTS, Phase, STEP};
use quadrille_2d::prelude::*;

use super::Game;
use super::device::SCENE;
use super::text;

#[derive(Component)]
pub(super) struct Player;
#[derive(Component)]
pub(super) struct ShotSprite(usize);
type IsPlayer = (With<Player>, Without<ShotSprite>);
#[derive(Component)]
pub(super) struct BossPicture;
/// Red light over the whole field when a ship is hit.
#[derive(Component)]
pub(super) struct Alarm;
/// Bar that shows a fraction of its length.
#[derive(Component, Clone, Copy)]
pub(super) enum Bar {
    Health,
    Wave,
}
#[derive(Component)]
pub(super) struct Spark {
    velocity: Vec2,
    seconds: f32,
    lasts: f32,
}

/// Effects that fade: strength of the shake, and of the alarm, from 1 to 0.
#[derive(Resource)]
pub(super) struct Effects {
    /// The frame with which the game began.
    began: u64,
    shake: f32,
    alarm: f32,
    time: f32,
    health: u32,
    lives: u32,
    phase: Phase,
    random: Random,
}

impl Effects {
    /// Effects of a game that begins with this frame.
    fn new(began: u64) -> Self {
        Self {
            began,
            shake: 0.0,
            alarm: 0.0,
            time: 0.0,
            health: HEALTH,
            lives: 3,
            phase: Phase::Play,
            random: Random::new(3),
        }
    }

    /// Returns the position of the camera, which shakes.
    pub(super) fn offset(&self) -> Vec2 {
        let strength = self.shake * self.shake * 16.0;
        Vec2::new((self.time * 61.0).sin(), (self.time * 47.0 + 1.0).sin()) * strength
    }
}

/// Length of the bars.
const BAR: f32 = 240.0;

/// Systems that let the picture follow the game.
pub(super) fn systems() -> ScheduleConfigs<ScheduleSystem> {
    (react, fly, place, place_boss, place_bars, text::write).chain()
}

pub(super) fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
) {
    commands.insert_resource(Effects::new(0));
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
    // Colors above 1 glow.
    let bright = MeshMaterial2d(materials.add(Color::linear_rgb(0.9, 1.8, 2.2)));
    commands.spawn((Player, ship, bright, Transform::default()));
    for index in 0..MOST_SHOTS {
        let gold = Color::linear_rgb(4.0, 2.6, 0.7);
        let sprite = Sprite::from_color(gold, Vec2::new(14.0, 3.0));
        commands.spawn((ShotSprite(index), sprite, Transform::default()));
    }
    for (radius, color, depth) in [
        (Boss::RADIUS, Color::linear_rgb(2.2, 0.25, 0.6), 1.6),
        (
            Boss::RADIUS * 0.72,
            Color::linear_rgb(0.05, 0.01, 0.04),
            1.7,
        ),
        (Boss::RADIUS * 0.34, Color::linear_rgb(3.5, 1.2, 0.3), 1.8),
    ] {
        commands.spawn((
            BossPicture,
            Mesh2d(meshes.add(RegularPolygon::new(radius, 6))),
            MeshMaterial2d(materials.add(color)),
            Transform::from_xyz(0.0, 0.0, depth),
            Visibility::Hidden,
        ));
    }
    let size = Vec2::new(FIELD[0] as f32, FIELD[1] as f32);
    let alarm = Sprite::from_color(Color::NONE, size * 1.1);
    commands.spawn((Alarm, alarm, Transform::from_xyz(0.0, 0.0, 2.2)));
    spawn_bars(&mut commands, size / 2.0);
    text::spawn(&mut commands);
}

fn spawn_bars(commands: &mut Commands, half: Vec2) {
    let dark = Color::linear_rgba(0.0, 0.0, 0.01, 0.8);
    let strip = Sprite::from_color(dark, Vec2::new(2.0 * half.x, 62.0));
    commands.spawn((strip, Transform::from_xyz(0.0, half.y - 31.0, 2.8)));
    for (bar, left, color) in [
        (
            Bar::Health,
            16.0 - half.x,
            Color::linear_rgb(0.15, 0.9, 0.45),
        ),
        (
            Bar::Wave,
            half.x - 16.0 - BAR,
            Color::linear_rgb(0.95, 0.35, 0.7),
        ),
    ] {
        let at = Vec3::new(left, half.y - 48.0, 3.0);
        let under = Sprite::from_color(Color::linear_rgb(0.03, 0.04, 0.07), Vec2::new(BAR, 10.0));
        commands.spawn((under, Anchor::CENTER_LEFT, Transform::from_translation(at)));
        let fill = Sprite::from_color(color, Vec2::new(BAR, 10.0));
        let at = at + Vec3::Z * 0.1;
        commands.spawn((
            bar,
            fill,
            Anchor::CENTER_LEFT,
            Transform::from_translation(at),
        ));
    }
}

/// Turns changes of the game into particles, alarm and shake.
fn react(
    mut commands: Commands,
    game: Res<Game>,
    mut effects: ResMut<Effects>,
    sparks: Query<Entity, With<Spark>>,
) {
    if effects.began != game.began {
        *effects = Effects::new(game.began);
        sparks
            .iter()
            .for_each(|spark| commands.entity(spark).despawn());
    }
    let (rules, effects) = (&game.rules, &mut *effects);
    if game.moves {
        effects.time += STEP;
        effects.shake = (effects.shake - 1.6 * STEP).max(0.0);
        effects.alarm = (effects.alarm - 2.5 * STEP).max(0.0);
        // The exhaust.
        let back = -Vec2::from_angle(rules.heading);
        if rules.phase == Phase::Play {
            let blue = Color::linear_rgb(0.3, 0.9, 2.4);
            burst(
                &mut commands,
                &mut effects.random,
                rules.player + back * 12.0,
                1,
                40.0,
                blue,
            );
        }
        if let Some(boss) = rules.boss.filter(|boss| boss.was_hit > 0) {
            let pink = Color::linear_rgb(3.0, 0.5, 1.0);
            burst(&mut commands, &mut effects.random, boss.at, 6, 320.0, pink);
            effects.shake = effects.shake.max(0.25);
        }
    }
    if rules.health() < effects.health && rules.lives == effects.lives {
        effects.alarm = (effects.alarm + 0.25).min(0.6);
        effects.shake = (effects.shake + 0.1).min(0.6);
        let red = Color::linear_rgb(3.0, 0.6, 0.3);
        burst(
            &mut commands,
            &mut effects.random,
            rules.player,
            8,
            160.0,
            red,
        );
    }
    if rules.lives < effects.lives {
        (effects.alarm, effects.shake) = (1.0, 1.0);
        let blue = Color::linear_rgb(1.5, 2.5, 4.0);
        burst(
            &mut commands,
            &mut effects.random,
            rules.player,
            90,
            420.0,
            blue,
        );
    }
    if rules.phase == Phase::Won && effects.phase == Phase::Play {
        let at = rules.boss.map_or(Vec2::ZERO, |boss| boss.at);
        let gold = Color::linear_rgb(4.0, 2.2, 0.6);
        burst(&mut commands, &mut effects.random, at, 200, 560.0, gold);
    }
    (effects.health, effects.lives, effects.phase) = (rules.health(), rules.lives, rules.phase);
}

fn burst(
    commands: &mut Commands,
    random: &mut Random,
    at: Vec2,
    count: u32,
    speed: f32,
    color: Color,
) {
    for _ in 0..count {
        let angle = random.within(0.0, std::f32::consts::TAU);
        let lasts = random.within(0.25, 0.9);
        let spark = Spark {
            velocity: Vec2::from_angle(angle) * random.within(0.1, 1.0) * speed,
            seconds: lasts,
            lasts,
        };
        let sprite = Sprite::from_color(color, Vec2::splat(random.within(2.0, 5.0)));
        commands.spawn((spark, sprite, Transform::from_translation(at.extend(1.4))));
    }
}

/// Moves particles; a pause stops them.
fn fly(
    mut commands: Commands,
    game: Res<Game>,
    run: Res<Run>,
    mut sparks: Query<(Entity, &mut Spark, &mut Sprite, &mut Transform)>,
) {
    let is_end = matches!(game.rules.phase, Phase::Over | Phase::Won);
    if run.is_over() || !(game.moves || is_end) {
        return;
    }
    for (entity, mut spark, mut sprite, mut transform) in &mut sparks {
        spark.seconds -= STEP;
        transform.translation += (spark.velocity * STEP).extend(0.0);
        sprite
            .color
            .set_alpha((spark.seconds / spark.lasts).clamp(0.0, 1.0));
        if spark.seconds <= 0.0 {
            commands.entity(entity).despawn();
        }
    }
}

fn visible(is_visible: bool) -> Visibility {
    match is_visible {
        true => Visibility::Inherited,
        false => Visibility::Hidden,
    }
}

/// Lets ship and shots follow the game.
fn place(
    game: Res<Game>,
    effects: Res<Effects>,
    player: Single<(&mut Transform, &mut Visibility), IsPlayer>,
    mut sprites: Query<(&ShotSprite, &mut Transform, &mut Visibility), Without<Player>>,
    mut alarm: Single<&mut Sprite, With<Alarm>>,
) {
    let rules = &game.rules;
    let (mut transform, mut visibility) = player.into_inner();
    transform.translation = (rules.player - effects.offset()).extend(2.0);
    transform.rotation = Quat::from_rotation_z(rules.heading);
    let is_lit = !rules.is_safe() || (rules.frame / 8).is_multiple_of(2);
    let has_ship = !matches!(rules.phase, Phase::Title | Phase::Over);
    visibility.set_if_neq(visible(is_lit && has_ship));
    alarm.color = Color::linear_rgba(0.8, 0.02, 0.05, effects.alarm * 0.35);
    for (&ShotSprite(index), mut transform, mut visibility) in &mut sprites {
        let shot = rules.shots.get(index);
        visibility.set_if_neq(visible(shot.is_some()));
        if let Some(shot) = shot {
            transform.translation = (shot.position - effects.offset()).extend(1.0);
            transform.rotation = Quat::from_rotation_z(shot.velocity.to_angle());
        }
    }
}

fn place_boss(
    game: Res<Game>,
    effects: Res<Effects>,
    mut parts: Query<(&mut Transform, &mut Visibility), With<BossPicture>>,
) {
    let rules = &game.rules;
    let boss = rules.boss.filter(|boss| boss.hits > 0);
    for (mut transform, mut visibility) in &mut parts {
        visibility.set_if_neq(visible(boss.is_some()));
        if let Some(boss) = boss {
            let depth = transform.translation.z;
            transform.translation = (boss.at - effects.offset()).extend(depth);
            // The rings turn against each other.
            let turn = rules.frame as f32 * if depth < 1.65 { 0.02 } else { -0.03 };
            transform.rotation = Quat::from_rotation_z(turn);
            let swell = if boss.was_hit > 0 { 1.08 } else { 1.0 };
            transform.scale = Vec3::new(swell, swell, 1.0);
        }
    }
}

fn place_bars(game: Res<Game>, mut bars: Query<(&Bar, &mut Transform)>) {
    for (bar, mut transform) in &mut bars {
        let length = match bar {
            Bar::Health => game.rules.health() as f32 / HEALTH as f32,
            Bar::Wave => game.rules.progress(),
        };
        transform.scale.x = length.max(0.001);
    }
}
