//! Random images, atlases, meshes, materials and gizmos.

use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_image::ImageSampler;
use bevy_math::{Affine2, URect, UVec2, Vec2};
use bevy_mesh::PrimitiveTopology;
use quadrille_2d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat, TextureUsages};

use super::values::{color, point};
use crate::common::lifecycle::{FileAsset, HEIGHT, Library, Made, Random, png_file};

/// Plain images come first, then one with array layers, one that a camera draws to, and plain ones that may be files.
pub(super) const IMAGES: usize = FILES + 2;
pub(super) const FILES: usize = PLAIN + 2;
const PLAIN: usize = 4;
pub(super) const LAYERED: usize = PLAIN;
pub(super) const TARGET: usize = PLAIN + 1;

/// Mostly a plain image.
pub(super) fn image(world: &World, random: &mut Random) -> Handle<Image> {
    match random.below(12) {
        0 => Library::slot(world, LAYERED),
        1 => Library::slot(world, TARGET),
        2 => Handle::default(),
        3..6 => Library::slot(world, random.pick(&[FILES, FILES + 1])),
        _ => Library::slot(world, random.below(PLAIN)),
    }
}

/// Mostly the image with array layers.
pub(super) fn tileset(world: &World, random: &mut Random) -> Handle<Image> {
    match random.one_in(5) {
        true => Library::slot(world, random.below(PLAIN)),
        false => Library::slot(world, LAYERED),
    }
}

fn usages(random: &mut Random) -> RenderAssetUsages {
    random.pick(&[
        RenderAssetUsages::RENDER_WORLD,
        RenderAssetUsages::default(),
    ])
}

impl Made for Image {
    fn made(_: &World, slot: usize, random: &mut Random) -> Self {
        let side = random.pick(&[2, 3, 8]);
        let size = Extent3d {
            width: if slot == TARGET { 16 } else { side },
            height: if slot == TARGET {
                16
            } else {
                random.pick(&[1, 4, 6])
            },
            depth_or_array_layers: if slot == LAYERED { 3 } else { 1 },
        };
        let texels = size.width * size.height * size.depth_or_array_layers;
        let bytes = (0..texels * 4).map(|_| random.next() as u8).collect();
        let format = TextureFormat::Rgba8UnormSrgb;
        if slot >= FILES {
            let usages = RenderAssetUsages::default();
            return Self::new(size, TextureDimension::D2, bytes, format, usages);
        }
        let mut image = Self::new(size, TextureDimension::D2, bytes, format, usages(random));
        if slot == TARGET {
            image.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT;
        }
        if random.one_in(2) {
            image.sampler = ImageSampler::nearest();
        }
        image
    }
}

impl FileAsset for Image {
    const EXTENSION: &str = "png";

    fn to_file(&self) -> Vec<u8> {
        png_file(self)
    }

    fn is_like(&self, other: &Self) -> bool {
        self.data == other.data && self.size() == other.size()
    }
}

impl Made for TextureAtlasLayout {
    fn made(_: &World, _: usize, random: &mut Random) -> Self {
        let count = random.below(4);
        let textures = (0..count).map(|_| {
            let least = UVec2::new(random.below(3) as u32, random.below(2) as u32);
            URect::from_corners(least, least + UVec2::new(1 + random.below(3) as u32, 1))
        });
        Self {
            textures: textures.collect(),
            size: UVec2::splat(8),
        }
    }
}

impl Made for Mesh {
    fn made(_: &World, _: usize, random: &mut Random) -> Self {
        let size = random.between(4.0, 16.0);
        let mut mesh: Self = match random.below(7) {
            0 => Circle::new(size).into(),
            1 => Annulus::new(size * 0.5, size).into(),
            2 => RegularPolygon::new(size, 5).into(),
            3 => points(PrimitiveTopology::LineStrip, size),
            4 => points(PrimitiveTopology::PointList, size),
            // Without positions it is refused.
            5 if random.one_in(2) => Self::new(
                PrimitiveTopology::TriangleList,
                RenderAssetUsages::default(),
            ),
            _ => Rectangle::new(size, size * 0.7).into(),
        };
        let count = mesh.count_vertices();
        if random.one_in(2) && count > 0 {
            let colors = (0..count).map(|_| [random.unit(), random.unit(), random.unit(), 1.0]);
            let colors: Vec<_> = colors.collect();
            mesh.insert_attribute(Self::ATTRIBUTE_COLOR, colors);
        }
        if random.one_in(3) && count > 0 {
            let heights = (0..count).map(|_| random.unit()).collect::<Vec<f32>>();
            mesh.insert_attribute(HEIGHT, heights);
        }
        mesh.asset_usage = usages(random);
        mesh
    }
}

fn points(topology: PrimitiveTopology, size: f32) -> Mesh {
    let place = |at: u8| {
        let angle = f32::from(at) * 0.7;
        [angle.cos() * size, angle.sin() * size, 0.0]
    };
    Mesh::new(topology, RenderAssetUsages::default()).with_inserted_attribute(
        Mesh::ATTRIBUTE_POSITION,
        (0..9).map(place).collect::<Vec<_>>(),
    )
}

impl Made for ColorMaterial {
    fn made(world: &World, _: usize, random: &mut Random) -> Self {
        Self {
            // Sometimes a number that makes no sense.
            color: if random.one_in(12) {
                Color::srgb(f32::NAN, 0.0, 0.0)
            } else {
                color(random)
            },
            alpha_mode: random.pick(&[
                AlphaMode2d::Opaque,
                AlphaMode2d::Mask(0.5),
                AlphaMode2d::Blend,
            ]),
            uv_transform: random.pick(&[Affine2::IDENTITY, Affine2::from_scale(Vec2::splat(2.0))]),
            texture: random.one_in(2).then(|| image(world, random)),
        }
    }
}

impl Made for GizmoAsset {
    fn made(_: &World, _: usize, random: &mut Random) -> Self {
        let mut asset = Self::new();
        for _ in 0..random.below(3) {
            asset.line_2d(point(random, 20.0), point(random, 20.0), color(random));
        }
        let strip = [(); 4].map(|()| point(random, 20.0));
        asset.linestrip_2d(strip, color(random));
        asset
    }
}
