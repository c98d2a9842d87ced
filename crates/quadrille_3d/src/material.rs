//! Materials with their own shaders: bevy's `Material` and `MaterialPlugin` by name.

mod extended;
mod pipeline;

use std::any::TypeId;
use std::marker::PhantomData;

use bevy_app::{App, Plugin};
use bevy_asset::{Asset, AssetApp as _, AssetEvent, AssetServer, Assets};
use bevy_camera::visibility::NoCpuCulling;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::Allow;
use bevy_mesh::MeshVertexBufferLayoutRef;
use quadrille::ecs::{ContentKind, DrawnContent};
use quadrille::material::{AsBindGroup, BindingValues};
use quadrille::prelude::Render;
use quadrille_content::enabling::watch_materials;
use quadrille_content::materials::{
    MaterialLayout, RenderPipelineDescriptor, SpecializedMeshPipelineError, Specializers,
};
use quadrille_content::shaders::{ShaderRef, shader_handle};

use crate::components::material::{
    AlphaMode, MeshMaterial3d, OpaqueRendererMethod, StandardMaterial,
};
use crate::extract::custom_materials::{
    MaterialDesc, MaterialInstance, StageShaders, prepare_material_shaders,
};
use crate::extract::instances::Slot;
use crate::extract::materials::{MaterialSource, MaterialStore};
use crate::schedule::Prepare3dSystems;

pub use extended::{ExtendedMaterial, MaterialExtension};
pub use pipeline::{
    MaterialExtensionKey, MaterialExtensionPipeline, MaterialPipeline, MaterialPipelineKey,
};

/// A material with its own shaders, drawn by `MeshMaterial3d` if the app has its [`MaterialPlugin`].
///
/// Names and defaults are bevy's. Shaders declare its uniforms, textures, samplers and buffers at
/// `@group(constants::MATERIAL_BIND_GROUP)` with the numbers of the material's attributes. Vertex shaders take
/// `bevy_pbr::render::forward_io::Vertex`, fragment shaders `VertexOutput` of that module. All materials of one type share
/// one table, so they need only one indirect draw, culled on the device as for standard materials; skins, morph targets,
/// shadows and render layers apply. Materials with buffers, with textures of other kinds than `texture_2d<f32>` and with
/// textures that are passed to functions are drawn one by one. The fragment shader returns the color of the target: for a
/// camera without `Hdr` it applies the display transform itself, as in bevy, and `visibility_range_dither` of
/// `bevy_pbr::render::pbr_functions` to meshes that cross-fade.
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
/// An unusable shader is logged as an error, and its materials are magenta. Bounds for culling are those of the mesh,
/// whatever a vertex shader does: see `NoFrustumCulling`. Materials are only read: a storage buffer that a shader writes
/// and a storage texture are errors.
pub trait Material: Asset + AsBindGroup + Clone + Sized {
    /// The vertex shader. [`ShaderRef::Default`] is the one of all meshes.
    fn vertex_shader() -> ShaderRef {
        ShaderRef::Default
    }

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

    /// Whether meshes with this material are drawn after opaque ones, back to front, by cameras with
    /// [`ScreenSpaceTransmission`](crate::ScreenSpaceTransmission): its shader finds the color behind them in
    /// `bevy_pbr::render::mesh_view_bindings::view_transmission_texture`. Other cameras, and those whose `steps` are 0, draw it
    /// with another texture there.
    fn reads_view_transmission_texture(&self) -> bool {
        false
    }

    /// Whether meshes with materials of this type are drawn in prepasses ([`DepthPrepass`](crate::DepthPrepass)). In no
    /// prepass are those that blend, that need not write depth or compare it otherwise than by default
    /// ([`Self::specialize`]), and masks without a [`prepass_fragment_shader`](Self::prepass_fragment_shader).
    fn enable_prepass() -> bool {
        true
    }

    /// Whether meshes with materials of this type cast shadows.
    fn enable_shadows() -> bool {
        true
    }

    /// The vertex shader of prepasses and shadow maps, with `bevy_pbr::prepass::io::Vertex` and the shader def
    /// `PREPASS_PIPELINE`. [`ShaderRef::Default`] is the [vertex shader](Self::vertex_shader), so that both move with the
    /// mesh; in bevy it is that of all meshes.
    fn prepass_vertex_shader() -> ShaderRef {
        ShaderRef::Default
    }

