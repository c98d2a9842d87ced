//! Memory of host and device while assets change at random, under 2D and 3D. `cargo test -p quadrille_3d
//! --test gpu_memory -- --ignored`; without a device it fails. `QUADRILLE_MEMORY_FRAMES` asks for more frames
//! (2000), `QUADRILLE_MEMORY_SEED` for other changes.

#[allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "tests that share a module use different parts of it"
)]
mod common;
#[path = "gpu_memory/materials.rs"]
mod materials;

use bevy_app::Startup;
use bevy_asset::{Asset, RenderAssetUsages};
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_mesh::{Indices, PrimitiveTopology};
use common::Rig;
use materials::{Materials, Scaled};
use quadrille::prelude::GpuDevice;
use quadrille::vulkan::resources::MemoryUse;
use quadrille_2d::Quadrille2dPlugin;
use quadrille_2d::prelude::{
    Camera2d, ColorMaterial, Mesh2d, MeshMaterial2d, Sprite, Text2d, TextFont,
};
use quadrille_3d::Quadrille3dPlugin;
use quadrille_3d::prelude::*;
use quadrille_3d::resources::{Bounds3d, Instances3d};
use wgpu_types::{Extent3d, TextureDimension, TextureFormat};

/// Bytes of a vertex and an index on the device.
const VERTEX_3D: usize = 72;
const VERTEX_2D: usize = 36;
const INDEX: usize = 4;

/// Bytes that tables, staging and spare capacity take on the device in any case: 2 MiB of spare capacity in each of
/// four mesh buffers, and three staging buffers for the largest frame.
const DEVICE_CONSTANT: usize = 32 << 20;

/// Frames with changes before resident memory is measured: draws of each kind have compiled their shaders by then, and
/// the allocator retains the freed memory of a typical change.
const WARM_UP: u64 = 60;

/// Additional bytes on the host after these frames, where each thread's part of the allocator retains freed memory.
const HOST_CONSTANT: usize = 64 << 20;

const MESHES: usize = 12;
const IMAGES: usize = 8;
const TEXTS: usize = 6;

/// A small random generator.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % count as u64) as usize
    }
}

/// An entity with a mesh.
struct MeshEntity {
    entity: Entity,
    mesh: Handle<Mesh>,
    vertices: usize,
    indices: usize,
}

/// Randomly changed entities and assets.
#[derive(Default)]
struct Stage {
    meshes_3d: Vec<MeshEntity>,
    meshes_2d: Vec<MeshEntity>,
    images: Vec<(Entity, Handle<Image>)>,
    texts: Vec<Entity>,
    materials: Materials,
}

fn usages(random: &mut Random) -> RenderAssetUsages {
    match random.below(2) {
        0 => RenderAssetUsages::RENDER_WORLD,
        _ => RenderAssetUsages::default(),
    }
}

/// A mesh of some thousand vertices with few or many indices, and the counts of both.
fn mesh(random: &mut Random) -> (Mesh, [usize; 2]) {
    let count = 100 + random.below(12_000);
    let indices = match random.below(2) {
        0 => vec![0, 1, 2],
        _ => (0..3 * count as u32).map(|at| at % count as u32).collect(),
    };
    let position = |at: usize| [at as f32 * 1e-4, (at % 7) as f32 * 0.1, 0.0];
    let positions: Vec<_> = (0..count).map(position).collect();
    let counts = [count, indices.len()];
    let mesh = Mesh::new(PrimitiveTopology::TriangleList, usages(random))
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, vec![[0.0, 0.0, 1.0]; count])
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, vec![[0.5, 0.5]; count])
        .with_inserted_indices(Indices::U32(indices));
    (mesh, counts)
}

fn image(random: &mut Random) -> Image {
    let side = 16 << random.below(5);
    let size = Extent3d {
        width: side,
        height: side,
        depth_or_array_layers: 1,
    };
    let format = TextureFormat::Rgba8UnormSrgb;
    let color = [random.below(256) as u8, 90, 30, 255];
    Image::new_fill(size, TextureDimension::D2, &color, format, usages(random))
}

fn text(random: &mut Random) -> (Text2d, TextFont) {
    let length = 1 + random.below(12);
    let letters = (0..length).map(|_| char::from(b'a' + random.below(26) as u8));
    let letters: String = letters.collect();
    let size = 8.0 + 4.0 * random.below(4) as f32;
    (Text2d::new(letters), TextFont::from_font_size(size))
}

