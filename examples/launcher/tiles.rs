//! Tiles with moving pictures: nodes of `bevy_ui`.
//!
//! A picture is a sheet of 4 x 4 frames, an eighth of a second apart, which `cargo xtask thumbnails` draws. A tile shows
//! one of them through the `rect` of its `ImageNode`; the chosen one moves.

use bevy_app::{App, Plugin, Startup, Update};
use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_image::{CompressedImageFormats, ImageSampler, ImageType};
use bevy_math::{Rect, Vec2};
use bevy_ui::prelude::*;
use quadrille_2d::prelude::*;

use crate::choice::{COLUMNS, Choice};
use crate::programs::{PROGRAMS, Program, Running};
use crate::{Clock, operate};

/// Frames in a row of a sheet, and rows.
const FRAMES: u32 = 4;
/// Frames a second.
const RATE: f32 = 8.0;

const GOLD: Color = Color::srgb(1.0, 0.72, 0.3);
const DIM: Color = Color::srgb(0.6, 0.68, 0.8);

/// Tile, by the index of its program.
#[derive(Component, Clone, Copy)]
pub(crate) struct Tile(pub(crate) usize);

/// Moving picture of a tile.
#[derive(Component, Clone, Copy)]
struct Picture {
    tile: usize,
    /// Size of a frame in texels.
    frame: Vec2,
}

/// The message below the tiles.
#[derive(Component)]
struct Message;

/// Adds the tiles.
pub(crate) struct TilesPlugin;

impl Plugin for TilesPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn).add_systems(
            Update,
            (mark_choice, move_picture, write_message).after(operate),
        );
    }
}

/// Returns the font of a size, in parts of the window's height.
fn font(size: f32) -> TextFont {
    TextFont {
        font_size: FontSize::Vh(size),
        ..TextFont::default()
    }
}

/// Decodes a sheet. The files are part of the program, so that one that does not decode is a mistake of its build.
fn sheet(program: &Program) -> Result<Image> {
    Ok(Image::from_buffer(
        program.sheet,
        ImageType::Extension("png"),
        CompressedImageFormats::NONE,
        true,
        ImageSampler::linear(),
        // Uploaded again after the loss of a device.
        RenderAssetUsages::default(),
    )?)
}

fn spawn(mut commands: Commands, mut images: ResMut<Assets<Image>>) -> Result {
    commands.spawn(Camera2d);
    let column = Node {
        width: Val::Percent(100.0),
        height: Val::Percent(100.0),
        flex_direction: FlexDirection::Column,
        align_items: AlignItems::Center,
        justify_content: JustifyContent::Center,
        row_gap: Val::Vh(1.5),
        ..Node::default()
    };
    let page = commands.spawn(column).id();
    commands.spawn((
        Text::new("QUADRILLE"),
        font(8.0),
        TextColor(GOLD),
        ChildOf(page),
    ));
    for (number, row) in PROGRAMS.chunks(COLUMNS).enumerate() {
        let node = Node {
            column_gap: Val::Vh(2.5),
            ..Node::default()
        };
        let parent = commands.spawn((node, ChildOf(page))).id();
        for (column, program) in row.iter().enumerate() {
            let tile = Tile(number * COLUMNS + column);
            spawn_tile(
                &mut commands,
                parent,
                tile,
                (program, sheet(program)?),
                &mut images,
            );
        }
    }
    let help = "arrows, mouse or gamepad choose     ENTER  play     ESCAPE  end";
    for (text, size, color) in [("", 2.8, Color::srgb(1.0, 0.92, 0.75)), (help, 2.4, DIM)] {
        let mut line =
            commands.spawn((Text::new(text), font(size), TextColor(color), ChildOf(page)));
        if text.is_empty() {
            line.insert(Message);
        }
    }
    Ok(())
}

fn spawn_tile(
    commands: &mut Commands,
    parent: Entity,
    tile: Tile,
    (program, sheet): (&Program, Image),
    images: &mut Assets<Image>,
) {
    let frame = sheet.size_f32() / FRAMES as f32;
    let node = Node {
        flex_direction: FlexDirection::Column,
        align_items: AlignItems::Center,
        width: Val::Vh(53.0),
        padding: UiRect::all(Val::Vh(1.0)),
        border: UiRect::all(Val::Vh(0.4)),
        row_gap: Val::Vh(0.5),
        ..Node::default()
    };
    let tile_node = commands
        .spawn((tile, node, BorderColor::all(Color::NONE), ChildOf(parent)))
        .id();
    let picture = Picture {
        tile: tile.0,
        frame,
    };
    let size = Node {
        width: Val::Vh(46.0),
        height: Val::Vh(46.0 * 9.0 / 16.0),
        ..Node::default()
    };
    let image = ImageNode {
        rect: Some(frame_rect(frame, 0)),
        ..ImageNode::new(images.add(sheet))
    };
    commands.spawn((picture, size, image, ChildOf(tile_node)));
    let name = program.name.to_uppercase().replace('_', " ");
    for (text, size, color) in [(name.as_str(), 3.2, Color::WHITE), (program.text, 2.2, DIM)] {
        commands.spawn((
            Text::new(text),
            font(size),
            TextColor(color),
            ChildOf(tile_node),
        ));
    }
}

/// Returns the place of a frame in its sheet, in texels.
fn frame_rect(frame: Vec2, number: u32) -> Rect {
    let number = number % (FRAMES * FRAMES);
    let corner = frame * Vec2::new((number % FRAMES) as f32, (number / FRAMES) as f32);
    Rect::from_corners(corner, corner + frame)
}

fn mark_choice(choice: Res<Choice>, mut tiles: Query<(&Tile, &mut BorderColor)>) {
    if !choice.is_changed() {
        return;
    }
    for (tile, mut border) in &mut tiles {
        border.set_if_neq(BorderColor::all(match tile.0 == choice.0 {
            true => GOLD,
            false => Color::srgba(0.3, 0.36, 0.5, 0.5),
        }));
    }
}

/// Moves the chosen picture; the others rest.
fn move_picture(
    choice: Res<Choice>,
    clock: Res<Clock>,
    mut pictures: Query<(&Picture, &mut ImageNode)>,
) {
    for (picture, mut image) in &mut pictures {
        if picture.tile != choice.0 {
            continue;
        }
        let rect = Some(frame_rect(picture.frame, (clock.0 * RATE) as u32));
        if image.rect != rect {
            image.rect = rect;
        }
    }
}

fn write_message(running: Res<Running>, mut text: Single<&mut Text, With<Message>>) {
    if text.0 != running.message {
        text.0.clone_from(&running.message);
    }
}
