//! Random meshes, images, bind poses and media.

use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_light::atmosphere::ScatteringMedium;
use bevy_mesh::morph::MorphAttributes;
use bevy_mesh::skinning::SkinnedMeshInverseBindposes;
use bevy_mesh::{PrimitiveTopology, VertexAttributeValues};
use quadrille_3d::prelude::*;

use crate::common::lifecycle::{FileAsset, HEIGHT, Library, Made, Random, png_file};
use crate::environment;

/// Plain images come first, then cubes, a cube or panorama, an irradiance volume, and plain images that may be files.
pub(super) const IMAGES: usize = FILES + 2;
pub(super) const FILES: usize = VOLUME + 1;
const VOLUME: usize = SKY + 1;
const SKY: usize = PLAIN + 2;
const PLAIN: usize = 3;

pub(super) fn plain(world: &World, random: &mut Random) -> Handle<Image> {
    let slot = random.below(PLAIN + IMAGES - FILES);
    Library::slot(
        world,
        if slot < PLAIN {
            slot
        } else {
            slot - PLAIN + FILES
        },
    )
}

pub(super) fn cube(world: &World, random: &mut Random) -> Handle<Image> {
    Library::slot(world, PLAIN + random.below(SKY - PLAIN))
}

/// A cube, or a panorama.
pub(super) fn sky(world: &World, random: &mut Random) -> Handle<Image> {
    Library::slot(world, PLAIN + random.below(VOLUME - PLAIN))
}

pub(super) fn volume(world: &World) -> Handle<Image> {
    Library::slot(world, VOLUME)
}

impl Made for Image {
    fn made(_: &World, slot: usize, random: &mut Random) -> Self {
        let side = random.pick(&[1, 2, 4, 8]);
        let mut texels = random.clone();
        let color = |[x, y, face]: [u32; 3]| {
            let at = u64::from(x + y * 8 + face * 64);
            let mut texel = Random::new(texels.clone().next() ^ at);
            [texel.unit(), texel.unit(), texel.unit()]
        };
        if slot == VOLUME {
            return environment::cubes([side, 1, 2], |_, side| [0.5, 3.0][side % 2]);
        }
        if slot == SKY && random.one_in(2) {
            return environment::image([4 * side, 2 * side, 1], color);
        }
        if (PLAIN..VOLUME).contains(&slot) {
            return environment::image([side, side, 6], color);
        }
        let height = random.pick(&[1, 2, 4]);
        let is_file = slot >= FILES;
        if !is_file && random.one_in(4) {
            return environment::image([side, height, 1], color);
        }
        let size = wgpu_types::Extent3d {
            width: side,
            height,
            depth_or_array_layers: 1,
        };
        let bytes = (0..side * height * 4).map(|_| texels.next() as u8);
        let mut image = Self::new(
            size,
            wgpu_types::TextureDimension::D2,
            bytes.collect(),
            wgpu_types::TextureFormat::Rgba8UnormSrgb,
            RenderAssetUsages::default(),
        );
        if !is_file && random.one_in(2) {
            image.sampler = bevy_image::ImageSampler::nearest();
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

impl Made for GizmoAsset {
    fn made(_: &World, _: usize, random: &mut Random) -> Self {
        let mut lines = Self::new();
        for _ in 0..random.below(4) {
            let end =
                |random: &mut Random| Vec3::from_array([(); 3].map(|()| random.between(-1.0, 1.0)));
            let ends = [end(random), end(random)];
            let color = Color::srgb(random.unit(), random.unit(), 1.0);
            lines.line(ends[0], ends[1], color);
        }
        lines
    }
}

impl Made for SkinnedMeshInverseBindposes {
    fn made(_: &World, _: usize, random: &mut Random) -> Self {
        // Meshes follow two joints: sometimes one is missing.
        let count = if random.one_in(5) { 1 } else { 2 };
        let matrix = |_| {
            Mat4::from_translation(Vec3::new(0.0, random.between(-0.5, 0.5), 0.0))
                * Mat4::from_rotation_z(random.between(-0.5, 0.5))
        };
        (0..count).map(matrix).collect::<Vec<_>>().into()
    }
}

impl Made for ScatteringMedium {
    fn made(_: &World, _: usize, random: &mut Random) -> Self {
        let texels = random.pick(&[8, 16]);
        Self::earth(texels, 8).with_density_multiplier(random.between(0.5, 20.0))
    }
}

impl Made for Mesh {
    fn made(_: &World, _: usize, random: &mut Random) -> Self {
        let mut mesh = shape(random);
        let count = mesh.count_vertices();
        if count > 0 && random.one_in(3) {
            let heights = (0..count).map(|_| random.unit()).collect::<Vec<f32>>();
            mesh.insert_attribute(HEIGHT, heights);
        }
        mesh
    }
}

fn shape(random: &mut Random) -> Mesh {
    let size = random.between(0.4, 1.6);
    match random.below(10) {
        0..3 => Cuboid::from_length(size).into(),
        3 => Sphere::new(size * 0.6).mesh().ico(1).expect("few faces"),
        4 => Plane3d::default()
            .mesh()
            .size(size * 3.0, size * 3.0)
            .into(),
        5 => Rectangle::new(size, size).into(),
        6 => points(PrimitiveTopology::LineStrip, size),
        7 => points(PrimitiveTopology::PointList, size),
        // A mesh without positions is rejected.
        8 if random.one_in(2) => Mesh::new(
            PrimitiveTopology::TriangleList,
            RenderAssetUsages::default(),
        ),
        _ => bending(size),
    }
}

fn points(topology: PrimitiveTopology, size: f32) -> Mesh {
    let place = |at: u8| {
        let angle = f32::from(at) * 0.7;
        [angle.cos() * size, angle.sin() * size, 0.1 * angle]
    };
    Mesh::new(topology, RenderAssetUsages::default()).with_inserted_attribute(
        Mesh::ATTRIBUTE_POSITION,
        (0..20).map(place).collect::<Vec<_>>(),
    )
}

/// Follows two joints and two morph targets.
fn bending(size: f32) -> Mesh {
    let mut mesh = Mesh::from(Cuboid::from_length(size));
    let count = mesh.count_vertices();
    mesh.insert_attribute(
        Mesh::ATTRIBUTE_JOINT_INDEX,
        VertexAttributeValues::Uint16x4(vec![[0, 1, 0, 0]; count]),
    );
    let weights = |at: usize| {
        [
            0.25 * (at % 5) as f32,
            1.0 - 0.25 * (at % 5) as f32,
            0.0,
            0.0,
        ]
    };
    mesh.insert_attribute(
        Mesh::ATTRIBUTE_JOINT_WEIGHT,
        (0..count).map(weights).collect::<Vec<_>>(),
    );
    let target = |at: usize| {
        let moved = Vec3::new(0.1, 0.3, -0.2) * (at % 3) as f32;
        MorphAttributes::from([moved, Vec3::ZERO, Vec3::ZERO])
    };
    mesh.set_morph_targets((0..2 * count).map(target).collect());
    mesh
}
