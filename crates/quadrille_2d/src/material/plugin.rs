//! Registration and extraction of one material type.

use std::any::TypeId;
use std::marker::PhantomData;

use bevy_app::App;
use bevy_asset::{AsAssetId, Asset, AssetApp as _, AssetEvent, AssetServer, Assets};
use bevy_ecs::component::Mutable;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::Allow;
use bevy_mesh::MeshVertexBufferLayoutRef;
use bevy_reflect::GetTypeRegistration;
use quadrille::ecs::DrawnContent;
use quadrille::material::{AsBindGroup, BindingValues};
use quadrille::prelude::Render;
use quadrille_content::enabling::watch_materials;
use quadrille_content::materials::{
    MaterialLayout, RenderPipelineDescriptor, SpecializedMeshPipelineError, Specializers,
};
use quadrille_content::shaders::{Shader, ShaderRef, shader_handle};

use crate::instances::mesh_instance::AlphaMode;
use crate::plugin::{Prepare2dSystems, Quadrille2dPlugin};
use crate::queue::mesh_layouts::find_mesh_layouts;
use crate::scene::materials::{
    FragmentSource, MaterialDesc, MaterialInstance, MaterialKind, Materials2d, ShaderSources,
};

/// `specialize` of a material type.
type SpecializeFn<M> = fn(
    <M as AsBindGroup>::Data,
    &mut RenderPipelineDescriptor,
    &MeshVertexBufferLayoutRef,
) -> Result<(), SpecializedMeshPipelineError>;

/// A material type: assets `M`, on entities with the component `C`.
pub(super) struct MaterialRegistration<M: AsBindGroup, C> {
    /// Name of the plugin, for messages.
    pub(super) plugin: &'static str,
    pub(super) kind: MaterialKind,
    pub(super) vertex_shader: ShaderRef,
    pub(super) fragment_shader: ShaderRef,
    /// Shader of [`ShaderRef::Default`].
    pub(super) default_shader: &'static str,
    pub(super) alpha_mode: fn(&M) -> Option<AlphaMode>,
    pub(super) depth_bias: fn(&M) -> f32,
    pub(super) specialize: SpecializeFn<M>,
    pub(super) component: PhantomData<fn() -> C>,
}

impl<M, C> MaterialRegistration<M, C>
where
    M: Asset + AsBindGroup + Clone,
    C: Component<Mutability = Mutable> + AsAssetId<Asset = M> + GetTypeRegistration,
{
    /// Registers the asset, and the component with its required [`MaterialInstance`]. Before the app has an
    /// [`AssetServer`], only the component's type is registered.
    pub(super) fn build(app: &mut App) {
        app.register_type::<C>();
        if !app.world().contains_resource::<AssetServer>() {
            return;
        }
        app.init_asset::<M>()
            .register_required_components::<C, MaterialInstance>();
        let mut drawn = app.world_mut().get_resource_or_init::<DrawnContent>();
        drawn.add_component::<C>();
    }

    /// Adds the type and its systems.
    pub(super) fn finish(self, app: &mut App) {
        let (plugin, name) = (self.plugin, M::short_type_path());
        if !app.is_plugin_added::<Quadrille2dPlugin>() {
            tracing::error!(
                "`{plugin}<{name}>` draws nothing without `Quadrille2dPlugin`. Add it to the app"
            );
            return;
        }
        if !app.world().contains_resource::<Assets<M>>() {
            Self::build(app);
        }
        let store = app.world_mut().get_resource_or_init::<Materials2d>();
        if store.has_type(TypeId::of::<M>()) {
            tracing::error!(
                "`{plugin}<{name}>` draws nothing, since `{name}` has another plugin of 2D materials. Give each plugin a \
                 type of its own"
            );
            return;
        }
        let server = app.world().resource::<AssetServer>().clone();
        let handle = |shader| shader_handle(shader, |path| server.load(path));
        let fragment = handle(self.fragment_shader.clone()).map_or_else(
            || FragmentSource::Default(Shader::from_wgsl(self.default_shader, "default.wgsl")),
            FragmentSource::Asset,
        );
        let sources = ShaderSources {
            vertex: handle(self.vertex_shader.clone()),
            fragment,
        };
        let layout = MaterialLayout::new(M::bindings());
        let mut store = app.world_mut().get_resource_or_init::<Materials2d>();
        store.add_type(TypeId::of::<M>(), (name, self.kind), layout, sources);
        watch_materials::<M, C, MaterialInstance>(app.world_mut());
        self.add_systems(app);
    }

    /// Adds the systems that extract assets and components.
    fn add_systems(self, app: &mut App) {
        let extract = move |mut events: MessageReader<AssetEvent<M>>,
                            materials: Res<Assets<M>>,
                            mut store: ResMut<Materials2d>,
                            mut specializers: Local<Specializers<M::Data>>| {
            let mut has_changed = false;
            for event in events.read() {
                match *event {
                    AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                        if let Some(material) = materials.get(id) {
                            let ids = (id.untyped(), TypeId::of::<M>());
                            store.put(ids, self.describe(material, &mut specializers));
                        }
                    }
                    AssetEvent::Removed { id } => store.remove(id.untyped()),
                    AssetEvent::Unused { id } => store.forget(id.untyped()),
                    AssetEvent::LoadedWithDependencies { .. } => {}
                }
                has_changed = true;
            }
            if has_changed {
                specializers.forget_unused();
            }
        };
        app.add_systems(
            Render,
            (
                remove_material_instances::<M, C>.in_set(RemovedInstances),
                (extract_material_instances::<C>, extract).after(RemovedInstances),
            )
                .in_set(Prepare2dSystems::Assets)
                .before(find_mesh_layouts),
        );
    }

    fn describe(&self, material: &M, specializers: &mut Specializers<M::Data>) -> MaterialDesc {
        let mut values = BindingValues::default();
        material.write_bindings(&mut values);
        let specialize = self.specialize;
        MaterialDesc {
            values,
            alpha_mode: (self.alpha_mode)(material),
            depth_bias: (self.depth_bias)(material),
            specialize: specializers.get(material.bind_group_data(), |key| {
                move |desc: &mut _, layout: &_| specialize(key.clone(), desc, layout)
            }),
        }
    }
}

/// Systems that apply removed components, before added ones are applied.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RemovedInstances;

/// Filter of changed components, and of entities from which the material of another type was removed, including those of
/// disabled entities.
type ChangedMaterials<C> = (Or<(Changed<C>, Changed<MaterialInstance>)>, Allow<Disabled>);

/// Copies the asset ID of each changed component to the untyped one, which extraction reads. Of several types on one entity
/// the one that changed last is drawn.
fn extract_material_instances<C: Component + AsAssetId>(
    mut changed: Query<(Ref<C>, &mut MaterialInstance), ChangedMaterials<C>>,
) {
    for (material, mut instance) in &mut changed {
        if material.is_changed() || instance.0.is_none() {
            let id = material.as_asset_id().untyped();
            instance.set_if_neq(MaterialInstance(Some(id)));
        }
    }
}

/// Removes the asset IDs of removed components from their entities.
fn remove_material_instances<M: Asset, C: Component>(
    mut removed: RemovedComponents<C>,
    mut without: Query<&mut MaterialInstance, (Without<C>, Allow<Disabled>)>,
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
