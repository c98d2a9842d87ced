//! Moving scenes, their pictures frame by frame, and their supersampled pictures.

use std::f32::consts::{FRAC_PI_4, TAU};
use std::sync::{Arc, Mutex};

use bevy_app::Update;
use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use bevy_image::ImageSampler;
use quadrille::prelude::{Readback, ReadbackComplete};
use quadrille_3d::prelude::*;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

use crate::camera_effects::pixel_camera;
use crate::common::{Exact, Rig};
use crate::prepass::spawn;
use crate::temporal_effects::gray;

pub(crate) type Rows = Vec<Vec<[f32; 4]>>;

/// Width and height of pictures.
pub(crate) const SIZE: [u32; 2] = [128, 96];

/// Frames before the first that is measured, and frames that are.
pub(crate) const FIRST: u32 = 48;
pub(crate) const MEASURED: u32 = 12;

/// Samples of supersampled pictures for each pixel along each axis.
const SUPERSAMPLING: u32 = 8;

/// Frame of the scene, which sets all transforms.
#[derive(Resource, Clone, Copy)]
pub(crate) struct Frame(pub(crate) u32);

/// Transform of an entity by frame, and by its number.
#[derive(Component)]
pub(crate) struct Path(fn(f32, f32) -> Transform, f32);

fn follow(frame: Res<Frame>, mut moving: Query<(&mut Transform, &Path)>) {
    for (mut transform, Path(path, number)) in &mut moving {
        *transform = path(frame.0 as f32, *number);
    }
}

/// A scene without its camera, and the path of the camera.
#[derive(Clone, Copy)]
pub(crate) struct Scene {
    pub(crate) name: &'static str,
    fill: fn(&mut World),
    camera: fn(f32, f32) -> Transform,
}

/// All scenes.
pub(crate) const SCENES: [Scene; 3] = [
    Scene {
        name: "slow pan over wires",
        fill: wires,
        camera: |frame, _| {
            // 0.3 pixels of the wires to the right, 0.1 up.
            let at = Vec3::new(0.0129 * frame, 0.0043 * frame, 5.0);
            Transform::from_translation(at)
        },
    },
    Scene {
        name: "turning textured cubes",
        fill: cubes,
        camera: |_, _| Transform::from_xyz(0.0, 0.0, 5.0),
    },
    Scene {
        name: "objects before a background",
        fill: passers,
        camera: |_, _| Transform::from_xyz(0.0, 0.0, 5.0),
    },
];

/// Checkers of two colors with all mip levels.
fn checkers(world: &mut World, side: usize, colors: [[u8; 3]; 2]) -> StandardMaterial {
    let mut level: Vec<[f32; 3]> = (0..side * side)
        .map(|at| {
            let is_second = (at % side / 8 + at / side / 8) % 2 == 1;
            colors[usize::from(is_second)].map(f32::from)
        })
        .collect();
    let (mut bytes, mut length) = (Vec::new(), side);
    loop {
        for [r, g, b] in &level {
            bytes.extend([*r, *g, *b, 255.0].map(|channel| channel as u8));
        }
        if length == 1 {
            break;
        }
        let half = length / 2;
        level = (0..half * half)
            .map(|at| {
                let first = at / half * 2 * length + at % half * 2;
                let texels = [first, first + 1, first + length, first + length + 1];
                std::array::from_fn(|channel| {
                    texels.iter().map(|at| level[*at][channel]).sum::<f32>() / 4.0
                })
            })
            .collect();
        length = half;
    }
    let size = Extent3d {
        width: side as u32,
        height: side as u32,
        depth_or_array_layers: 1,
    };
    let mut image = Image::new_uninit(
        size,
        TextureDimension::D2,
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::default(),
    );
    image.texture_descriptor.mip_level_count = side.ilog2() + 1;
    image.data = Some(bytes);
    image.sampler = ImageSampler::linear();
    let image = world.resource_mut::<Assets<Image>>().add(image);
    StandardMaterial {
        unlit: true,
        ..StandardMaterial::from(image)
    }
}

/// Dark and bright wires of a third to one pixel before a wall with wide stripes.
fn wires(world: &mut World) {
    let wall = Transform::from_xyz(0.0, 0.0, -2.0);
    spawn(world, Rectangle::new(40.0, 40.0), gray(0.25), wall);
    for number in 0..5_u8 {
        let x = f32::from(number) * 2.0 - 4.0;
        let stripe = Transform::from_xyz(x, 0.0, -1.9).with_rotation(Quat::from_rotation_z(0.3));
        spawn(world, Rectangle::new(0.7, 20.0), gray(0.5), stripe);
    }
    for number in 0..16_u8 {
        let at = f32::from(number);
        let width = 0.014 + 0.002 * at;
        let angle = if number % 2 == 0 { 0.02 } else { 0.04 } * (at + 1.0);
        let place = Transform::from_xyz(at * 0.4 - 2.8, 0.0, 0.0);
        let place = place.with_rotation(Quat::from_rotation_z(angle));
        let value = if number % 3 == 0 { 0.02 } else { 0.9 };
        spawn(world, Rectangle::new(width, 9.0), gray(value), place);
    }
    for number in 0..4_u8 {
        let at = f32::from(number);
        let place = Transform::from_xyz(0.0, at * 1.1 - 1.6, 0.1);
        let place = place.with_rotation(Quat::from_rotation_z(0.05 * at + 0.03));
        spawn(world, Rectangle::new(12.0, 0.03), gray(0.05), place);
    }
}

