//! Materials with shaders of their own: rows per type, and the state of shaders.

pub(crate) mod bound;
mod desc;
mod layouts;
mod material_type;
mod sources;

use std::any::TypeId;

use bevy_asset::{AssetEvent, AssetId, AssetLoadFailedEvent, Assets, UntypedAssetId};
use bevy_camera::Camera3d;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_mesh::Mesh;
use bevy_platform::collections::hash_map::Entry;
use bevy_platform::collections::{HashMap, HashSet};
use quadrille::material::MaterialBindingKind;
use quadrille::prelude::{GpuBuffer, GpuDevice, Uploads};
use quadrille::vulkan::Error;
use quadrille_content::enabling::MaterialId;
use quadrille_content::materials::{
    BoundLists, BoundSources, MaterialLayout, MaterialRows, ShaderBuffers, SharedResources,
    Unbound, add_written, resolve, upload_material_rows,
};
use quadrille_content::meshes::{LayoutId, MeshLayouts};
use quadrille_content::shaders::Shader;

use crate::components::deferred::DeferredPrepass;
use crate::components::prepass::{DepthPrepass, MotionVectorPrepass, NormalPrepass};
use crate::extract::materials::{MaterialRow, MaterialSource, MaterialState, MaterialStore};
use crate::pipelines::Pipelines3d;
use crate::scene::keys::MaterialShader;
use crate::scene::lists::MaterialRanges;
use crate::scene::prepass::PrepassOutputs;
use crate::tables::mesh_vertex::Vertex;
use crate::tables::table::Table;
use crate::tables::textures::TextureSource;
use bound::Renderer3d;
use material_type::MaterialType;

pub(crate) use desc::MaterialDesc;
pub(crate) use layouts::MaterialMeshes;
pub(crate) use material_type::StageShaders;

/// Untyped asset of a mesh entity's material; `None` without one. Required by `MeshMaterial3d` of types with a
/// [`MaterialPlugin`](crate::MaterialPlugin).
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MaterialInstance(pub(crate) Option<UntypedAssetId>);

impl MaterialId for MaterialInstance {
    fn id(&mut self) -> &mut Option<UntypedAssetId> {
        &mut self.0
    }
}

/// A material with its row indices in the table of all materials and in that of its type.
struct CustomMaterial {
    of_type: usize,
    index: u32,
    row: u32,
    desc: MaterialDesc,
    /// State for each vertex layout of its meshes.
    layouts: Vec<LayoutState>,
    bound: BoundState,
}

/// State of a material for meshes of one vertex layout.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LayoutState {
    layout: LayoutId,
    /// Index of the shaders among those of the type; `None` if these meshes lack an attribute, and are not drawn.
    variant: Option<usize>,
    state: MaterialState,
}

impl CustomMaterial {
    /// Draws the material in the fallback color.
    fn set_fallback(&mut self) {
        for layout in &mut self.layouts {
            layout.state = MaterialState::fallback(self.desc.casts_shadows);
        }
    }
}

/// State of the resources that a material binds by itself, for shaders that read any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BoundState {
    /// Not looked up, or not uploaded yet: the material is not drawn.
    Waiting,
    /// All are bound.
    Found,
    /// One does not fit the shader: the material is drawn in the fallback color.
    Wrong,
}

/// All materials with shaders of their own.
#[derive(Default)]
pub(crate) struct CustomMaterials {
    types: Vec<MaterialType>,
    /// Rows of each type.
    rows: Vec<MaterialRows>,
    types_by_id: HashMap<TypeId, usize>,
    materials: HashMap<UntypedAssetId, CustomMaterial>,
    materials_of: HashMap<AssetId<Image>, HashSet<UntypedAssetId>>,
    /// Vertex layouts of meshes.
    layouts: MeshLayouts<Vertex>,
    /// Meshes of entities that were not loaded when their layout was asked for.
    awaited: HashSet<AssetId<Mesh>>,
    /// Layouts of the meshes of each material.
    layouts_of: HashMap<UntypedAssetId, Vec<LayoutId>>,
    /// Number of the next shader.
    shader_count: u32,
    /// Whether materials or shaders have changed since the resources of materials were looked up.
    are_bound_dirty: bool,
    /// Changes of images and buffers at that time.
    bound_version: (u64, u64),
    /// Whether materials were added or removed, or changed their pipeline.
    pub(crate) is_other: bool,
}

/// Shader assets of a frame.
pub(crate) struct ShaderChanges<'a> {
    shaders: &'a Assets<Shader>,
    changed: HashSet<AssetId<Shader>>,
    /// Assets that cannot be loaded, with the reasons.
    failed: Vec<(AssetId<Shader>, String)>,
    /// Outputs of the prepasses of all cameras.
    prepasses: Vec<PrepassOutputs>,
}