    /// The fragment shader of prepasses and shadow maps, which may discard, with `bevy_pbr::prepass::io::VertexOutput`. With
    /// the shader def `NORMAL_PREPASS` it returns `FragmentOutput` of that module. [`ShaderRef::Default`] draws the whole
    /// surface.
    fn prepass_fragment_shader() -> ShaderRef {
        ShaderRef::Default
    }

    /// Method of cameras with [`DeferredPrepass`](crate::DeferredPrepass), if there is a
    /// [`deferred_fragment_shader`](Self::deferred_fragment_shader). Other materials are drawn forward.
    fn opaque_render_method(&self) -> OpaqueRendererMethod {
        OpaqueRendererMethod::Forward
    }

    /// The vertex shader of deferred meshes, with `bevy_pbr::prepass::io::Vertex` and the shader defs `PREPASS_PIPELINE` and
    /// `DEFERRED_PREPASS`. [`ShaderRef::Default`] is the [prepass vertex shader](Self::prepass_vertex_shader), or that of all
    /// meshes.
    fn deferred_vertex_shader() -> ShaderRef {
        ShaderRef::Default
    }

    /// The fragment shader of deferred meshes, with `bevy_pbr::prepass::io::VertexOutput`: it returns `FragmentOutput` of that
    /// module, from `bevy_pbr::deferred::functions::deferred_output`. With [`ShaderRef::Default`] meshes are drawn forward.
    fn deferred_fragment_shader() -> ShaderRef {
        ShaderRef::Default
    }

    /// Changes the state of the pipelines for meshes with this vertex layout and materials with this key, the value of
    /// [`bind_group_data`](AsBindGroup::bind_group_data).
    ///
    /// Vertex attributes of one's own are taken from the layout, and read at their location by the vertex shader:
    ///
    /// ```
    /// use bevy_mesh::{MeshVertexAttribute, MeshVertexBufferLayoutRef};
    /// use quadrille_3d::prelude::*;
    /// use quadrille_3d::{
    ///     MaterialPipeline, MaterialPipelineKey, RenderPipelineDescriptor, SpecializedMeshPipelineError,
    /// };
    /// use wgpu_types::VertexFormat;
    ///
    /// const BLEND_COLOR: MeshVertexAttribute =
    ///     MeshVertexAttribute::new("BlendColor", 988540917, VertexFormat::Float32x4);
    ///
    /// # #[derive(Asset, TypePath, AsBindGroup, Clone)]
    /// # struct Blended {}
    /// impl Material for Blended {
    ///     fn vertex_shader() -> ShaderRef { "shaders/blended.wgsl".into() }
    ///     fn fragment_shader() -> ShaderRef { "shaders/blended.wgsl".into() }
    ///     fn specialize(
    ///         _: &MaterialPipeline,
    ///         descriptor: &mut RenderPipelineDescriptor,
    ///         layout: &MeshVertexBufferLayoutRef,
    ///         _: MaterialPipelineKey<Self>,
    ///     ) -> Result<(), SpecializedMeshPipelineError> {
    ///         let attributes = [
    ///             Mesh::ATTRIBUTE_POSITION.at_shader_location(0),
    ///             BLEND_COLOR.at_shader_location(1),
    ///         ];
    ///         descriptor.vertex.buffers = vec![layout.0.get_layout(&attributes)?];
    ///         Ok(())
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// Meshes with this layout are not drawn, and the error is logged once.
    fn specialize(
        _pipeline: &MaterialPipeline,
        _descriptor: &mut RenderPipelineDescriptor,
        _layout: &MeshVertexBufferLayoutRef,
        _key: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        Ok(())
    }

    /// The standard material that this one extends.
    #[doc(hidden)]
    fn standard_base(&self) -> Option<&StandardMaterial> {
        None
    }

    /// Whether the default of the fragment shader is standard shading.
    #[doc(hidden)]
    fn extends_standard() -> bool {
        false
    }
}

