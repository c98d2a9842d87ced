//! Pictures of tilemaps.

use crate::common::{Rig, golden};
use bevy_asset::RenderAssetUsages;
use bevy_camera::RenderTarget;
use bevy_ecs::prelude::*;
use bevy_image::ImageSampler;
use bevy_math::{Quat, UVec2, Vec2};
use quadrille_2d::prelude::*;
use quadrille_2d::{Phase2d, TileOrientation};
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

const CLEAR: [u8; 4] = [51, 51, 51, 255];

/// Three asymmetric tiles of 4 x 4 texels in different colors, as layers.
fn tileset() -> Image {
    let colors = [[200, 40, 40, 255], [40, 200, 40, 255], [40, 40, 200, 128]];
    let texel = |color: [u8; 4], at: usize| match (at % 4, at / 4) {
        (0, 0) => [255, 255, 255, 255],
        (1, 0) => [0, 0, 0, 255],
        (3, 3) => [0; 4],
        _ => color,
    };
    let layers = colors.iter();
    let texels = layers.flat_map(|&color| (0..16).flat_map(move |at| texel(color, at)));
    let size = Extent3d {
        width: 4,
        height: 4,
        depth_or_array_layers: 3,
    };
    let mut image = Image::new(
        size,
        TextureDimension::D2,
        texels.collect(),
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::default(),
    );
    image.sampler = ImageSampler::nearest();
    image
}

fn tile(index: u16) -> Option<TileData> {
    Some(TileData::from_tileset_index(index))
}

/// A chunk of 4 x 2 tiles, a chunk with the same tiles rotated or mirrored over others, and one that blends: 120 x 80
/// pixels.
fn setup(mut commands: Commands, mut images: ResMut<Assets<Image>>) {
    commands.insert_resource(ClearColor(Color::srgb_u8(CLEAR[0], CLEAR[1], CLEAR[2])));
    commands.spawn(Camera2d);
    let tileset = images.add(tileset());
    let chunk = |x, y, alpha_mode| TilemapChunk {
        chunk_size: UVec2::new(x, y),
        tile_display_size: UVec2::splat(12),
        tileset: tileset.clone(),
        alpha_mode,
    };
    use TileOrientation as O;
    let all = [
        O::Default,
        O::Rotate90,
        O::Rotate180,
        O::Rotate270,
        O::MirrorH,
        O::MirrorHRotate90,
        O::MirrorHRotate180,
        O::MirrorHRotate270,
    ];
    let turned = |orientation| TileData {
        orientation,
        ..TileData::from_tileset_index(0)
    };
    let tiles = all.map(|orientation| Some(turned(orientation)));
    commands.spawn((
        chunk(4, 2, AlphaMode2d::Opaque),
        TilemapChunkTileData(tiles.to_vec()),
        Transform::from_xyz(-30.0, 20.0, 0.0),
    ));
    let hidden = TileData {
        visible: false,
        ..TileData::default()
    };
    let tinted = TileData {
        color: Color::srgb_u8(128, 255, 128),
        ..TileData::default()
    };
    let tiles = vec![tile(0), tile(1), tile(2), None, Some(hidden), Some(tinted)];
    commands.spawn((
        chunk(3, 2, AlphaMode2d::Opaque),
        TilemapChunkTileData(tiles.clone()),
        Transform::from_xyz(30.0, 20.0, 0.0),
    ));
    commands.spawn((
        chunk(3, 2, AlphaMode2d::Blend),
        TilemapChunkTileData(tiles),
        Transform::from_xyz(0.0, -20.0, 1.0)
            .with_rotation(Quat::from_rotation_z(0.4))
            .with_scale(bevy_math::Vec3::new(2.0, 1.0, 1.0)),
    ));
    let square = Sprite::from_color(Color::WHITE, Vec2::splat(14.0));
    commands.spawn((square, Transform::from_xyz(10.0, -25.0, 0.5)));
}

#[test]
#[ignore = "needs a device"]
fn tilemaps_match_golden() {
    let mut rig = Rig::scene(120, 80, setup);
    rig.update(2);
    let picture = rig.picture();
    // Bottom left tile of the first chunk, unchanged: white at its top left, nothing at its bottom right.
    assert_eq!(picture.at(7, 21), [255; 4]);
    assert_eq!(picture.at(16, 31), CLEAR);
    // A rotation by 90 degrees counter-clockwise moves the top left to the bottom left.
    assert_eq!(picture.at(19, 30), [255; 4]);
    // A missing tile, and an invisible one.
    assert_eq!(picture.at(78, 14), CLEAR);
    assert_eq!(picture.at(90, 14), CLEAR);
    golden::expect("tilemaps", &picture);
}

#[test]
#[ignore = "needs a device"]
fn chunks_of_one_tileset_batch_and_track_tile_changes() {
    let mut rig = Rig::scene(
        64,
        32,
        |mut commands: Commands, mut images: ResMut<Assets<Image>>| {
            commands.spawn(Camera2d);
            let tileset = images.add(tileset());
            for x in [-16.0, 16.0, 900.0] {
                let chunk = TilemapChunk {
                    chunk_size: UVec2::splat(32),
                    tile_display_size: UVec2::splat(1),
                    tileset: tileset.clone(),
                    ..TilemapChunk::default()
                };
                let tiles = TilemapChunkTileData(vec![tile(0); 32 * 32]);
                commands.spawn((chunk, tiles, Transform::from_xyz(x, 0.0, 0.0)));
            }
        },
    );
    rig.update(2);
    let phase = rig.app.world().resource::<Phase2d>();
    // The third chunk is out of sight.
    assert_eq!((phase.instances(), phase.draws()), (2, 1));
    let mut changed = rig.app.world_mut().query::<&mut TilemapChunkTileData>();
    for mut tiles in changed.iter_mut(rig.app.world_mut()) {
        tiles.fill(None);
        tiles[0] = tile(1);
    }
    let picture = rig.picture();
    let clear = picture.at(5, 5);
    assert_ne!(picture.at(0, 31), clear);
    assert_eq!(picture.at(1, 31), clear);
    // With too few tiles the chunk is not drawn, and an error is logged.
    let mut changed = rig.app.world_mut().query::<&mut TilemapChunkTileData>();
    for mut tiles in changed.iter_mut(rig.app.world_mut()) {
        tiles.pop();
    }
    assert_eq!(rig.picture().at(0, 31), clear);
}

#[test]
#[ignore = "needs a device"]
fn chunks_with_the_target_of_their_camera_as_tileset_are_not_drawn() {
    let mut rig = Rig::scene(
        16,
        16,
        |mut commands: Commands, mut images: ResMut<Assets<Image>>| {
            let image = Image::new_target_texture(16, 16, TextureFormat::Rgba8UnormSrgb, None);
            let image = images.add(image);
            commands.spawn((Camera2d, RenderTarget::Image(image.clone().into())));
            let chunk = TilemapChunk {
                chunk_size: UVec2::ONE,
                tile_display_size: UVec2::splat(8),
                tileset: image,
                ..TilemapChunk::default()
            };
            commands.spawn((chunk, TilemapChunkTileData(vec![tile(0)])));
        },
    );
    rig.update(4);
    let phase = rig.app.world().resource::<Phase2d>();
    assert_eq!(phase.instances(), 0);
}
