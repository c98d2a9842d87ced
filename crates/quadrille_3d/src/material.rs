//! Materials with their own shaders: bevy's `Material` and `MaterialPlugin` by name.

use std::any::TypeId;
use std::marker::PhantomData;

use bevy_app::{App, Plugin};
use bevy_asset::{Asset, AssetApp as _, AssetEvent, AssetServer, Assets};
use bevy_camera::visibility::NoCpuCulling;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::Allow;
use quadrille::ecs::DrawnContent;
use quadrille::material::{AsBindGroup, BindingValues};
use quadrille::prelude::Render;
use quadrille_content::materials::MaterialLayout;
use quadrille_content::shaders::{ShaderRef, shader_handle};
use wgpu_types::Face;

use crate::components::material::{AlphaMode, MeshMaterial3d};
use crate::extract::custom_materials::{MaterialDesc, MaterialInstance, prepare_material_shaders};
use crate::extract::instances::Slot;
use crate::extract::materials::{MaterialSource, MaterialStore};
use crate::plugin::Quadrille3dPlugin;
use crate::scene::keys::CullMode;
use crate::schedule::Prepare3dSystems;

/// A material with its own fragment shader, drawn by `MeshMaterial3d` if the app has its [`MaterialPlugin`].
///
/// Names and defaults are bevy's. The shader declares its uniforms, textures and samplers at
/// `@group(constants::MATERIAL_BIND_GROUP)` with the numbers of the material's attributes, and takes
/// `bevy_pbr::render::forward_io::VertexOutput`. All materials of one type share one table, so they need only one
/// indirect draw, culled on the device as for standard materials; skins, morph targets, shadows and render layers
/// apply. The shader returns the color of the target: for a camera without `Hdr` it applies the display transform
/// itself, as in bevy.
///
/// ```
/// use quadrille_3d::prelude::*;
///
/// #[derive(Asset, TypePath, AsBindGroup, Clone)]
/// struct Stripes {
///     #[uniform(0)]
///     color: LinearRgba,
///     #[texture(1)]
///     #[sampler(2)]
///     pattern: Option<Handle<Image>>,
/// }
///
/// impl Material for Stripes {
///     fn fragment_shader() -> ShaderRef {
///         "shaders/stripes.wgsl".into()
///     }
/// }
/// ```
///
/// ```wgsl
/// import bevy_pbr::render::forward_io::VertexOutput;
///
/// @group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> color: vec4f;
/// @group(constants::MATERIAL_BIND_GROUP) @binding(1) var pattern: texture_2d<f32>;
/// @group(constants::MATERIAL_BIND_GROUP) @binding(2) var pattern_sampler: sampler;
///
/// @fragment
/// fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
///     return color * textureSample(pattern, pattern_sampler, mesh.uv);
/// }
/// ```
///
/// Not supported: shaders of other stages, storage buffers, textures other than `texture_2d<f32>`, and bindings that an
/// imported file declares. An unusable shader is logged as an error, and its materials are magenta.
pub trait Material: Asset + AsBindGroup + Clone + Sized {
    /// The fragment shader. [`ShaderRef::Default`] draws magenta, as in bevy.
    fn fragment_shader() -> ShaderRef {
        ShaderRef::Default
    }

    /// Alpha mode. For [`AlphaMode::Mask`] the shader discards fragments itself.
    fn alpha_mode(&self) -> AlphaMode {
        AlphaMode::Opaque
    }

    /// Depth bias towards the camera: see [`StandardMaterial::depth_bias`](crate::StandardMaterial::depth_bias).
    fn depth_bias(&self) -> f32 {
        0.0
    }

    /// Whether meshes with materials of this type cast shadows. The whole surface does, regardless of alpha.
    fn enable_shadows() -> bool {
        true
    }

    /// Changes the fixed state of the pipeline for materials with this key, the value of
    /// [`bind_group_data`](AsBindGroup::bind_group_data).
    fn specialize(_pipeline: &mut MaterialPipelineDesc, _key: MaterialPipelineKey<Self>) {}
}

/// Fixed state of a material's pipeline that [`Material::specialize`] may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaterialPipelineDesc {
    /// Culled faces.
    pub cull_mode: Option<Face>,
}

/// Key of a material's pipeline, for [`Material::specialize`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaterialPipelineKey<M: Material> {
    /// [`AsBindGroup::bind_group_data`] of the material.
    pub bind_group_data: M::Data,
}