/// Draws meshes with materials of one type: `MeshMaterial3d<M>`. Add it in addition to
/// [`Quadrille3dPlugin`](crate::Quadrille3dPlugin).
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
        let drawn = app.world().get_resource::<DrawnContent>();
        if !drawn.is_some_and(|drawn| drawn.contains(ContentKind::ThreeD)) {
            tracing::error!(
                "`MaterialPlugin<{name}>` draws nothing without `Quadrille3dPlugin`. Add it to the app"
            );
            return;
        }
        if !app.world().contains_resource::<Assets<M>>() {
            add_material::<M>(app);
        }
        let server = app.world().resource::<AssetServer>().clone();
        let handle = |shader| shader_handle(shader, |path| server.load(path));
        let shaders = StageShaders {
            vertex: handle(M::vertex_shader()),
            fragment: handle(M::fragment_shader()),
            prepass_vertex: handle(M::prepass_vertex_shader()),
            prepass_fragment: handle(M::prepass_fragment_shader()),
            deferred_vertex: handle(M::deferred_vertex_shader()),
            deferred_fragment: handle(M::deferred_fragment_shader()),
            enable_prepass: M::enable_prepass(),
            extends_standard: M::extends_standard(),
        };
        let layout = MaterialLayout::new(M::bindings());
        let mut store = app.world_mut().get_resource_or_init::<MaterialStore>();
        let custom = &mut store.custom;
        custom.add_type(TypeId::of::<M>(), name, layout, shaders);
        watch_materials::<M, MeshMaterial3d<M>, MaterialInstance>(app.world_mut());
        app.add_systems(
            Render,
            (
                remove_material_instances::<M>.in_set(RemovedInstances),
                (extract_material_instances::<M>, extract_materials::<M>).after(RemovedInstances),
            )
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

/// Systems that apply removed components, before added ones are applied.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RemovedInstances;

/// Filter of changed components, and of entities from which the material of another type was removed, including those of
/// disabled entities.
type ChangedMaterials<M> = (
    Or<(Changed<MeshMaterial3d<M>>, Changed<MaterialInstance>)>,
    Allow<Disabled>,
);

/// Removes the asset IDs of removed components from their entities.
fn remove_material_instances<M: Material>(
    mut removed: RemovedComponents<MeshMaterial3d<M>>,
    mut without: Query<&mut MaterialInstance, (Without<MeshMaterial3d<M>>, Allow<Disabled>)>,
) {
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

/// Copies the asset ID of each changed component to the untyped component that the extraction of meshes reads. Of several
/// types on one entity the one that changed last is drawn.
fn extract_material_instances<M: Material>(
    mut changed: Query<(Ref<MeshMaterial3d<M>>, &mut MaterialInstance), ChangedMaterials<M>>,
) {
    for (material, mut instance) in &mut changed {
        if material.is_changed() || instance.0.is_none() {
            instance.set_if_neq(MaterialInstance(Some(material.id().untyped())));
        }
    }
}

/// Updates the rows of changed materials.
fn extract_materials<M: Material>(
    mut events: MessageReader<AssetEvent<M>>,
    materials: Res<Assets<M>>,
    mut store: ResMut<MaterialStore>,
    mut source: MaterialSource,
    mut specializers: Local<Specializers<M::Data>>,
) {
    let mut has_changed = false;
    for event in events.read() {
        match *event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                if let Some(material) = materials.get(id) {
                    let ids = (id.untyped(), TypeId::of::<M>());
                    store.put_custom(ids, describe(material, &mut specializers), &mut source);
                }
            }
            AssetEvent::Removed { id } => store.remove_custom(id.untyped()),
            AssetEvent::Unused { id } => store.forget_custom(id.untyped()),
            AssetEvent::LoadedWithDependencies { .. } => {}
        }
        has_changed = true;
    }
    if has_changed {
        specializers.forget_unused();
    }
}

fn describe<M: Material>(material: &M, specializers: &mut Specializers<M::Data>) -> MaterialDesc {
    let mut values = BindingValues::default();
    material.write_bindings(&mut values);
    let specialize = specializers.get(material.bind_group_data(), |data| {
        let key = MaterialPipelineKey::<M>::new(data);
        move |descriptor: &mut _, layout: &_| {
            M::specialize(&MaterialPipeline, descriptor, layout, key.clone())
        }
    });
    MaterialDesc {
        values,
        alpha_mode: material.alpha_mode(),
        depth_bias: material.depth_bias(),
        reads_transmission: material.reads_view_transmission_texture(),
        opaque_render_method: material.opaque_render_method(),
        specialize,
        casts_shadows: M::enable_shadows(),
        base: material.standard_base().cloned().map(Box::new),
    }
}
