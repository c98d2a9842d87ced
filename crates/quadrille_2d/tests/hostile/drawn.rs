//! Sprites, meshes, texts, tilemaps and gizmos with random values.

use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_image::{ImageSampler, ImageSamplerDescriptor};
use bevy_math::{Affine2, Mat2, URect, Vec2, Vec3};
use bevy_mesh::{Indices, PrimitiveTopology};
use bevy_sprite::{BorderRect, SliceScaleMode, SpriteScalingMode, TextureSlicer};
use bevy_text::{
    FontSize, FontStyle, FontVariationTag, FontVariations, FontWeight, FontWidth, LetterSpacing,
    LineHeight, Strikethrough, Underline,
};
use quadrille_2d::prelude::*;
use quadrille_2d::{TileOrientation, TilemapChunk};
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use super::Bad;
use super::dice::Dice;

/// Asset collections for the spawned entities.
#[derive(SystemParam)]
pub(crate) struct Shelf<'w> {
    pub(crate) images: ResMut<'w, Assets<Image>>,
    pub(crate) layouts: ResMut<'w, Assets<TextureAtlasLayout>>,
    meshes: ResMut<'w, Assets<Mesh>>,
    materials: ResMut<'w, Assets<ColorMaterial>>,
    gizmos: ResMut<'w, Assets<GizmoAsset>>,
}

/// An image of any size, with a matching or wrong number of bytes.
pub(crate) fn image(dice: &mut Dice, shelf: &mut Shelf) -> Handle<Image> {
    if dice.0.u8(..3) == 0 {
        return Handle::default();
    }
    let small = |dice: &mut Dice| match dice.0.u8(..8) {
        0 => dice.number(),
        _ => dice.0.u32(1..9),
    };
    let size = Extent3d {
        width: small(dice),
        height: small(dice),
        depth_or_array_layers: dice.pick(&[1, 1, 1, 2, 0]),
    };
    let format = dice.pick(&[
        TextureFormat::Rgba8UnormSrgb,
        TextureFormat::R8Unorm,
        TextureFormat::Bc7RgbaUnorm,
        TextureFormat::Depth32Float,
    ]);
    let mut image = Image::default();
    image.texture_descriptor.size = size;
    image.texture_descriptor.format = format;
    image.texture_descriptor.dimension = dice.pick(&[
        TextureDimension::D2,
        TextureDimension::D2,
        TextureDimension::D3,
    ]);
    image.texture_descriptor.mip_level_count = dice.pick(&[1, 1, 0, 3, u32::MAX]);
    let bytes = [size.width, size.height, size.depth_or_array_layers, 4]
        .into_iter()
        .fold(1_usize, |all, length| all.saturating_mul(length as usize));
    image.data = match dice.0.u8(..4) {
        0 => None,
        1 => Some(vec![7; 5]),
        _ => Some(vec![200; bytes.min(4096)]),
    };
    image.sampler = ImageSampler::Descriptor(ImageSamplerDescriptor {
        anisotropy_clamp: dice.pick(&[0, 1, 16, u16::MAX]),
        lod_min_clamp: dice.float(),
        lod_max_clamp: dice.float(),
        ..ImageSamplerDescriptor::linear()
    });
    shelf.images.add(image)
}

pub(crate) fn atlas(dice: &mut Dice, shelf: &mut Shelf) -> TextureAtlas {
    let textures = (0..dice.0.usize(..4)).map(|_| URect {
        min: dice.uvec2(),
        max: dice.uvec2(),
    });
    let layout = TextureAtlasLayout {
        textures: textures.collect(),
        size: dice.uvec2(),
    };
    TextureAtlas {
        layout: match dice.0.u8(..4) {
            0 => Handle::default(),
            _ => shelf.layouts.add(layout),
        },
        index: dice.number() as usize,
    }
}

