use bevy_asset::{Handle, RenderAssetUsages};
use bevy_color::Color;
use bevy_image::{Image as ImageAsset, TextureAtlas};
use bevy_math::{URect, UVec2, Vec4};
use bevy_sprite::SpriteImageMode;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use super::*;

struct Rig {
    images: Assets<ImageAsset>,
    layouts: Assets<TextureAtlasLayout>,
    image: Handle<ImageAsset>,
}

impl Rig {
    /// Converts a sprite with an image of 32 x 16 pixels.
    fn new() -> Self {
        let size = Extent3d {
            width: 32,
            height: 16,
            depth_or_array_layers: 1,
        };
        let image = ImageAsset::new_fill(
            size,
            TextureDimension::D2,
            &[255; 4],
            TextureFormat::Rgba8UnormSrgb,
            RenderAssetUsages::default(),
        );
        let mut images = Assets::default();
        let image = images.add(image);
        Self {
            images,
            layouts: Assets::default(),
            image,
        }
    }

    fn image_of(&self, sprite: &Sprite) -> SpriteImage<'_> {
        SpriteImage {
            size: self.images.get(&sprite.image).map(ImageAsset::size_f32),
            layouts: &self.layouts,
            is_placeholder: false,
        }
    }

    fn instances(&self, sprite: &Sprite, anchor: Anchor) -> Vec<Instance> {
        let mut out = Vec::new();
        let lists = (&mut Vec::new(), &mut out);
        let image = self.image_of(sprite);
        let is_drawn = add_sprite(sprite, &anchor, &Affine3A::IDENTITY, &image, lists);
        assert_eq!(is_drawn.is_some(), !out.is_empty());
        out
    }

    fn sprite_error(&self, sprite: &Sprite) -> Option<String> {
        let image = self.image_of(sprite);
        sprite_error(sprite, &Anchor::CENTER, &Affine3A::IDENTITY, &image)
    }
}

/// Left, bottom, right and top of a quad instance.
fn dest_rect(instance: &Instance) -> [f32; 4] {
    let [x, y, _] = instance.world_from_local.map(Vec4::from);
    let at = |row: Vec4, along: Vec4| row.dot(along);
    [
        at(x, Vec4::new(-0.5, -0.5, 0.0, 1.0)),
        at(y, Vec4::new(-0.5, -0.5, 0.0, 1.0)),
        at(x, Vec4::new(0.5, 0.5, 0.0, 1.0)),
        at(y, Vec4::new(0.5, 0.5, 0.0, 1.0)),
    ]
}

/// Left, top, right and bottom in texture coordinates.
fn uv(instance: &Instance) -> [f32; 4] {
    let [x, _, _, y] = instance.uv_axes;
    let [left, top] = instance.uv_translation;
    [left, top, left + x, top + y]
}

#[test]
fn anchor_is_at_origin() {
    let rig = Rig::new();
    let sprite = Sprite::from_image(rig.image.clone());
    let centered = rig.instances(&sprite, Anchor::CENTER);
    assert_eq!(dest_rect(&centered[0]), [-16.0, -8.0, 16.0, 8.0]);
    let top_left = rig.instances(&sprite, Anchor::TOP_LEFT);
    assert_eq!(dest_rect(&top_left[0]), [0.0, -16.0, 32.0, 0.0]);
}

#[test]
fn atlas_and_rect_select_source_pixels() {
    let mut rig = Rig::new();
    let mut layout = TextureAtlasLayout::new_empty(UVec2::new(32, 16));
    let index = layout.add_texture(URect::new(16, 0, 32, 16));
    let layout = rig.layouts.add(layout);
    let mut sprite = Sprite::from_atlas_image(rig.image.clone(), TextureAtlas { layout, index });
    let whole = rig.instances(&sprite, Anchor::CENTER);
    assert_eq!(uv(&whole[0]), [0.5, 0.0, 1.0, 1.0]);
    assert_eq!(dest_rect(&whole[0]), [-8.0, -8.0, 8.0, 8.0]);
    sprite.rect = Some(Rect::new(0.0, 8.0, 8.0, 16.0));
    sprite.flip_x = true;
    let part = rig.instances(&sprite, Anchor::CENTER);
    assert_eq!(uv(&part[0]), [0.75, 0.5, 0.5, 1.0]);
}

