//! Scenes with many features in few pixels.

use bevy_asset::RenderAssetUsages;
use bevy_camera::visibility::RenderLayers;
use bevy_ecs::prelude::*;
use bevy_image::ImageSampler;

use bevy_math::{Affine2, Quat, Rect, URect, UVec2, Vec2};
use bevy_mesh::PrimitiveTopology;
use quadrille_2d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

/// An asymmetric picture: 16 x 12 pixels, an F on a gradient within a frame.
pub(crate) fn test_image() -> Image {
    const ROWS: [&str; 12] = [
        "################",
        "#..............#",
        "#...xxxxxxxx...#",
        "#...x..........#",
        "#...x..........#",
        "#...xxxxx......#",
        "#...x..........#",
        "#...x..........#",
        "#...x..........#",
        "#..............#",
        "#............o.#",
        "################",
    ];
    let texel = |x: usize, y: usize, letter: u8| match letter {
        b'#' => [230, 230, 230, 255],
        b'x' => [20, 20, 20, 255],
        b'o' => [255, 0, 0, 255],
        _ => [(x * 15) as u8, 120, (y * 20) as u8, 255],
    };
    let rows = ROWS.iter().enumerate();
    let data = rows.flat_map(|(y, row)| {
        let texels = row.bytes().enumerate();
        texels.flat_map(move |(x, letter)| texel(x, y, letter))
    });
    image(16, 12, data.collect())
}

/// An image with nearest filtering.
pub(crate) fn image(width: u32, height: u32, data: Vec<u8>) -> Image {
    let size = Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    };
    let mut image = Image::new(
        size,
        TextureDimension::D2,
        data,
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::default(),
    );
    image.sampler = ImageSampler::nearest();
    image
}

fn at(x: f32, y: f32) -> Transform {
    Transform::from_xyz(x, y, 0.0)
}

/// Features of sprites: 200 x 120 pixels.
pub(crate) fn sprites(
    mut commands: Commands,
    mut images: ResMut<Assets<Image>>,
    mut layouts: ResMut<Assets<TextureAtlasLayout>>,
) {
    let image = images.add(test_image());
    let plain = Sprite::from_image(image.clone());
    commands.spawn(Camera2d);
    commands.spawn((plain.clone(), at(-85.0, 45.0)));
    let flipped = |flip_x, flip_y| Sprite {
        flip_x,
        flip_y,
        ..plain.clone()
    };
    commands.spawn((flipped(true, false), at(-65.0, 45.0)));
    commands.spawn((flipped(false, true), at(-45.0, 45.0)));
    let tinted = Sprite {
        color: Color::srgba(1.0, 0.5, 0.5, 0.5),
        custom_size: Some(Vec2::new(32.0, 20.0)),
        ..plain.clone()
    };
    commands.spawn((tinted, at(-15.0, 45.0)));
    let part = Sprite {
        rect: Some(Rect::new(4.0, 2.0, 12.0, 9.0)),
        custom_size: Some(Vec2::new(16.0, 14.0)),
        ..plain.clone()
    };
    commands.spawn((part, at(15.0, 45.0)));
    let mut layout = TextureAtlasLayout::new_empty(UVec2::new(16, 12));
    layout.add_texture(URect::new(0, 0, 8, 6));
    let index = layout.add_texture(URect::new(8, 6, 16, 12));
    let layout = layouts.add(layout);
    let atlas = TextureAtlas { layout, index };
    commands.spawn((
        Sprite::from_atlas_image(image.clone(), atlas),
        at(35.0, 45.0),
    ));
    let turned = at(65.0, 45.0)
        .with_rotation(Quat::from_rotation_z(0.6))
        .with_scale(bevy_math::Vec3::new(2.0, 1.0, 1.0));
    commands.spawn((plain.clone(), turned));
    anchors(&mut commands, &plain);
    modes(&mut commands, &plain);
    order(&mut commands);
}

/// Sprites with different anchors at one point.
fn anchors(commands: &mut Commands, plain: &Sprite) {
    for anchor in [Anchor::TOP_LEFT, Anchor::BOTTOM_RIGHT] {
        commands.spawn((plain.clone(), anchor, at(-75.0, 10.0)));
    }
}