pub(crate) fn slicer(dice: &mut Dice) -> TextureSlicer {
    let mode = |dice: &mut Dice| {
        if dice.flip() {
            SliceScaleMode::Stretch
        } else {
            SliceScaleMode::Tile {
                stretch_value: dice.float(),
            }
        }
    };
    TextureSlicer {
        border: BorderRect {
            min_inset: dice.vec2(),
            max_inset: dice.vec2(),
        },
        center_scale_mode: mode(dice),
        sides_scale_mode: mode(dice),
        max_corner_scale: dice.float(),
    }
}

fn sprite(dice: &mut Dice, shelf: &mut Shelf) -> Sprite {
    let scaling = dice.pick(&[
        SpriteScalingMode::FillCenter,
        SpriteScalingMode::FillEnd,
        SpriteScalingMode::FitStart,
        SpriteScalingMode::FitCenter,
    ]);
    let image_mode = match dice.0.u8(..4) {
        0 => SpriteImageMode::Auto,
        1 => SpriteImageMode::Scale(scaling),
        2 => SpriteImageMode::Sliced(slicer(dice)),
        _ => SpriteImageMode::Tiled {
            tile_x: dice.flip(),
            tile_y: dice.flip(),
            stretch_value: dice.float(),
        },
    };
    Sprite {
        image: image(dice, shelf),
        texture_atlas: dice.maybe(|dice| atlas(dice, shelf)),
        color: dice.color(),
        flip_x: dice.flip(),
        flip_y: dice.flip(),
        custom_size: dice.maybe(Dice::vec2),
        rect: dice.maybe(Dice::rect),
        image_mode,
        alpha_mode: match dice.0.u8(..3) {
            0 => SpriteAlphaMode::Opaque,
            1 => SpriteAlphaMode::Mask(dice.float()),
            _ => SpriteAlphaMode::Blend,
        },
    }
}

fn mesh(dice: &mut Dice) -> Mesh {
    let topology = dice.pick(&[
        PrimitiveTopology::TriangleList,
        PrimitiveTopology::TriangleStrip,
        PrimitiveTopology::LineStrip,
        PrimitiveTopology::PointList,
    ]);
    let count = dice.0.usize(..7);
    let places: Vec<_> = (0..count).map(|_| [(); 3].map(|()| dice.float())).collect();
    let mut mesh = Mesh::new(topology, RenderAssetUsages::default());
    if dice.0.u8(..6) > 0 {
        mesh.insert_attribute(Mesh::ATTRIBUTE_POSITION, places);
    }
    if dice.flip() {
        let uvs = vec![[dice.float(), 0.0]; dice.pick(&[count, count, count + 1])];
        mesh.insert_attribute(Mesh::ATTRIBUTE_UV_0, uvs);
    }
    if dice.flip() {
        let colors = vec![[dice.float(); 4]; dice.pick(&[count, count, count / 2])];
        mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, colors);
    }
    match dice.0.u8(..3) {
        0 => mesh.insert_indices(Indices::U16(vec![0, 1, 2, dice.0.u16(..9)])),
        1 => mesh.insert_indices(Indices::U32(vec![dice.number(); 3])),
        _ => {}
    }
    mesh
}

fn material(dice: &mut Dice, shelf: &mut Shelf) -> ColorMaterial {
    ColorMaterial {
        color: dice.color(),
        alpha_mode: if dice.flip() {
            AlphaMode2d::Mask(dice.float())
        } else {
            AlphaMode2d::Blend
        },
        uv_transform: Affine2 {
            matrix2: Mat2::from_cols(dice.vec2(), dice.vec2()),
            translation: dice.vec2(),
        },
        texture: dice.maybe(|dice| image(dice, shelf)),
    }
}

/// Random font size.
pub(crate) fn font(dice: &mut Dice) -> TextFont {
    let size = dice.float();
    let font_size = dice.pick(&[FontSize::Px(size), FontSize::Vw(size), FontSize::Rem(size)]);
    // Each font face has separate glyph images, which take long at large sizes.
    if dice.0.u8(..4) > 0 {
        return TextFont::from_font_size(font_size);
    }
    TextFont {
        font_size: FontSize::Px(10.0),
        weight: FontWeight(dice.number() as u16),
        width: FontWidth(dice.float()),
        style: FontStyle::Oblique(dice.maybe(Dice::float)),
        font_variations: FontVariations::builder()
            .set(FontVariationTag::WEIGHT, dice.float())
            .set(FontVariationTag::WIDTH, dice.float())
            .build(),
        ..TextFont::default()
    }
}