fn cameras(mut commands: Commands) {
    let eye = Transform::from_xyz(0.0, 0.0, 3.0);
    commands.spawn((Camera3d::default(), eye.looking_at(Vec3::ZERO, Vec3::Y)));
    let over = Camera {
        order: 1,
        clear_color: ClearColorConfig::None,
        ..Camera::default()
    };
    commands.spawn((Camera2d, over));
}

fn add<A: Asset>(world: &mut World, asset: impl Into<A>) -> Handle<A> {
    world.resource_mut::<Assets<A>>().add(asset.into())
}

/// Spawns an entity with a mesh.
fn spawn_mesh<B: Bundle>(
    world: &mut World,
    random: &mut Random,
    bundle: impl FnOnce(Handle<Mesh>, &mut World) -> B,
) -> MeshEntity {
    let (mesh, [vertices, indices]) = mesh(random);
    let mesh = add::<Mesh>(world, mesh);
    let bundle = bundle(mesh.clone(), world);
    MeshEntity {
        entity: world.spawn(bundle).id(),
        mesh,
        vertices,
        indices,
    }
}

impl Stage {
    /// Spawns missing entities and assets.
    fn fill(&mut self, world: &mut World, random: &mut Random) {
        while self.meshes_3d.len() < MESHES {
            let shown = spawn_mesh(world, random, |mesh, world| {
                let material = add::<StandardMaterial>(world, Color::WHITE);
                (Mesh3d(mesh), MeshMaterial3d(material))
            });
            self.meshes_3d.push(shown);
        }
        while self.meshes_2d.len() < MESHES {
            let shown = spawn_mesh(world, random, |mesh, world| {
                let material = add::<ColorMaterial>(world, Color::WHITE);
                (Mesh2d(mesh), MeshMaterial2d(material))
            });
            self.meshes_2d.push(shown);
        }
        while self.images.len() < IMAGES {
            let image = add::<Image>(world, image(random));
            let sprite = world.spawn(Sprite::from_image(image.clone())).id();
            self.images.push((sprite, image));
        }
        while self.texts.len() < TEXTS {
            self.texts.push(world.spawn(text(random)).id());
        }
        let images = self.handles();
        self.materials.fill(world, &images, random);
    }

    /// Replaces, touches and removes assets and entities.
    fn change(&mut self, world: &mut World, random: &mut Random) {
        let [a, b] = [random.below(MESHES), random.below(MESHES)];
        for shown in [&mut self.meshes_3d[a], &mut self.meshes_2d[b]] {
            let (other, [vertices, indices]) = mesh(random);
            let mut meshes = world.resource_mut::<Assets<Mesh>>();
            meshes.insert(shown.mesh.id(), other).expect("it is there");
            (shown.vertices, shown.indices) = (vertices, indices);
        }
        let at = random.below(IMAGES);
        let other = image(random);
        let mut images = world.resource_mut::<Assets<Image>>();
        let mut known = images.get_mut(&self.images[at].1).expect("it is there");
        // Some images change in place, others also change their size.
        match &mut known.data {
            Some(data) if random.below(2) == 0 => data.fill(random.below(256) as u8),
            _ => *known = other,
        }
        drop(known);
        match random.below(4) {
            0 => drop(world.despawn(self.meshes_3d.swap_remove(a).entity)),
            1 => drop(world.despawn(self.meshes_2d.swap_remove(b).entity)),
            2 => drop(world.despawn(self.images.swap_remove(at).0)),
            _ => {
                let at = random.below(TEXTS);
                world.entity_mut(self.texts[at]).insert(text(random));
            }
        }
        self.fill(world, random);
        let images = self.handles();
        self.materials.change(world, &images, random);
    }

    /// Bytes of all live assets: on the host, and on the device.
    fn live(&self, world: &World) -> [usize; 2] {
        let buffers = materials::live(world);
        let (mut host, mut device) = (buffers, buffers);
        for (_, image) in world.resource::<Assets<Image>>().iter() {
            host += image.data.as_ref().map_or(0, Vec::len);
            let size = image.texture_descriptor.size;
            device += 4 * (size.width * size.height * size.depth_or_array_layers) as usize;
        }
        let meshes = world.resource::<Assets<Mesh>>();
        for (all, vertex) in [(&self.meshes_3d, VERTEX_3D), (&self.meshes_2d, VERTEX_2D)] {
            for shown in all {
                let mesh = meshes.get(&shown.mesh).expect("it is there");
                if mesh.try_indices().is_ok() {
                    host += shown.vertices * 32 + shown.indices * INDEX;
                }
                device += shown.vertices * vertex + shown.indices * INDEX;
            }
        }
        [host, device]
    }
}