/// Four cubes with checkers that turn, each about another axis, before a plain wall.
fn cubes(world: &mut World) {
    let wall = Transform::from_xyz(0.0, 0.0, -3.0);
    spawn(world, Rectangle::new(40.0, 40.0), gray(0.3), wall);
    let material = checkers(world, 64, [[240, 220, 180], [30, 50, 90]]);
    for number in 0..4_u8 {
        let path: fn(f32, f32) -> Transform = |frame, number| {
            let corner = Vec2::from_angle(FRAC_PI_4 + number * TAU / 4.0) * Vec2::new(1.75, 1.4);
            let axis = Vec3::new(1.0, number - 1.5, 0.5 * number).normalize();
            Transform::from_translation(corner.extend(0.0))
                .with_rotation(Quat::from_axis_angle(axis, 0.02 * frame + number))
        };
        let mesh = Cuboid::from_length(1.0);
        let cube = spawn(world, mesh, material.clone(), Transform::default());
        let path = Path(path, f32::from(number));
        world.entity_mut(cube).insert(path);
    }
}

/// Balls and bars that pass before a wall of checkers.
fn passers(world: &mut World) {
    let material = checkers(world, 64, [[150, 160, 150], [90, 80, 110]]);
    for number in 0..12_u8 {
        let [x, y] = [number % 4, number / 4].map(f32::from);
        let place = Transform::from_xyz(x * 2.5 - 3.75, y * 2.5 - 2.5, -1.0);
        spawn(world, Rectangle::new(2.5, 2.5), material.clone(), place);
    }
    for number in 0..5_u8 {
        let path: fn(f32, f32) -> Transform = |frame, number| {
            // 0.7 to 2.3 pixels a frame.
            let speed = (0.03 + 0.017 * number) * if number % 2.0 == 0.0 { 1.0 } else { -1.0 };
            let x = (speed * frame + number * 1.3 + 3.0).rem_euclid(6.0) - 3.0;
            Transform::from_xyz(x, number * 0.7 - 1.4, 0.2 * number)
                .with_rotation(Quat::from_rotation_z(0.4 * number))
        };
        let value = 0.05 + 0.2 * f32::from(number);
        let passer = match number % 2 {
            0 => spawn(world, Sphere::new(0.3), gray(value), Transform::default()),
            _ => {
                let mesh = Rectangle::new(0.1, 0.9);
                spawn(world, mesh, gray(value), Transform::default())
            }
        };
        let path = Path(path, f32::from(number));
        world.entity_mut(passer).insert(path);
    }
}

impl Scene {
    /// An app with the scene, whose pictures have this size.
    pub(crate) fn rig(&self, [width, height]: [u32; 2], effects: impl Bundle) -> Rig {
        let mut rig = Rig::new(width, height);
        rig.app.insert_resource(Frame(0));
        rig.app.add_systems(Update, follow);
        rig.start();
        let world = rig.app.world_mut();
        (self.fill)(world);
        let camera = world.spawn(pixel_camera(height)).id();
        let projection = Projection::from(PerspectiveProjection::default());
        let path = Path(self.camera, 0.0);
        let mut camera = world.entity_mut(camera);
        camera.insert((projection, DebandDither::Disabled, path));
        camera.insert(effects);
        rig
    }

    /// Pictures of the measured frames.
    pub(crate) fn pictures(&self, effects: impl Bundle) -> Vec<Rows> {
        let mut rig = self.rig(SIZE, effects);
        let found: Arc<Mutex<Vec<(u32, Rows)>>> = Arc::default();
        for frame in 0..FIRST + MEASURED {
            rig.app.insert_resource(Frame(frame));
            if frame >= FIRST {
                let image = rig.app.world().resource::<Exact>().0.clone();
                let found = Arc::clone(&found);
                let mut readback = rig.app.world_mut().spawn(Readback::image(&image));
                readback.observe(move |done: On<ReadbackComplete>| {
                    let mut found = found.lock().expect("no panic");
                    found.push((frame, rows_of(&done.bytes)));
                });
            }
            rig.update(1);
        }
        rig.update(8);
        let mut found = std::mem::take(&mut *found.lock().expect("no panic"));
        assert_eq!(found.len(), MEASURED as usize, "all are read back");
        found.sort_by_key(|(frame, _)| *frame);
        found.into_iter().map(|(_, rows)| rows).collect()
    }

    /// Supersampled pictures of these frames: means of squares of a larger picture.
    pub(crate) fn supersampled(&self, frames: impl IntoIterator<Item = u32>) -> Vec<Rows> {
        let mut rig = self.rig(SIZE.map(|side| side * SUPERSAMPLING), ());
        frames
            .into_iter()
            .map(|frame| {
                rig.app.insert_resource(Frame(frame));
                let large = rig.exact_rows();
                let [width, height] = SIZE;
                (0..height)
                    .map(|y| (0..width).map(|x| mean(&large, [x, y])).collect())
                    .collect()
            })
            .collect()
    }
}

fn rows_of(bytes: &[u8]) -> Rows {
    let numbers = bytes.as_chunks::<4>().0.iter();
    let numbers: Vec<f32> = numbers.map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let texels = numbers.as_chunks::<4>().0;
    texels.chunks(SIZE[0] as usize).map(<[_]>::to_vec).collect()
}

/// Mean of the texels of a larger picture in a pixel.
fn mean(large: &Rows, [x, y]: [u32; 2]) -> [f32; 4] {
    let mut sum = [0.0; 4];
    let [left, top] = [x, y].map(|at| (at * SUPERSAMPLING) as usize);
    let side = SUPERSAMPLING as usize;
    for row in &large[top..top + side] {
        for texel in &row[left..left + side] {
            for (sum, channel) in sum.iter_mut().zip(texel) {
                *sum += channel / (SUPERSAMPLING * SUPERSAMPLING) as f32;
            }
        }
    }
    sum
}