/// Draws meshes with materials of one type: `MeshMaterial3d<M>`. Add it in addition to [`Quadrille3dPlugin`].
pub struct MaterialPlugin<M: Material>(PhantomData<fn() -> M>);

impl<M: Material> Default for MaterialPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<M: Material> Plugin for MaterialPlugin<M> {
    fn build(&self, app: &mut App) {
        if app.world().contains_resource::<AssetServer>() {
            add_material::<M>(app);
        }
    }

    fn finish(&self, app: &mut App) {
        let name = M::short_type_path();
        if !app.is_plugin_added::<Quadrille3dPlugin>() {
            tracing::error!(
                "`MaterialPlugin<{name}>` draws nothing without `Quadrille3dPlugin`. Add it to the app"
            );
            return;
        }
        if !app.world().contains_resource::<Assets<M>>() {
            add_material::<M>(app);
        }
        let server = app.world().resource::<AssetServer>().clone();
        let handle = shader_handle(M::fragment_shader(), |path| server.load(path));
        let layout = MaterialLayout::new(M::bindings());
        let mut store = app.world_mut().get_resource_or_init::<MaterialStore>();
        let custom = &mut store.custom;
        custom.add_type(TypeId::of::<M>(), name, layout, handle);
        app.add_systems(
            Render,
            (extract_material_instances::<M>, extract_materials::<M>)
                .in_set(Prepare3dSystems::Extract)
                .before(prepare_material_shaders),
        );
    }
}

/// Registers the asset and the components that a mesh with it requires.
fn add_material<M: Material>(app: &mut App) {
    app.init_asset::<M>()
        .register_type::<MeshMaterial3d<M>>()
        .register_required_components::<MeshMaterial3d<M>, Slot>()
        .register_required_components::<MeshMaterial3d<M>, MaterialInstance>()
        .register_required_components::<MeshMaterial3d<M>, NoCpuCulling>();
    let mut drawn = app.world_mut().get_resource_or_init::<DrawnContent>();
    drawn.add_component::<MeshMaterial3d<M>>();
}

/// Filter of changed components, including those of disabled entities.
type ChangedMaterials<M> = (Changed<MeshMaterial3d<M>>, Allow<Disabled>);

/// Copies the asset ID of each changed component to the untyped component that the extraction of meshes reads.
fn extract_material_instances<M: Material>(
    mut changed: Query<(&MeshMaterial3d<M>, &mut MaterialInstance), ChangedMaterials<M>>,
    mut removed: RemovedComponents<MeshMaterial3d<M>>,
    mut without: Query<&mut MaterialInstance, (Without<MeshMaterial3d<M>>, Allow<Disabled>)>,
) {
    for (material, mut instance) in &mut changed {
        instance.set_if_neq(MaterialInstance(Some(material.id().untyped())));
    }
    for entity in removed.read() {
        if let Ok(mut instance) = without.get_mut(entity)
            && instance
                .0
                .is_some_and(|id| id.type_id() == TypeId::of::<M>())
        {
            instance.0 = None;
        }
    }
}

/// Updates the rows of changed materials.
fn extract_materials<M: Material>(
    mut events: MessageReader<AssetEvent<M>>,
    materials: Res<Assets<M>>,
    mut store: ResMut<MaterialStore>,
    mut source: MaterialSource,
) {
    for event in events.read() {
        match *event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                if let Some(material) = materials.get(id) {
                    let ids = (id.untyped(), TypeId::of::<M>());
                    store.put_custom(ids, describe(material), &mut source);
                }
            }
            AssetEvent::Removed { id } => store.remove_custom(id.untyped()),
            AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => {}
        }
    }
}

fn describe<M: Material>(material: &M) -> MaterialDesc {
    let mut values = BindingValues::default();
    material.write_bindings(&mut values);
    let mut pipeline = MaterialPipelineDesc {
        cull_mode: Some(Face::Back),
    };
    let key = MaterialPipelineKey {
        bind_group_data: material.bind_group_data(),
    };
    M::specialize(&mut pipeline, key);
    MaterialDesc {
        values,
        alpha_mode: material.alpha_mode(),
        depth_bias: material.depth_bias(),
        cull: CullMode::new(pipeline.cull_mode),
        casts_shadows: M::enable_shadows(),
    }
}