pub(crate) fn spacing(dice: &mut Dice) -> (LineHeight, LetterSpacing) {
    let line = [
        LineHeight::Px(dice.float()),
        LineHeight::RelativeToFont(dice.float()),
    ];
    let letter = [
        LetterSpacing::Px(dice.float()),
        LetterSpacing::Rem(dice.float()),
    ];
    (dice.pick(&line), dice.pick(&letter))
}

fn chunk(dice: &mut Dice, shelf: &mut Shelf) -> (TilemapChunk, TilemapChunkTileData) {
    let chunk = TilemapChunk {
        chunk_size: dice.uvec2(),
        tile_display_size: dice.uvec2(),
        tileset: image(dice, shelf),
        alpha_mode: AlphaMode2d::Mask(dice.float()),
    };
    let count = (u64::from(chunk.chunk_size.x) * u64::from(chunk.chunk_size.y)).min(1000);
    let count = dice.pick(&[count, count, count + 1]);
    let tile = |_| {
        dice.maybe(|dice| TileData {
            tileset_index: dice.number() as u16,
            color: dice.color(),
            visible: true,
            orientation: TileOrientation::Rotate90,
        })
    };
    (chunk, TilemapChunkTileData((0..count).map(tile).collect()))
}

pub(crate) fn line_config(dice: &mut Dice) -> GizmoLineConfig {
    GizmoLineConfig {
        width: dice.float(),
        perspective: dice.flip(),
        style: if dice.flip() {
            GizmoLineStyle::Dotted
        } else {
            GizmoLineStyle::Dashed {
                gap_scale: dice.float(),
                line_scale: dice.float(),
            }
        },
        joints: if dice.flip() {
            GizmoLineJoint::Miter
        } else {
            GizmoLineJoint::Round(dice.number())
        },
        animation_offset: dice.float(),
    }
}

/// Spawns one entity of each kind.
pub(crate) fn spawn(commands: &mut Commands, dice: &mut Dice, shelf: &mut Shelf) {
    let anchor = Anchor(dice.vec2());
    commands.spawn((Bad, sprite(dice, shelf), anchor, dice.transform()));
    let shape = match dice.0.u8(..8) {
        0 => Handle::default(),
        _ => shelf.meshes.add(mesh(dice)),
    };
    let material = material(dice, shelf);
    let material = MeshMaterial2d(shelf.materials.add(material));
    commands.spawn((Bad, Mesh2d(shape), material, dice.transform()));
    let block = commands
        .spawn((
            Bad,
            Text2d::new(dice.text()),
            font(dice),
            spacing(dice),
            TextColor(dice.color()),
            TextBounds {
                width: dice.maybe(Dice::float),
                height: dice.maybe(Dice::float),
            },
            Anchor(dice.vec2()),
            Text2dShadow {
                offset: dice.vec2(),
                color: dice.color(),
            },
            dice.transform(),
        ))
        .id();
    let span = (
        TextSpan::new(dice.text()),
        font(dice),
        TextBackgroundColor(dice.color()),
        Underline,
        Strikethrough,
    );
    commands.spawn((span, ChildOf(block)));
    commands.spawn((Bad, chunk(dice, shelf), dice.transform()));
    let mut asset = GizmoAsset::new();
    let places = [(); 4].map(|()| Vec3::new(dice.float(), dice.float(), dice.float()));
    asset.linestrip(places, dice.color());
    asset.line_2d(dice.vec2(), Vec2::ZERO, dice.color());
    let gizmo = Gizmo {
        handle: shelf.gizmos.add(asset),
        line_config: line_config(dice),
        depth_bias: dice.float(),
    };
    commands.spawn((Bad, gizmo, dice.transform()));
}