#[test]
fn custom_size_and_color_are_applied() {
    let rig = Rig::new();
    let sprite = Sprite::from_color(
        Color::linear_rgba(0.5, 0.25, 1.0, 0.5),
        Vec2::new(10.0, 4.0),
    );
    let instances = rig.instances(&sprite, Anchor::CENTER);
    assert_eq!(dest_rect(&instances[0]), [-5.0, -2.0, 5.0, 2.0]);
    assert_eq!(instances[0].tint, [0.5, 0.25, 1.0, 0.5]);
}

#[test]
fn flipped_sprite_flips_its_tiles() {
    let rig = Rig::new();
    let mut sprite = Sprite::from_image(rig.image.clone());
    sprite.custom_size = Some(Vec2::new(40.0, 16.0));
    sprite.flip_x = true;
    sprite.image_mode = SpriteImageMode::Tiled {
        tile_x: true,
        tile_y: false,
        stretch_value: 1.0,
    };
    let tiles = rig.instances(&sprite, Anchor::CENTER);
    assert_eq!(tiles.len(), 2);
    assert_eq!(dest_rect(&tiles[0]), [-12.0, -8.0, 20.0, 8.0]);
    assert_eq!(uv(&tiles[0]), [1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn negative_size_mirrors_sprite() {
    let rig = Rig::new();
    let mut sprite = Sprite::from_image(rig.image.clone());
    sprite.custom_size = Some(Vec2::new(-10.0, 4.0));
    let instances = rig.instances(&sprite, Anchor::CENTER_LEFT);
    // The anchor applies to the flipped sprite.
    assert_eq!(dest_rect(&instances[0]), [-10.0, -2.0, 0.0, 2.0]);
    assert_eq!(uv(&instances[0]), [1.0, 0.0, 0.0, 1.0]);
    sprite.image_mode = SpriteImageMode::Tiled {
        tile_x: true,
        tile_y: true,
        stretch_value: 1.0,
    };
    assert!(rig.instances(&sprite, Anchor::CENTER).is_empty());
    let reason = rig.sprite_error(&sprite).unwrap();
    assert!(reason.contains("[-10, 4]"), "{reason}");
}

#[test]
fn invalid_sprite_reports_field() {
    let mut rig = Rig::new();
    let sprite = Sprite::from_image(rig.image.clone());
    let odd = |sprite: Sprite| {
        assert!(rig.instances(&sprite, Anchor::CENTER).is_empty());
        rig.sprite_error(&sprite).unwrap()
    };
    let size = odd(Sprite {
        custom_size: Some(Vec2::new(f32::NAN, 1.0)),
        ..sprite.clone()
    });
    assert_eq!(size, "its custom_size is [NaN, 1.0]");
    let color = odd(Sprite {
        color: Color::linear_rgb(f32::INFINITY, 0.0, 0.0),
        ..sprite.clone()
    });
    assert!(color.starts_with("its color is [inf"), "{color}");
    let mask = odd(Sprite {
        alpha_mode: SpriteAlphaMode::Mask(f32::NAN),
        ..sprite.clone()
    });
    assert_eq!(mask, "its alpha_mode is [NaN]");
    let layout = rig.layouts.add(TextureAtlasLayout::new_empty(UVec2::ONE));
    let atlas = TextureAtlas { layout, index: 7 };
    let sprite = Sprite::from_atlas_image(rig.image.clone(), atlas);
    assert!(rig.instances(&sprite, Anchor::CENTER).is_empty());
    let reason = rig.sprite_error(&sprite).unwrap();
    assert_eq!(reason, "its atlas index 7 is beyond 0 textures");
    let waits = TextureAtlas {
        layout: Handle::default(),
        index: 0,
    };
    let sprite = Sprite::from_atlas_image(rig.image.clone(), waits);
    assert_eq!(rig.sprite_error(&sprite), None);
}