/// Nine slices, tiles, and kept proportions.
fn modes(commands: &mut Commands, plain: &Sprite) {
    let modes = [
        SpriteImageMode::Sliced(TextureSlicer {
            border: BorderRect::all(3.0),
            center_scale_mode: SliceScaleMode::Tile { stretch_value: 1.0 },
            ..TextureSlicer::default()
        }),
        SpriteImageMode::Tiled {
            tile_x: true,
            tile_y: true,
            stretch_value: 0.67,
        },
        SpriteImageMode::Scale(SpriteScalingMode::FitStart),
        SpriteImageMode::Scale(SpriteScalingMode::FillCenter),
    ];
    // Pixel centers must not lie on the edge between two texels, which drivers round either way.
    for (at_x, image_mode) in [-36.0, 4.0, 44.0, 84.0].into_iter().zip(modes) {
        let sprite = Sprite {
            image_mode,
            custom_size: Some(Vec2::splat(32.0)),
            ..plain.clone()
        };
        commands.spawn((sprite, at(at_x, 5.0)));
    }
}

/// Squares whose order by z differs from the order of spawning.
fn order(commands: &mut Commands) {
    let colors = [
        (2.0, Color::srgb(0.9, 0.2, 0.2)),
        (0.0, Color::srgb(0.2, 0.9, 0.2)),
        (1.0, Color::srgba(0.2, 0.2, 0.9, 0.5)),
    ];
    for (index, (z, color)) in colors.into_iter().enumerate() {
        let x = -80.0 + 8.0 * index as f32;
        let sprite = Sprite::from_color(color, Vec2::splat(16.0));
        commands.spawn((
            sprite,
            Transform::from_xyz(x, -35.0 - 4.0 * index as f32, z),
        ));
    }
    for (x, mode) in [
        (-20.0, SpriteAlphaMode::Opaque),
        (0.0, SpriteAlphaMode::Blend),
    ] {
        let sprite = Sprite {
            alpha_mode: mode,
            ..Sprite::from_color(Color::srgba(1.0, 1.0, 0.0, 0.3), Vec2::splat(14.0))
        };
        commands.spawn((sprite, at(x, -40.0)));
    }
}

/// Features of text: 220 x 130 pixels.
pub(crate) fn text(mut commands: Commands) {
    let font = |size: f32| TextFont {
        font_size: FontSize::Px(size),
        ..TextFont::default()
    };
    commands.spawn(Camera2d);
    commands
        .spawn((Text2d::new("one "), font(16.0), at(-60.0, 45.0)))
        .with_children(|text| {
            text.spawn((
                TextSpan::new("two "),
                font(16.0),
                TextColor(Color::srgb(1.0, 0.5, 0.0)),
            ));
            text.spawn((
                TextSpan::new("3"),
                font(24.0),
                TextColor(Color::srgb(0.3, 1.0, 0.3)),
            ));
        });
    for (x, justify) in [
        (-70.0, Justify::Left),
        (0.0, Justify::Center),
        (70.0, Justify::Right),
    ] {
        commands.spawn((
            Text2d::new("aligned\nto a\nside"),
            font(11.0),
            TextLayout::justify(justify),
            at(x, 5.0),
        ));
    }
    commands.spawn((
        Text2d::new("words that are broken into lines"),
        font(10.0),
        TextBounds::new_horizontal(70.0),
        Anchor::TOP_LEFT,
        at(-105.0, -25.0),
    ));
    commands.spawn((
        Text2d::new("shadow"),
        font(20.0),
        Text2dShadow {
            offset: Vec2::new(2.0, -2.0),
            color: Color::srgb(0.6, 0.0, 0.6),
        },
        at(60.0, 45.0),
    ));
    commands.spawn((
        Text2d::new("lines"),
        font(26.0),
        TextBackgroundColor(Color::srgb(0.0, 0.3, 0.5)),
        Underline,
        at(0.0, -40.0),
    ));
    let turned = at(70.0, -40.0).with_rotation(Quat::from_rotation_z(0.4));
    commands.spawn((Text2d::new("turned"), font(14.0), turned));
}

