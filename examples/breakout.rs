//! Breakout with bevy's own components: sprites, text, a camera; drawn by Quadrille.
//!
//! The rules are in `src/breakout.rs`. Here they get a picture: an entity for everything on the
//! field, and systems that let the entities follow the game.

use std::path::PathBuf;

use bevy_app::{App, AppExit, Startup, Update};
use bevy_ecs::prelude::*;
use bevy_input::ButtonInput;
use bevy_input::keyboard::KeyCode;
use bevy_input::mouse::MouseButton;
use bevy_math::{Vec2, Vec3};
use bevy_time::{Real, Time};
use clap::Parser;
use examples::breakout::{
    BALL, BRICK, BRICKS, Breakout, FIELD, PADDLE, PADDLE_Y, Phase, STEP, Wish,
};
use examples::run::Run;
use examples::script::{InputScript, Pointer, Script};
use examples::{CommonArgs, args};
use quadrille_2d::prelude::*;

/// Keep the ball in the air and break the bricks.
///
/// Arrow keys, A and D or the mouse move the paddle; space or a click serves; P or escape pauses;
/// R begins again.
#[derive(Parser, Clone)]
#[command(after_help = EXAMPLES)]
struct Args {
    /// Decides how balls are served
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Play input from a file: lines such as `10 press left`, `45 tap space`, `60 pointer 0.5 0.9`
    #[arg(long, value_name = "FILE", conflicts_with = "autoplay")]
    script: Option<PathBuf>,
    /// Let the program play
    #[arg(long)]
    autoplay: bool,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  breakout --seed 7                                            play
  breakout --autoplay                                          watch
  breakout --headless --autoplay --frames 900 --screenshot breakout.png
  breakout --headless --script assets/scripts/breakout.txt --frames 600 --report report.json";

const WINDOW: [u32; 2] = [960, 540];

/// The game that is played.
#[derive(Resource)]
struct Game {
    rules: Breakout,
    autoplay: bool,
    /// Real time that is not yet a step; without a window each frame is one.
    left_over: Option<f32>,
}

#[derive(Component)]
struct Paddle;
#[derive(Component)]
struct Ball;
#[derive(Component)]
struct Brick(usize);
#[derive(Component)]
struct Score;
#[derive(Component)]
struct Message;
/// A piece of a brick that flies off.
#[derive(Component)]
struct Shard {
    velocity: Vec2,
    seconds: f32,
}

fn main() -> AppExit {
    let args: Args = args::parse();
    let script = args.script.as_deref().map(Script::load).transpose();
    let script = script.unwrap_or_else(|error| args::exit_with(error));
    let plugins = args.common.plugins("Breakout", WINDOW);
    let every_frame = args.common.is_headless() || script.is_some();
    App::new()
        .insert_resource(Game {
            rules: Breakout::new(args.seed),
            autoplay: args.autoplay,
            left_over: (!every_frame).then_some(0.0),
        })
        .insert_resource(ClearColor(Color::srgb(0.05, 0.06, 0.10)))
        .add_plugins((plugins, Quadrille2dPlugin::default()))
        .add_plugins((args.common, InputScript(script)))
        .add_systems(Startup, setup)
        .add_systems(Update, (play, (place, shatter, fly, write)).chain())
        .run()
}

fn setup(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
) {
    let projection = OrthographicProjection {
        // The whole field is visible in a window of any shape.
        scaling_mode: ScalingMode::AutoMin {
            min_width: FIELD.x,
            min_height: FIELD.y,
        },
        ..OrthographicProjection::default_2d()
    };
    commands.spawn((Camera2d, Projection::Orthographic(projection)));
    let wall = Color::srgb(0.25, 0.28, 0.38);
    let bar = |width, height, x, y| {
        (
            Sprite::from_color(wall, Vec2::new(width, height)),
            Transform::from_xyz(x, y, 0.0),
        )
    };
    commands.spawn(bar(FIELD.x, 2.0, 0.0, FIELD.y / 2.0 - 19.0));
    commands.spawn(bar(2.0, FIELD.y, -FIELD.x / 2.0, 0.0));
    commands.spawn(bar(2.0, FIELD.y, FIELD.x / 2.0, 0.0));
    let paddle = Sprite::from_color(Color::srgb(0.85, 0.88, 0.95), PADDLE);
    commands.spawn((Paddle, paddle, Transform::default()));
    let ball = Mesh2d(meshes.add(Circle::new(BALL)));
    let gold = MeshMaterial2d(materials.add(Color::srgb(1.0, 0.85, 0.3)));
    commands.spawn((Ball, ball, gold, Transform::default()));
    for index in 0..BRICKS[0] * BRICKS[1] {
        let middle = Breakout::brick_at(index);
        let sprite = Sprite::from_color(Color::WHITE, BRICK);
        commands.spawn((
            Brick(index),
            sprite,
            Transform::from_translation(middle.extend(1.0)),
        ));
    }
    // Letters are drawn at twice their size in the field, so that they are sharp in a window of
    // twice the field's size.
    let text = |size: f32, at: Vec2| {
        let font = TextFont {
            font_size: FontSize::Px(2.0 * size),
            ..TextFont::default()
        };
        let place = Transform::from_translation(at.extend(3.0));
        (Text2d::default(), font, place.with_scale(Vec3::splat(0.5)))
    };
    let corner = Vec2::new(-FIELD.x / 2.0 + 6.0, FIELD.y / 2.0 - 1.0);
    commands.spawn((Score, text(13.0, corner), Anchor::TOP_LEFT));
    let centered = TextLayout::justify(Justify::Center);
    commands.spawn((Message, text(20.0, Vec2::new(0.0, -40.0)), centered));
}

/// Returns the player's input from mouse and keyboard.
fn wish(
    keys: &ButtonInput<KeyCode>,
    buttons: &ButtonInput<MouseButton>,
    pointer: &Pointer,
    moved: bool,
) -> Wish {
    let pressed = |codes: [KeyCode; 2]| f32::from(u8::from(keys.any_pressed(codes)));
    let direction = pressed([KeyCode::ArrowRight, KeyCode::KeyD])
        - pressed([KeyCode::ArrowLeft, KeyCode::KeyA]);
    // The pointer leads as long as it moves; keys take over when it rests.
    let paddle_to = pointer.0.filter(|_| moved && direction == 0.0);
    Wish {
        direction,
        paddle_to: paddle_to.map(|[x, _]| (x - 0.5) * FIELD.x),
        serve: keys.any_just_pressed([KeyCode::Space, KeyCode::Enter])
            || buttons.just_pressed(MouseButton::Left),
        pause: keys.any_just_pressed([KeyCode::KeyP, KeyCode::Escape]),
        restart: keys.just_pressed(KeyCode::KeyR),
    }
}

fn play(
    keys: Res<ButtonInput<KeyCode>>,
    buttons: Res<ButtonInput<MouseButton>>,
    pointer: Res<Pointer>,
    time: Res<Time<Real>>,
    mut game: ResMut<Game>,
    mut run: ResMut<Run>,
    (mut last_pointer, mut step): (Local<Option<[f32; 2]>>, Local<u64>),
) {
    if run.is_over() {
        return;
    }
    let moved = *last_pointer != pointer.0;
    *last_pointer = pointer.0;
    let mut wish = wish(&keys, &buttons, &pointer, moved);
    let autoplay = game.autoplay;
    let Game {
        rules, left_over, ..
    } = &mut *game;
    let steps = left_over.as_mut().map_or(1, |left_over| {
        // After a long stall the game does not try to catch up.
        *left_over = (*left_over + time.delta_secs()).min(4.0 * STEP);
        let steps = (*left_over / STEP).floor();
        *left_over -= steps * STEP;
        steps as u32
    });
    for _ in 0..steps {
        if autoplay {
            wish = Wish {
                pause: wish.pause,
                restart: wish.restart,
                ..rules.never_miss(*step)
            };
        }
        rules.step(wish);
        *step += 1;
        // A key that was pressed counts once.
        (wish.serve, wish.pause, wish.restart) = (false, false, false);
    }
    let rules = &game.rules;
    run.report.insert("score".to_owned(), rules.score.into());
    run.report.insert("lives".to_owned(), rules.lives.into());
    let bricks = rules.bricks.iter().filter(|&&hits| hits > 0).count();
    run.report.insert("bricks".to_owned(), bricks.into());
}

/// Lets the entities follow the game.
fn place(
    game: Res<Game>,
    mut paddle: Single<&mut Transform, (With<Paddle>, Without<Ball>)>,
    mut ball: Single<&mut Transform, (With<Ball>, Without<Paddle>)>,
    mut bricks: Query<(&Brick, &mut Sprite, &mut Visibility)>,
) {
    let rules = &game.rules;
    paddle.translation = Vec3::new(rules.paddle, PADDLE_Y, 1.0);
    ball.translation = rules.ball.extend(2.0);
    for (&Brick(index), mut sprite, mut visibility) in &mut bricks {
        let hits = rules.bricks[index];
        let color = brick_color(index, hits);
        if sprite.color != color {
            sprite.color = color;
        }
        visibility.set_if_neq(match hits {
            0 => Visibility::Hidden,
            _ => Visibility::Inherited,
        });
    }
}

fn brick_color(index: usize, hits: u8) -> Color {
    let row = (index / BRICKS[0]) as f32;
    let column = (index % BRICKS[0]) as f32;
    let lightness = if hits > 1 { 0.42 } else { 0.62 };
    Color::hsl(200.0 + row * 25.0 + column * 4.0, 0.65, lightness)
}

/// Pieces fly off where a brick was hit.
fn shatter(mut commands: Commands, game: Res<Game>) {
    for hit in &game.rules.hits {
        let color = brick_color(hit.brick, 1);
        for piece in 0..8 {
            let angle = (piece as f32 + hit.brick as f32 * 0.37) * std::f32::consts::TAU / 8.0;
            commands.spawn((
                Shard {
                    velocity: Vec2::from_angle(angle) * (40.0 + 6.0 * piece as f32),
                    seconds: 0.5,
                },
                Sprite::from_color(color, Vec2::splat(4.0)),
                Transform::from_translation(hit.at.extend(1.5)),
            ));
        }
    }
}

fn fly(
    mut commands: Commands,
    game: Res<Game>,
    run: Res<Run>,
    mut shards: Query<(Entity, &mut Shard, &mut Sprite, &mut Transform)>,
) {
    if matches!(game.rules.phase, Phase::Paused(_)) || run.is_over() {
        return;
    }
    for (entity, mut shard, mut sprite, mut transform) in &mut shards {
        shard.seconds -= STEP;
        shard.velocity.y -= 200.0 * STEP;
        transform.translation += (shard.velocity * STEP).extend(0.0);
        sprite
            .color
            .set_alpha((shard.seconds * 2.0).clamp(0.0, 1.0));
        if shard.seconds <= 0.0 {
            commands.entity(entity).despawn();
        }
    }
}

fn write(
    game: Res<Game>,
    mut score: Single<&mut Text2d, (With<Score>, Without<Message>)>,
    mut message: Single<&mut Text2d, (With<Message>, Without<Score>)>,
) {
    let rules = &game.rules;
    let line = format!(
        "score {}   balls {}   walls {}",
        rules.score, rules.lives, rules.walls
    );
    let shown = match rules.phase {
        Phase::Play => "",
        Phase::Serve => "space serves",
        Phase::Paused(_) => "paused",
        Phase::Over => "game over\nR begins again",
    };
    // Text that is not changed is not laid out again.
    if score.0 != line {
        score.0 = line;
    }
    if message.0 != shown {
        message.0 = shown.to_owned();
    }
}
