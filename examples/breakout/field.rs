//! Entities of everything on the field, which follow the game.

use bevy_app::{App, Plugin, Startup, Update};
use bevy_ecs::prelude::*;
use bevy_math::{Vec2, Vec3};
use examples::breakout::{
    BALL, BRICK, BRICKS, Breakout, CAPSULE, Effect, FIELD, PADDLE, PADDLE_Y, Phase,
};
use quadrille_2d::prelude::*;

use crate::juice::Juice;
use crate::{Game, Play};

/// Adds the field.
pub(crate) struct FieldPlugin;

impl Plugin for FieldPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, (spawn_field, spawn_bricks, spawn_balls))
            .add_systems(Update, (place, place_bricks, place_capsules).after(Play));
    }
}

#[derive(Component)]
struct Paddle;
#[derive(Component)]
struct Ball;
#[derive(Component)]
struct Brick(usize);
/// A falling capsule, by its place in the list of the game.
#[derive(Component)]
struct Falling(usize);
/// A ball in reserve.
#[derive(Component)]
struct Reserve(u32);

type IsPaddle = (With<Paddle>, Without<Ball>);
type IsBall = (With<Ball>, Without<Reserve>);

/// Capsules that are shown at most.
const CAPSULES: usize = 12;
/// Balls in reserve that are shown at most.
const RESERVE: u32 = 6;

fn spawn_field(mut commands: Commands) {
    let projection = OrthographicProjection {
        // The whole field is visible in a window of any shape.
        scaling_mode: ScalingMode::AutoMin {
            min_width: FIELD.x,
            min_height: FIELD.y,
        },
        ..OrthographicProjection::default_2d()
    };
    commands.spawn((Camera2d, Projection::Orthographic(projection)));
    let wall = Color::srgb(0.32, 0.36, 0.55);
    let bar = |size: Vec2, at: Vec2| {
        (
            Sprite::from_color(wall, size),
            Transform::from_translation(at.extend(0.1)),
        )
    };
    commands.spawn(bar(
        Vec2::new(FIELD.x, 2.0),
        Vec2::new(0.0, FIELD.y / 2.0 - 19.0),
    ));
    commands.spawn(bar(Vec2::new(2.0, FIELD.y), Vec2::new(-FIELD.x / 2.0, 0.0)));
    commands.spawn(bar(Vec2::new(2.0, FIELD.y), Vec2::new(FIELD.x / 2.0, 0.0)));
    let paddle = Sprite::from_color(Color::WHITE, PADDLE);
    commands.spawn((Paddle, paddle, Transform::default()));
    for index in 0..CAPSULES {
        let sprite = Sprite::from_color(Color::WHITE, CAPSULE);
        commands.spawn((
            Falling(index),
            sprite,
            Transform::default(),
            Visibility::Hidden,
        ));
    }
}

/// Bricks with a light upper and a dark lower edge.
fn spawn_bricks(mut commands: Commands) {
    for index in 0..BRICKS[0] * BRICKS[1] {
        let edge = |alpha: f32, white: f32, y: f32| {
            let color = Color::srgba(white, white, white, alpha);
            (
                Sprite::from_color(color, Vec2::new(BRICK.x, 2.0)),
                Transform::from_xyz(0.0, y, 0.1),
            )
        };
        commands.spawn((
            Brick(index),
            Sprite::from_color(Color::WHITE, BRICK),
            Transform::from_translation(Breakout::brick_at(index).extend(1.0)),
            children![
                edge(0.35, 1.0, BRICK.y / 2.0 - 1.0),
                edge(0.35, 0.0, 1.0 - BRICK.y / 2.0),
            ],
        ));
    }
}

fn spawn_balls(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
) {
    let gold = materials.add(Color::srgb(1.0, 0.9, 0.5));
    let ball = meshes.add(Circle::new(BALL));
    commands.spawn((
        Ball,
        Mesh2d(ball),
        MeshMaterial2d(gold.clone()),
        Transform::default(),
    ));
    let small = meshes.add(Circle::new(3.0));
    for index in 0..RESERVE {
        let at = Vec3::new(
            -FIELD.x / 2.0 + 9.0 + 9.0 * index as f32,
            -FIELD.y / 2.0 + 8.0,
            1.0,
        );
        commands.spawn((
            Reserve(index),
            Mesh2d(small.clone()),
            MeshMaterial2d(gold.clone()),
            Transform::from_translation(at),
        ));
    }
}

fn place(
    (game, juice): (Res<Game>, Res<Juice>),
    paddle: Single<(&mut Transform, &mut Sprite), IsPaddle>,
    mut ball: Single<(&mut Transform, &mut Visibility), IsBall>,
    mut reserve: Query<(&Reserve, &mut Visibility)>,
) {
    let rules = &game.rules;
    let (mut transform, mut sprite) = paddle.into_inner();
    transform.translation = Vec3::new(rules.paddle, PADDLE_Y, 1.0);
    let size = Vec2::new(rules.effects.paddle_width(), PADDLE.y);
    let (calm, flashing) = (
        LinearRgba::rgb(0.55, 0.62, 0.85),
        LinearRgba::rgb(1.0, 0.9, 0.5),
    );
    sprite.custom_size = Some(size);
    sprite.color = Mix::mix(&calm, &flashing, juice.flash()).into();
    ball.0.translation = rules.ball.extend(2.0);
    let is_shown = !matches!(rules.phase, Phase::Title) && !rules.has_ended();
    ball.1.set_if_neq(visibility(is_shown));
    for (&Reserve(index), mut shown) in &mut reserve {
        // The ball in play is one of the lives.
        shown.set_if_neq(visibility(index + 1 < rules.lives));
    }
}

fn visibility(is_shown: bool) -> Visibility {
    match is_shown {
        true => Visibility::Inherited,
        false => Visibility::Hidden,
    }
}

fn place_bricks(game: Res<Game>, mut bricks: Query<(&Brick, &mut Sprite, &mut Visibility)>) {
    for (&Brick(index), mut sprite, mut shown) in &mut bricks {
        let hits = game.rules.bricks[index];
        let color = brick_color(index, hits);
        if sprite.color != color {
            sprite.color = color;
        }
        shown.set_if_neq(visibility(hits > 0));
    }
}

/// Color of a brick: a hue for each row, darker the more hits it stands.
pub(crate) fn brick_color(index: usize, hits: u8) -> Color {
    let row = (index / BRICKS[0]) as f32;
    let column = (index % BRICKS[0]) as f32;
    let lightness = match hits {
        0 | 1 => 0.60,
        2 => 0.42,
        _ => 0.28,
    };
    Color::hsl((330.0 + row * 34.0 + column * 2.0) % 360.0, 0.75, lightness)
}

fn place_capsules(
    game: Res<Game>,
    mut capsules: Query<(&Falling, &mut Sprite, &mut Transform, &mut Visibility)>,
) {
    for (&Falling(index), mut sprite, mut transform, mut shown) in &mut capsules {
        let capsule = game.rules.capsules.get(index);
        shown.set_if_neq(visibility(capsule.is_some()));
        if let Some(capsule) = capsule {
            transform.translation = capsule.at.extend(1.6);
            sprite.color = effect_color(capsule.effect);
        }
    }
}

/// Color of a capsule, and of the words about it.
pub(crate) fn effect_color(effect: Effect) -> Color {
    match effect {
        Effect::Wide => Color::srgb(0.35, 0.75, 1.0),
        Effect::Slow => Color::srgb(0.45, 0.95, 0.55),
        Effect::Life => Color::srgb(1.0, 0.45, 0.55),
    }
}