/// Meshes with colors, images and vertex colors: 160 x 100 pixels.
pub(crate) fn meshes(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
    mut images: ResMut<Assets<Image>>,
) {
    let image = images.add(test_image());
    commands.spawn(Camera2d);
    let plain = materials.add(Color::srgb(0.2, 0.6, 1.0));
    let textured = materials.add(ColorMaterial::from(image.clone()));
    let repeated = materials.add(ColorMaterial {
        uv_transform: Affine2::from_scale(Vec2::new(0.5, 0.8)),
        color: Color::srgb(1.0, 1.0, 0.5),
        ..ColorMaterial::from(image)
    });
    let through = materials.add(Color::srgba(1.0, 0.2, 0.2, 0.5));
    let white = materials.add(Color::WHITE);
    let mut spawn = |mesh: Mesh, material: &Handle<ColorMaterial>, x, y, z| {
        let mesh = Mesh2d(meshes.add(mesh));
        let material = MeshMaterial2d(material.clone());
        commands.spawn((mesh, material, Transform::from_xyz(x, y, z)));
    };
    spawn(Circle::new(15.0).into(), &plain, -60.0, 25.0, 0.0);
    spawn(
        Rectangle::new(32.0, 24.0).into(),
        &textured,
        -20.0,
        25.0,
        0.0,
    );
    spawn(
        RegularPolygon::new(16.0, 5).into(),
        &repeated,
        20.0,
        25.0,
        0.0,
    );
    spawn(Circle::new(12.0).into(), &through, -50.0, 20.0, 1.0);
    let positions = vec![[0.0, 15.0, 0.0], [-15.0, -10.0, 0.0], [15.0, -10.0, 0.0]];
    let colors = vec![
        [1.0, 0.0, 0.0, 1.0],
        [0.0, 1.0, 0.0, 1.0],
        [0.0, 0.0, 1.0, 1.0],
    ];
    let shape = |topology| {
        Mesh::new(topology, RenderAssetUsages::default())
            .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions.clone())
            .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, colors.clone())
    };
    spawn(
        shape(PrimitiveTopology::TriangleList),
        &white,
        60.0,
        25.0,
        0.0,
    );
    spawn(
        shape(PrimitiveTopology::TriangleStrip),
        &white,
        -60.0,
        -25.0,
        0.0,
    );
    spawn(
        shape(PrimitiveTopology::LineStrip),
        &white,
        -20.0,
        -25.0,
        0.0,
    );
    spawn(
        shape(PrimitiveTopology::PointList),
        &white,
        20.0,
        -25.0,
        0.0,
    );
    commands.spawn((
        Sprite::from_color(Color::srgba(0.0, 1.0, 0.0, 0.7), Vec2::new(10.0, 30.0)),
        Transform::from_xyz(-45.0, 25.0, 0.5),
    ));
}

/// Cameras with viewports, layers, orders, clear colors and projections: 160 x 100 pixels.
pub(crate) fn cameras(mut commands: Commands, mut images: ResMut<Assets<Image>>) {
    let image = images.add(test_image());
    commands.insert_resource(ClearColor(Color::srgb(0.3, 0.1, 0.1)));
    let part = |x, y, width, height| {
        Some(Viewport {
            physical_position: UVec2::new(x, y),
            physical_size: UVec2::new(width, height),
            ..Viewport::default()
        })
    };
    // The whole window; drawn first.
    commands.spawn(Camera2d);
    commands.spawn((
        Camera2d,
        Camera {
            order: 1,
            viewport: part(100, 10, 50, 40),
            clear_color: ClearColorConfig::Custom(Color::srgb(0.1, 0.4, 0.1)),
            ..Camera::default()
        },
        RenderLayers::layer(0).with(1),
        Projection::Orthographic(OrthographicProjection {
            scaling_mode: ScalingMode::FixedVertical {
                viewport_height: 20.0,
            },
            ..OrthographicProjection::default_2d()
        }),
    ));
    // Over everything, without clearing.
    commands.spawn((
        Camera2d,
        Camera {
            order: 2,
            clear_color: ClearColorConfig::None,
            ..Camera::default()
        },
        RenderLayers::layer(2),
        at(10.0, 10.0).with_rotation(Quat::from_rotation_z(0.3)),
    ));
    commands.spawn((Sprite::from_image(image.clone()), at(0.0, 0.0)));
    let square = |color, size: f32| Sprite::from_color(color, Vec2::splat(size));
    commands.spawn((
        square(Color::srgb(0.2, 0.4, 1.0), 6.0),
        at(6.0, 4.0),
        RenderLayers::layer(1),
    ));
    commands.spawn((
        square(Color::srgb(1.0, 0.8, 0.0), 12.0),
        at(-30.0, 20.0),
        RenderLayers::layer(2),
    ));
    to_image(&mut commands, &mut images);
}

/// A camera that draws to an image, which a sprite shows.
fn to_image(commands: &mut Commands, images: &mut Assets<Image>) {
    let mut target = image(24, 24, vec![0; 24 * 24 * 4]);
    target.texture_descriptor.usage |= wgpu_types::TextureUsages::RENDER_ATTACHMENT;
    let target = images.add(target);
    commands.spawn((
        Camera2d,
        Camera {
            order: -1,
            clear_color: ClearColorConfig::Custom(Color::srgb(0.0, 0.0, 0.5)),
            ..Camera::default()
        },
        RenderTarget::from(target.clone()),
        RenderLayers::layer(3),
    ));
    commands.spawn((
        Sprite::from_color(Color::WHITE, Vec2::new(8.0, 4.0)),
        at(4.0, 8.0),
        RenderLayers::layer(3),
    ));
    commands.spawn((Sprite::from_image(target), at(-50.0, -25.0)));
}