/// Resident bytes of the process.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux tells");
    let pages = statm.split(' ').nth(1).and_then(|it| it.parse().ok());
    pages.map_or(0, |pages: usize| pages * 4096)
}

fn memory(world: &World) -> MemoryUse {
    world.resource::<GpuDevice>().memory_use()
}

fn number(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.and_then(|it| it.parse().ok()).unwrap_or(default)
}

#[test]
#[ignore = "needs a device"]
fn gpu_memory_follows_live_assets() {
    let frames = number("QUADRILLE_MEMORY_FRAMES", 240);
    let mut random = Random(number("QUADRILLE_MEMORY_SEED", 1) << 32 | 0x7f4a_7c15);
    let plugins = (
        Quadrille3dPlugin::default(),
        Quadrille2dPlugin::default(),
        MaterialPlugin::<Scaled>::default(),
    );
    let mut rig = Rig::with(64, 48, plugins);
    materials::add_shader(&mut rig);
    rig.app.add_systems(Startup, cameras);
    rig.start();
    rig.update(8);
    let base = memory(rig.app.world()).used as usize;
    let mut warm = 0;
    let mut stage = Stage::default();
    stage.fill(rig.app.world_mut(), &mut random);
    rig.update(8);
    let mut most = [0.0_f64; 2];
    for frame in 1..=frames {
        stage.change(rig.app.world_mut(), &mut random);
        rig.update(1);
        if frame % 20 > 0 {
            continue;
        }
        // Replaced resources are destroyed when no pending frame uses them.
        rig.update(4);
        let [host, device] = stage.live(rig.app.world());
        let used = memory(rig.app.world()).used as usize;
        let on_device = used.saturating_sub(base);
        if frame <= WARM_UP {
            warm = resident();
        }
        let whole = resident().saturating_sub(warm);
        let [limit, whole_limit] = [
            device * 3 / 2 + DEVICE_CONSTANT,
            (host + device) * 3 / 2 + HOST_CONSTANT,
        ];
        most[0] = most[0].max(on_device as f64 / limit as f64);
        most[1] = most[1].max(whole as f64 / whole_limit as f64);
        assert!(
            on_device <= limit,
            "frame {frame}: {on_device} bytes on the device for {device} of live assets"
        );
        assert!(
            whole <= whole_limit,
            "frame {frame}: {whole} more bytes are resident for {host} of live assets and {device} on the device"
        );
    }
    let [device, whole] = most.map(|share| 100.0 * share);
    println!("{frames} frames: {device:.0} % of the limit on the device, {whole:.0} % in all");
}

#[test]
#[ignore = "needs a device"]
fn rows_of_a_peak_of_entities_are_given_back() {
    const PEAK: usize = 40_000;
    let mut rig = Rig::with(64, 48, Quadrille3dPlugin::default());
    rig.app.add_systems(Startup, cameras);
    rig.start();
    let world = rig.app.world_mut();
    let mesh = add::<Mesh>(world, Cuboid::from_length(0.1));
    let material = add::<StandardMaterial>(world, Color::WHITE);
    let bundle = (Mesh3d(mesh), MeshMaterial3d(material));
    let bytes = |rig: &Rig| {
        let world = rig.app.world();
        let buffers = [
            &**world.resource::<Instances3d>(),
            &**world.resource::<Bounds3d>(),
        ];
        buffers.map(|buffer| buffer.bytes() as usize)
    };
    world.spawn(bundle.clone());
    rig.update(2);
    let before = bytes(&rig);
    let world = rig.app.world_mut();
    let crowd: Vec<Entity> = (0..PEAK)
        .map(|_| world.spawn(bundle.clone()).id())
        .collect();
    rig.update(2);
    let peak = bytes(&rig);
    assert!(peak.iter().all(|bytes| *bytes > 32 * PEAK), "{peak:?}");
    for entity in crowd {
        rig.app.world_mut().despawn(entity);
    }
    rig.update(2);
    let after = bytes(&rig);
    assert!(
        after.iter().zip(peak).all(|(after, peak)| 4 * after < peak),
        "{before:?}, {peak:?}, {after:?}"
    );
    let pixels = rig.picture().pixels;
    assert!(
        pixels.iter().any(|pixel| *pixel != pixels[0]),
        "the mesh is drawn"
    );
}
