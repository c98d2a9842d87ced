//! Forward decals, by bevy's names: quads that are drawn on the surfaces before or behind them; with clustered decals.

use std::f32::consts::FRAC_PI_2;

use bevy_app::{App, Plugin};
use bevy_asset::{Asset, AssetApp as _, AssetServer, Assets, Handle, uuid_handle};
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use bevy_math::Quat;
use bevy_mesh::{Mesh, Mesh3d, MeshVertexBufferLayoutRef};
use bevy_reflect::Reflect;
use bevy_reflect::std_traits::ReflectDefault;
use bevy_shape::Rectangle;
use quadrille::material::AsBindGroup;
use quadrille_content::materials::{RenderPipelineDescriptor, SpecializedMeshPipelineError};
use quadrille_content::shaders::{Shader, ShaderRef};
use wgpu_types::CompareFunction;

use crate::components::material::StandardMaterial;
use crate::material::{
    ExtendedMaterial, MaterialExtension, MaterialExtensionKey, MaterialExtensionPipeline,
    MaterialPlugin,
};
use crate::prepare::decals::ClusteredDecalPlugin;

/// The fragment shader.
const SHADER: Handle<Shader> = uuid_handle!("5b2f61c4-6f0e-4d0b-9d29-3f5f1a7b4c1e");

/// Adds decals: forward ones of standard materials, and clustered ones.
pub(crate) struct DecalPlugin;

impl Plugin for DecalPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ForwardDecal>()
            .register_type::<ForwardDecalMaterialExt>()
            .add_plugins((
                ClusteredDecalPlugin,
                MaterialPlugin::<ForwardDecalMaterial<StandardMaterial>>::default(),
            ))
            .register_asset_reflect::<ForwardDecalMaterial<StandardMaterial>>();
        if !app.world().contains_resource::<AssetServer>() {
            return;
        }
        let world = app.world_mut();
        let mesh = world.resource_mut::<Assets<Mesh>>().add(quad());
        world.insert_resource(ForwardDecalMesh(mesh));
        let shader = Shader::from_wgsl(
            include_str!("../shaders/forward_decal.wgsl"),
            "quadrille_3d/forward_decal.wgsl",
        );
        // Cannot fail: the handle has a UUID.
        let _ = world
            .resource_mut::<Assets<Shader>>()
            .insert(&SHADER, shader);
    }
}

/// A quad of sides 1 with its normal along y.
fn quad() -> Mesh {
    let quad = Mesh::from(Rectangle::new(1.0, 1.0));
    let quad = quad.rotated_by(Quat::from_rotation_x(-FRAC_PI_2));
    let vertices = quad.count_vertices();
    quad.with_inserted_attribute(
        Mesh::ATTRIBUTE_TANGENT,
        vec![[1.0, 0.0, 0.0, 1.0]; vertices],
    )
}

/// A decal that is drawn as a quad of sides 1, by bevy's name: it shows its material on the opaque surfaces before or
/// behind the quad, projected along its normal (y), and fades with their distance.
///
/// The entity needs `MeshMaterial3d` with a [`ForwardDecalMaterial`], and cameras need
/// [`DepthPrepass`](crate::DepthPrepass), without which they show no decals. A `Mesh3d` of the entity with tangents
/// replaces the quad.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use quadrille_3d::prelude::*;
/// use quadrille_3d::{ForwardDecal, ForwardDecalMaterial, ForwardDecalMaterialExt};
///
/// fn spawn(
///     mut commands: Commands,
///     mut materials: ResMut<Assets<ForwardDecalMaterial<StandardMaterial>>>,
/// ) {
///     let material = materials.add(ForwardDecalMaterial {
///         base: StandardMaterial {
///             alpha_mode: AlphaMode::Blend,
///             ..StandardMaterial::from(Color::srgba(1.0, 0.0, 0.0, 0.5))
///         },
///         extension: ForwardDecalMaterialExt {
///             depth_fade_factor: 1.0,
///         },
///     });
///     commands.spawn((ForwardDecal, MeshMaterial3d(material), Transform::IDENTITY));
///     commands.spawn((Camera3d::default(), DepthPrepass));
/// }
/// ```
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
#[require(Mesh3d)]
#[component(on_add = set_mesh)]
pub struct ForwardDecal;

/// Material of a [`ForwardDecal`], by bevy's name.
pub type ForwardDecalMaterial<B> = ExtendedMaterial<B, ForwardDecalMaterialExt>;

/// Extension of materials for a [`ForwardDecal`], with bevy's field and default.
#[derive(Asset, AsBindGroup, Clone, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct ForwardDecalMaterialExt {
    /// Distance from the quad along its normal at which the decal has faded out, in meters. Opaque materials do not
    /// fade.
    #[uniform(200)]
    pub depth_fade_factor: f32,
}

impl Default for ForwardDecalMaterialExt {
    fn default() -> Self {
        Self {
            depth_fade_factor: 8.0,
        }
    }
}

impl MaterialExtension for ForwardDecalMaterialExt {
    fn fragment_shader() -> ShaderRef {
        SHADER.into()
    }

    fn enable_prepass() -> bool {
        false
    }

    fn enable_shadows() -> bool {
        false
    }

    /// The quad is drawn where surfaces hide it, too.
    fn specialize(
        _pipeline: &MaterialExtensionPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        _layout: &MeshVertexBufferLayoutRef,
        _key: MaterialExtensionKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        if let Some(depth) = &mut descriptor.depth_stencil {
            depth.depth_compare = Some(CompareFunction::Always);
            depth.depth_write_enabled = Some(false);
        }
        Ok(())
    }

    fn blends_opaque() -> bool {
        true
    }
}

/// Quad of decals without a mesh of their own.
#[derive(Resource)]
struct ForwardDecalMesh(Handle<Mesh>);

fn set_mesh(mut world: DeferredWorld<'_>, HookContext { entity, .. }: HookContext) {
    let Some(quad) = world.get_resource::<ForwardDecalMesh>() else {
        return;
    };
    let quad = quad.0.clone();
    if let Some(mut mesh) = world.get_mut::<Mesh3d>(entity)
        && mesh.0 == Handle::default()
    {
        mesh.0 = quad;
    }
}