impl CustomMaterials {
    /// Adds a material type.
    pub(crate) fn add_type(
        &mut self,
        id: TypeId,
        name: &'static str,
        layout: MaterialLayout,
        shaders: StageShaders,
    ) {
        self.types_by_id.insert(id, self.types.len());
        self.types.push(MaterialType::new(name, shaders));
        self.rows.push(MaterialRows::new(layout));
    }

    /// Returns the index in the table of materials, and the state; `None` while the shader is loading.
    pub(crate) fn get(
        &self,
        id: UntypedAssetId,
        mesh: AssetId<Mesh>,
    ) -> Option<(u32, MaterialState)> {
        let material = self.materials.get(&id)?;
        let layout = self.layouts.of(mesh)?;
        let LayoutState { variant, state, .. } =
            material.layouts.iter().find(|it| it.layout == layout)?;
        let needs_resources = matches!(
            state.shader,
            MaterialShader::Custom {
                material: Some(_),
                ..
            }
        );
        let is_ready = self.types[material.of_type].is_ready((*variant)?);
        let is_ready = is_ready && (material.bound == BoundState::Found || !needs_resources);
        is_ready.then_some((material.index, *state))
    }

    /// Marks all rows dirty, and all shaders as changed, for a new device.
    pub(crate) fn mark_all_dirty(&mut self) {
        self.rows.iter_mut().for_each(MaterialRows::mark_all_dirty);
        self.types.iter_mut().for_each(MaterialType::forget_device);
        self.are_bound_dirty = true;
    }

    /// Adds or updates a material.
    pub(crate) fn put(
        &mut self,
        (id, type_id): (UntypedAssetId, TypeId),
        desc: MaterialDesc,
        table: &mut Table<MaterialRow>,
        textures: &mut TextureSource,
    ) {
        let Some(&of_type) = self.types_by_id.get(&type_id) else {
            return;
        };
        self.are_bound_dirty = true;
        let (material, old) = match self.materials.entry(id) {
            Entry::Occupied(material) => {
                let material = material.into_mut();
                let old = std::mem::replace(&mut material.desc, desc);
                (material, Some(old))
            }
            Entry::Vacant(material) => {
                let new = CustomMaterial {
                    of_type,
                    index: table.add(MaterialRow::fallback()),
                    row: self.rows[of_type].add(),
                    layouts: Vec::new(),
                    desc,
                    bound: BoundState::Waiting,
                };
                (material.insert(new), None)
            }
        };
        let desc = &material.desc;
        if !old.iter().any(|old| old.images().eq(desc.images())) {
            if let Some(old) = &old {
                forget_images(&mut self.materials_of, id, old);
            }
            for image in desc.images() {
                self.materials_of.entry(image).or_default().insert(id);
            }
        }
        let old_layouts = material.layouts.clone();
        let known = &mut self.types[of_type];
        if old.as_ref().is_some_and(|old| desc.has_pipelines_of(old)) {
            known.refresh_layouts(material);
        } else {
            // Other shaders bind other resources.
            material.bound = BoundState::Waiting;
            material.layouts.clear();
            for &layout in self.layouts_of.get(&id).into_iter().flatten() {
                known.add_layout(material, (layout, self.layouts.get(layout)));
            }
        }
        write_rows(known, &mut self.rows[of_type], material, (table, textures));
        self.is_other |= old.is_none() || old_layouts != material.layouts;
    }

    /// Removes a material.
    pub(crate) fn remove(&mut self, id: UntypedAssetId, table: &mut Table<MaterialRow>) {
        if let Some(old) = self.materials.remove(&id) {
            forget_images(&mut self.materials_of, id, &old.desc);
            self.rows[old.of_type].remove(old.row);
            table.remove(old.index);
            self.is_other = true;
            self.are_bound_dirty = true;
        }
    }

    /// Updates the texture indices of materials with changed images. `None` means all images.
    pub(crate) fn refresh_images(
        &mut self,
        changed: Option<impl Iterator<Item = AssetId<Image>>>,
        (table, textures): (&mut Table<MaterialRow>, &mut TextureSource),
    ) {
        let ids: HashSet<UntypedAssetId> = match changed {
            Some(images) => {
                let materials = images.filter_map(|image| self.materials_of.get(&image));
                materials.flatten().copied().collect()
            }
            None => self.materials_of.values().flatten().copied().collect(),
        };
        for id in ids {
            if let Some(material) = self.materials.get_mut(&id) {
                let of_type = &self.types[material.of_type];
                let rows = &mut self.rows[material.of_type];
                write_rows(of_type, rows, material, (table, textures));
            }
        }
    }

