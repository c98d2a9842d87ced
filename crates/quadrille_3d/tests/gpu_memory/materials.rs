//! Materials that change at random: ours with a texture, and one of the program with a buffer.

use bevy_asset::RenderAssetUsages;
use bevy_ecs::prelude::*;
use quadrille_3d::prelude::*;

use super::common::Rig;
use super::{Random, Stage, add};

/// Number of entities with a material that changes.
const MATERIALS: usize = 10;

/// A material of the program.
#[derive(Asset, TypePath, AsBindGroup, Clone)]
pub(crate) struct Scaled {
    #[uniform(0)]
    color: LinearRgba,
    #[storage(1, read_only)]
    factors: Handle<ShaderBuffer>,
    #[texture(2)]
    #[sampler(3)]
    pattern: Handle<Image>,
}

const SCALED: &str = "
import bevy_pbr::render::forward_io::VertexOutput;

@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> color: vec4f;
@group(constants::MATERIAL_BIND_GROUP) @binding(1) var<storage, read> factors: array<f32>;
@group(constants::MATERIAL_BIND_GROUP) @binding(2) var pattern: texture_2d<f32>;
@group(constants::MATERIAL_BIND_GROUP) @binding(3) var pattern_sampler: sampler;

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    return color * factors[arrayLength(&factors) - 1u] * textureSample(pattern, pattern_sampler, mesh.uv);
}
";

const SHADER: Handle<Shader> = bevy_asset::uuid_handle!("0a3f6a55-7e0b-4d51-9c3e-5b1f0c6d2e11");

impl Material for Scaled {
    fn fragment_shader() -> ShaderRef {
        SHADER.into()
    }
}

/// Adds the shader of the program's material.
pub(crate) fn add_shader(rig: &mut Rig) {
    let mut shaders = rig.app.world_mut().resource_mut::<Assets<Shader>>();
    let shader = Shader::from_wgsl(SCALED, "scaled.wgsl");
    shaders
        .insert(SHADER.id(), shader)
        .expect("the handle is free");
}

fn color(random: &mut Random) -> LinearRgba {
    LinearRgba::rgb(random.below(256) as f32 / 255.0, 0.4, 0.2)
}

fn buffer(random: &mut Random) -> ShaderBuffer {
    let data = vec![0.5_f32; 1 + random.below(60_000)];
    ShaderBuffer::new(data, RenderAssetUsages::default())
}

/// Entities whose materials change.
#[derive(Default)]
pub(crate) struct Materials {
    square: Option<Handle<Mesh>>,
    standard: Vec<(Entity, Handle<StandardMaterial>)>,
    scaled: Vec<(Entity, Scaled, Handle<Scaled>)>,
}

impl Materials {
    /// Spawns missing entities, half of them with each type of material.
    pub(crate) fn fill(
        &mut self,
        world: &mut World,
        images: &[Handle<Image>],
        random: &mut Random,
    ) {
        let square = &mut self.square;
        let square = square.get_or_insert_with(|| add::<Mesh>(world, Rectangle::new(0.2, 0.2)));
        while self.standard.len() < MATERIALS / 2 {
            let material = StandardMaterial {
                base_color: color(random).into(),
                base_color_texture: Some(images[random.below(images.len())].clone()),
                ..StandardMaterial::default()
            };
            let material = add::<StandardMaterial>(world, material);
            let bundle = (Mesh3d(square.clone()), MeshMaterial3d(material.clone()));
            self.standard.push((world.spawn(bundle).id(), material));
        }
        while self.scaled.len() < MATERIALS / 2 {
            let material = Scaled {
                color: color(random),
                factors: add::<ShaderBuffer>(world, buffer(random)),
                pattern: images[random.below(images.len())].clone(),
            };
            let handle = add::<Scaled>(world, material.clone());
            let bundle = (Mesh3d(square.clone()), MeshMaterial3d(handle.clone()));
            self.scaled
                .push((world.spawn(bundle).id(), material, handle));
        }
    }

    /// Changes or removes a material of each type.
    pub(crate) fn change(
        &mut self,
        world: &mut World,
        images: &[Handle<Image>],
        random: &mut Random,
    ) {
        let at = random.below(self.standard.len());
        let image = images[random.below(images.len())].clone();
        match random.below(3) {
            0 => drop(world.despawn(self.standard.swap_remove(at).0)),
            kind => {
                let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
                let id = &self.standard[at].1;
                let mut material = materials.get_mut(id).expect("it is there");
                material.base_color = color(random).into();
                material.base_color_texture = (kind == 1).then_some(image.clone());
            }
        }
        let at = random.below(self.scaled.len());
        let (entity, material, handle) = &mut self.scaled[at];
        match random.below(4) {
            0 => {
                world.despawn(*entity);
                self.scaled.swap_remove(at);
            }
            1 => {
                let mut buffers = world.resource_mut::<Assets<ShaderBuffer>>();
                let other = buffer(random);
                buffers
                    .insert(material.factors.id(), other)
                    .expect("it is there");
            }
            _ => {
                (material.color, material.pattern) = (color(random), image);
                let mut materials = world.resource_mut::<Assets<Scaled>>();
                materials
                    .insert(handle.id(), material.clone())
                    .expect("it is there");
            }
        }
        self.fill(world, images, random);
    }
}

/// Bytes of all live buffers, on the host and on the device alike.
pub(crate) fn live(world: &World) -> usize {
    let buffers = world.resource::<Assets<ShaderBuffer>>().iter();
    buffers.map(|(_, buffer)| buffer.data.len()).sum()
}

impl Stage {
    /// Handles of the images of sprites, which materials sample too.
    pub(crate) fn handles(&self) -> Vec<Handle<Image>> {
        self.images.iter().map(|(_, image)| image.clone()).collect()
    }
}