    /// Translates loaded and changed shaders, and passes them to the pipelines.
    pub(crate) fn prepare_shaders(
        &mut self,
        changes: ShaderChanges<'_>,
        (gpu, pipelines): (&GpuDevice, &mut Pipelines3d),
        (table, textures): (&mut Table<MaterialRow>, &mut TextureSource),
    ) {
        for of_type in 0..self.types.len() {
            let known = &mut self.types[of_type];
            let failed = changes.failed.iter().find(|(id, _)| known.has_shader(*id));
            let mut is_other = failed.is_some_and(|(_, why)| known.fail(why));
            let layout = self.rows[of_type].layout();
            is_other |= known.translate((changes.shaders, &changes.changed), layout, pipelines);
            is_other |= known.add_to((gpu, pipelines), &mut self.shader_count);
            let wanted = &changes.prepasses;
            known.translate_prepasses(changes.shaders, layout, (gpu, pipelines), wanted);
            if is_other {
                self.refresh_type(of_type, table, textures);
            }
        }
    }

    /// Updates the state of all materials of a type.
    fn refresh_type(
        &mut self,
        of_type: usize,
        table: &mut Table<MaterialRow>,
        textures: &mut TextureSource,
    ) {
        let known = &self.types[of_type];
        for material in self.materials.values_mut() {
            if material.of_type == of_type {
                known.refresh_layouts(material);
                // Other shaders bind other resources.
                material.bound = BoundState::Waiting;
                let row = known.base_row(material, textures);
                table.set(material.index, row);
            }
        }
        self.is_other = true;
        self.are_bound_dirty = true;
    }

    /// Kinds of bindings of types that bind resources of each material by itself.
    pub(crate) fn bound_kinds(&self) -> impl Iterator<Item = MaterialBindingKind> {
        let types = self.types.iter().zip(&self.rows);
        let types = types.filter(|(of_type, _)| of_type.has_bound());
        types.flat_map(|(_, rows)| rows.layout().bindings.iter().map(|it| it.kind))
    }

    /// Looks up the resources that materials bind by themselves, after changes of materials, images or buffers.
    pub(crate) fn bind(
        &mut self,
        sources: &BoundSources<'_>,
        lists: &mut BoundLists<'_, Renderer3d>,
        (table, textures): (&mut Table<MaterialRow>, &mut TextureSource),
    ) {
        let version = (sources.images.changes(), sources.buffers.changes());
        let before = std::mem::replace(&mut self.bound_version, version);
        let is_dirty = std::mem::take(&mut self.are_bound_dirty);
        let has_bound = self.types.iter().any(MaterialType::has_bound);
        if !(is_dirty || has_bound && before != version) {
            return;
        }
        lists.clear();
        if !has_bound {
            return;
        }
        let mut materials: Vec<_> = self.materials.values_mut().collect();
        // Plans repeat only if the order of accesses does.
        materials.sort_unstable_by_key(|material| material.index);
        let mut written = HashSet::default();
        textures.indices.storage_textures.clear();
        for material in &materials {
            let of_type = &self.types[material.of_type];
            for (_, shaders) in of_type.all_bound_shaders(material) {
                let images = &mut textures.indices.storage_textures;
                let (values, bound) = (&material.desc.values, &shaders.bound);
                add_written(values, bound, sources, (&mut written, images));
            }
        }
        let mut known = HashMap::default();
        for material in materials {
            let of_type = &self.types[material.of_type];
            let shaders = of_type.all_bound_shaders(material);
            if shaders.is_empty() {
                continue;
            }
            let old = (material.bound, material.layouts.clone());
            of_type.refresh_layouts(material);
            let layout = self.rows[material.of_type].layout();
            material.bound = BoundState::Found;
            let shared = SharedResources {
                written: &written,
                is_sampled: &|image| textures.indices.contains(image),
            };
            for (number, shaders) in shaders {
                let values = (layout, &material.desc.values);
                match resolve(values, &shaders.bound_shaders(), (sources, &shared)) {
                    Ok(resolved) => {
                        let in_shadows = shaders.shadow.is_some();
                        let key = (number, material.index);
                        lists.add(key, resolved, &mut known, in_shadows);
                    }
                    Err(Unbound::Waiting) => material.bound = BoundState::Waiting,
                    Err(Unbound::Wrong(why)) => {
                        let name = of_type.name();
                        textures.warnings.warn_message(|| {
                            format!("meshes with a material `{name}` are drawn in magenta: {why}")
                        });
                        material.set_fallback();
                        material.bound = BoundState::Wrong;
                        break;
                    }
                }
            }
            let row = of_type.base_row(material, textures);
            table.set(material.index, row);
            self.is_other |= old != (material.bound, material.layouts.clone());
        }
    }

    /// Uploads changed rows.
    pub(crate) fn upload(
        &mut self,
        gpu: &GpuDevice,
        uploads: &mut Uploads,
        buffer: &mut GpuBuffer,
        ranges: &mut MaterialRanges,
    ) -> Result<(), Error> {
        upload_material_rows(&mut self.rows, gpu, uploads, buffer)?;
        ranges.0.clear();
        for (of_type, rows) in self.types.iter().zip(&self.rows) {
            if let Some(range) = rows.range() {
                let numbers = of_type.numbers();
                ranges
                    .0
                    .extend(numbers.map(|number| (number, range.clone())));
            }
        }
        Ok(())
    }
}

/// Writes the rows of a material in the table of all materials and in that of its type.
fn write_rows(
    of_type: &MaterialType,
    rows: &mut MaterialRows,
    material: &mut CustomMaterial,
    (table, textures): (&mut Table<MaterialRow>, &mut TextureSource),
) {
    table.set(material.index, of_type.base_row(material, textures));
    let index_of = |kind, image: Option<&_>| textures.index_in_row(kind, image);
    rows.write(material.row, &material.desc.values, index_of);
}

fn forget_images(
    materials_of: &mut HashMap<AssetId<Image>, HashSet<UntypedAssetId>>,
    id: UntypedAssetId,
    desc: &MaterialDesc,
) {
    for image in desc.images() {
        if let Some(materials) = materials_of.get_mut(&image) {
            materials.remove(&id);
            if materials.is_empty() {
                materials_of.remove(&image);
            }
        }
    }
}

/// Filter of cameras with a prepass.
type WithPrepass = (
    With<Camera3d>,
    Or<(
        With<DepthPrepass>,
        With<NormalPrepass>,
        With<MotionVectorPrepass>,
        With<DeferredPrepass>,
    )>,
);

/// The different outputs of prepasses.
fn prepasses_of(cameras: impl Iterator<Item = (bool, bool, bool)>) -> Vec<PrepassOutputs> {
    let mut all = Vec::new();
    for (normal, motion, is_deferred) in cameras {
        // Forward meshes are in the prepass of deferred cameras as well.
        for deferred in [false, true] {
            let outputs = PrepassOutputs {
                normal,
                motion,
                deferred,
            };
            if deferred <= is_deferred && !all.contains(&outputs) {
                all.push(outputs);
            }
        }
    }
    all
}

/// Prepasses of a camera: normals, motion vectors and G-buffer.
type HasPrepasses = (
    Has<NormalPrepass>,
    Has<MotionVectorPrepass>,
    Has<DeferredPrepass>,
);

/// Passes changed shaders to the pipelines, before meshes are extracted.
pub(crate) fn prepare_material_shaders(
    (mut store, mut source): (ResMut<MaterialStore>, MaterialSource),
    shaders: Res<Assets<Shader>>,
    mut events: MessageReader<AssetEvent<Shader>>,
    mut failures: MessageReader<AssetLoadFailedEvent<Shader>>,
    cameras: Query<HasPrepasses, WithPrepass>,
    mut meshes: MaterialMeshes,
    (gpu, mut pipelines): (Res<GpuDevice>, ResMut<Pipelines3d>),
) {
    store.find_layouts(&mut meshes, &mut source);
    let changed = events.read().filter_map(|event| match event {
        AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
        _ => None,
    });
    let failed = failures.read().map(|it| (it.id, it.error.to_string()));
    let changes = ShaderChanges {
        shaders: &shaders,
        changed: changed.collect(),
        failed: failed.collect(),
        prepasses: prepasses_of(cameras.iter()),
    };
    store.prepare_custom_shaders(changes, (&gpu, &mut pipelines), &mut source);
}

/// Binds the resources of materials, before meshes are extracted.
pub(crate) fn bind_materials(
    (mut store, mut source): (ResMut<MaterialStore>, MaterialSource),
    buffers: Res<ShaderBuffers>,
    pipelines: Res<Pipelines3d>,
    mut lists: BoundLists<Renderer3d>,
    (gpu, mut uploads): (Res<GpuDevice>, ResMut<Uploads>),
) -> Result {
    for kind in store.custom.bound_kinds() {
        source.add_fallback(kind, (&gpu, &mut uploads))?;
    }
    store.bind_custom((&buffers, &pipelines), &mut lists, &mut source);
    Ok(())
}
