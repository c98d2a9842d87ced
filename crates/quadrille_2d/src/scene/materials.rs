//! Materials with a shader of their own: rows per type, and bound images.

use std::any::TypeId;
use std::sync::Arc;

use bevy_asset::{AssetId, Handle, UntypedAssetId};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_mesh::Mesh;
use bevy_platform::collections::{HashMap, HashSet};
use quadrille::material::BindingValues;
use quadrille::prelude::{GpuBuffer, GpuDevice, GpuImage, GpuShader, Sampler, SamplerDesc};
use quadrille::vulkan::{Error, vk};
use quadrille_content::enabling::MaterialId;
use quadrille_content::materials::{
    BoundBinding, BoundList, BoundShaders, FallbackImages, MaterialLayout, MaterialRows, ReadOnly,
    ReadWrite, Specialize, SpecializedMeshPipelineError, fits_row,
};
use quadrille_content::meshes::{LayoutId, MeshLayout, MeshLayouts};
use quadrille_content::shaders::Shader;
use smallvec::SmallVec;

use crate::instances::mesh_instance::AlphaMode;
use crate::meshes::data::Vertex;
use crate::scene::material_pipeline::{MaterialPipelineState, default_descriptor};
use crate::scene::phase::Texture;

/// Variable of [`MaterialGlobals2d`] in shaders.
pub(crate) const GLOBALS: &str = "globals";

/// Variable of [`MeshAttributes2d`](crate::resources::MeshAttributes2d) in shaders.
pub(crate) const MESH_ATTRIBUTES: &str = "quadrille_mesh_attributes";

/// Variable of [`MaterialViews2d`] in shaders.
pub(crate) const VIEW: &str = "view";

/// The renderer, as the owner of lists.
pub enum Renderer2d {}

/// Buffers that shaders of materials read. Passes that draw declare those of their materials.
pub type MaterialBuffers2d = BoundList<Renderer2d, GpuBuffer, ReadOnly>;

/// Images that materials bind by themselves. Passes that draw declare those of their materials.
pub type MaterialImages2d = BoundList<Renderer2d, GpuImage, ReadOnly>;

/// Buffers that shaders of materials may write. Passes that draw declare those of their materials.
pub type WrittenMaterialBuffers2d = BoundList<Renderer2d, GpuBuffer, ReadWrite>;

/// Images that materials bind as storage textures. Passes that draw declare those of their materials.
pub type WrittenMaterialImages2d = BoundList<Renderer2d, GpuImage, ReadWrite>;

/// Images and samplers in place of those that materials lack, except `texture_2d<f32>`.
#[derive(Resource)]
pub(crate) struct MaterialFallbacks2d {
    pub(crate) images: FallbackImages,
    /// Linear sampler that compares, clamp to edge.
    pub(crate) comparison_sampler: Sampler,
    /// Linear sampler, clamp to edge.
    pub(crate) sampler: Sampler,
}

impl MaterialFallbacks2d {
    pub(crate) fn new(gpu: &GpuDevice) -> Result<Self, Error> {
        let clamped = SamplerDesc {
            name: "2d clamped".to_owned(),
            address: vk::SamplerAddressMode::CLAMP_TO_EDGE,
            ..SamplerDesc::linear()
        };
        Ok(Self {
            images: FallbackImages::default(),
            comparison_sampler: gpu.create_sampler(&SamplerDesc {
                name: "2d comparison".to_owned(),
                compare: Some(vk::CompareOp::GREATER_OR_EQUAL),
                ..clamped.clone()
            })?,
            sampler: gpu.create_sampler(&clamped)?,
        })
    }
}

/// Rows of all materials with a shader of their own.
#[derive(Resource, Deref)]
pub struct MaterialRows2d(pub(crate) GpuBuffer);

/// Time for shaders of materials: `bevy_render::globals::Globals`. Written only while a shader reads it.
#[derive(Resource, Deref)]
pub struct MaterialGlobals2d(pub(crate) GpuBuffer);

/// Views for shaders of materials: `bevy_sprite_render::mesh2d::view_bindings::View`, in the order of the views of
/// [`Phase2d`](crate::Phase2d). Written only while a shader reads one or the time.
#[derive(Resource, Deref)]
pub struct MaterialViews2d(pub(crate) GpuBuffer);

/// Untyped asset of an entity's material; `None` without one. Required by the components of materials.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MaterialInstance(pub(crate) Option<UntypedAssetId>);

impl MaterialId for MaterialInstance {
    fn id(&mut self) -> &mut Option<UntypedAssetId> {
        &mut self.0
    }
}

/// Content that a material type is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MaterialKind {
    Mesh,
    Sprite,
    Node,
}

/// Description of one material, created by its type.
pub(crate) struct MaterialDesc {
    pub(crate) values: BindingValues,
    /// `None` for the sprite's own.
    pub(crate) alpha_mode: Option<AlphaMode>,
    /// Added to z.
    pub(crate) depth_bias: f32,
    /// Shared by materials with equal keys: [`Specializers`](quadrille_content::materials::Specializers).
    pub(crate) specialize: Arc<Specialize>,
}

impl MaterialDesc {
    /// State of the pipelines for meshes of a layout.
    fn pipeline(
        &self,
        layout: &MeshLayout,
    ) -> Result<MaterialPipelineState, SpecializedMeshPipelineError> {
        let mut desc = default_descriptor(layout);
        let before = desc.vertex.buffers.clone();
        (self.specialize)(&mut desc, &layout.reference)?;
        Ok(MaterialPipelineState::new(desc, &before, layout))
    }
}

/// State of a material that determines instances and batches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MaterialState {
    /// Row in the table of its type.
    pub(crate) row: u32,
    /// Index of its bind group.
    pub(crate) bind_group: u32,
    pub(crate) alpha_mode: Option<AlphaMode>,
    pub(crate) depth_bias: f32,
}

/// Sources of a material type's shaders.
pub(crate) struct ShaderSources {
    /// `None` for the vertex shader of its kind.
    pub(crate) vertex: Option<Handle<Shader>>,
    pub(crate) fragment: FragmentSource,
}

/// Source of a material type's fragment shader.
pub(crate) enum FragmentSource {
    Asset(Handle<Shader>),
    /// Default shader of its kind.
    Default(Shader),
}

impl ShaderSources {
    /// Shader files.
    pub(crate) fn handles(&self) -> impl Iterator<Item = &Handle<Shader>> {
        let fragment = match &self.fragment {
            FragmentSource::Asset(handle) => Some(handle),
            FragmentSource::Default(_) => None,
        };
        self.vertex.iter().chain(fragment)
    }
}

/// Shaders of a material type with one state of its pipelines.
pub(crate) enum ShaderState {
    /// A file is loading, or the shaders are not translated yet.
    Loading,
    Translated {
        /// `None` for the vertex shader of its kind.
        vertex: Option<GpuShader>,
        fragment: GpuShader,
        /// Whether one of them reads [`GLOBALS`] or [`VIEW`].
        reads_globals: bool,
        /// Bindings of each material by itself: buffers, and textures that are no `texture_2d<f32>`.
        bound: Vec<BoundBinding>,
    },
    /// Unusable: its materials are drawn in magenta.
    Failed,
}

impl ShaderState {
    /// `bound` has all resources of both stages.
    pub(crate) fn translated(
        (vertex, fragment): (Option<GpuShader>, GpuShader),
        layout: &MaterialLayout,
        mut bound: Vec<BoundBinding>,
    ) -> Self {
        bound.retain(|it| !fits_row(layout.bindings[it.index].kind));
        let is_read = |shader: &GpuShader| {
            let mut bindings = shader.entry_points().iter().flat_map(|it| &it.bindings);
            bindings.any(|it| it.name == GLOBALS || it.name == VIEW)
        };
        Self::Translated {
            reads_globals: vertex.iter().any(is_read) || is_read(&fragment),
            vertex,
            fragment,
            bound,
        }
    }

    fn reads_globals(&self) -> bool {
        matches!(
            self,
            Self::Translated {
                reads_globals: true,
                ..
            }
        )
    }

    /// Shaders with bindings of each material by itself; `None` without any.
    pub(crate) fn bound_shaders(&self) -> Option<BoundShaders<'_>> {
        match self {
            Self::Translated {
                vertex,
                fragment,
                bound,
                ..
            } if !bound.is_empty() => Some(BoundShaders {
                bindings: bound,
                shaders: vertex.iter().chain([fragment]).collect(),
            }),
            _ => None,
        }
    }
}

/// One state of the pipelines of a material type.
pub(crate) struct Variant {
    pub(crate) pipeline: MaterialPipelineState,
    pub(crate) shader: ShaderState,
}

/// A material type.
pub(crate) struct MaterialType {
    pub(crate) name: &'static str,
    pub(crate) kind: MaterialKind,
    pub(crate) sources: ShaderSources,
    /// A file cannot be loaded.
    pub(crate) is_unusable: bool,
    /// All states of its pipelines.
    pub(crate) variants: Vec<Variant>,
}

impl MaterialType {
    /// Index of the variant with this state, which is added if it is new.
    fn variant(&mut self, pipeline: &MaterialPipelineState) -> u32 {
        let known = self.variants.iter();
        let known = known.take_while(|it| it.pipeline != *pipeline).count();
        if known == self.variants.len() {
            self.variants.push(Variant {
                pipeline: pipeline.clone(),
                shader: ShaderState::Loading,
            });
        }
        known as u32
    }
}

/// Resources that are bound together; shared by materials of one type with equal images and buffers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BindGroup {
    /// Index of the type.
    pub(crate) of_type: u32,
    /// Index of its variant.
    pub(crate) variant: u32,
    /// Whether its materials are blended over the target.
    pub(crate) blends: bool,
    /// Images and buffers, in the order of the bindings, among empty uniforms.
    pub(crate) resources: BindingValues,
}

/// State of the resources of a bind group that are bound by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BoundState {
    /// Not looked up, or not uploaded yet: its materials are not drawn.
    #[default]
    Waiting,
    /// All are bound.
    Found,
    /// One does not fit the shader: its materials are magenta.
    Wrong,
}

/// A bind group with the number of its materials.
#[derive(Default)]
pub(crate) struct GroupSlot {
    /// `None` is free.
    pub(crate) group: Option<BindGroup>,
    users: u32,
    pub(crate) bound: BoundState,
}

/// Textures of a bind group in this frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BoundTextures {
    pub(crate) of_type: u32,
    pub(crate) variant: u32,
    pub(crate) blends: bool,
    /// Textures and samplers of `texture_2d<f32>`.
    pub(crate) textures: SmallVec<[Texture; 4]>,
    /// Whether all resources can be drawn with.
    pub(crate) is_complete: bool,
    /// Whether a resource does not fit the shader.
    pub(crate) is_wrong: bool,
}

struct Material {
    of_type: u32,
    row: u32,
    desc: MaterialDesc,
    /// State for each vertex layout of its meshes; `None` for meshes that lack an attribute, which are not drawn.
    states: SmallVec<[(LayoutId, Option<MaterialState>); 1]>,
}

/// All materials with a shader of their own.
#[derive(Resource)]
pub(crate) struct Materials2d {
    pub(crate) types: Vec<MaterialType>,
    /// Rows of each type.
    pub(crate) rows: Vec<MaterialRows>,
    types_by_id: HashMap<TypeId, u32>,
    materials: HashMap<UntypedAssetId, Material>,
    pub(crate) groups: Vec<GroupSlot>,
    groups_by_value: HashMap<BindGroup, u32>,
    free_groups: Vec<u32>,
    /// Vertex layouts of meshes.
    pub(crate) layouts: MeshLayouts<Vertex>,
    /// Layout of sprites, and of meshes without attributes of programs.
    plain: LayoutId,
    /// Meshes of entities that were not loaded when their layout was asked for.
    pub(crate) awaited: HashSet<AssetId<Mesh>>,
    /// Layouts of the meshes of each material.
    layouts_of: HashMap<UntypedAssetId, Vec<LayoutId>>,
    /// Reasons for which meshes are not drawn, logged once.
    reasons: HashSet<(u32, String)>,
    changes: u64,
    /// Whether bind groups or shaders have changed since resources were looked up.
    pub(crate) are_bound_dirty: bool,
    /// Changes of images and buffers at that time.
    pub(crate) bound_version: (u64, u64),
}

impl Default for Materials2d {
    fn default() -> Self {
        let mut layouts = MeshLayouts::default();
        let plain = layouts.plain();
        Self {
            types: Vec::new(),
            rows: Vec::new(),
            types_by_id: HashMap::default(),
            materials: HashMap::default(),
            groups: Vec::new(),
            groups_by_value: HashMap::default(),
            free_groups: Vec::new(),
            layouts,
            plain,
            awaited: HashSet::default(),
            layouts_of: HashMap::default(),
            reasons: HashSet::default(),
            changes: 0,
            are_bound_dirty: false,
            bound_version: (0, 0),
        }
    }
}

impl Materials2d {
    /// Whether a material type is there, of any kind.
    pub(crate) fn has_type(&self, id: TypeId) -> bool {
        self.types_by_id.contains_key(&id)
    }

    /// Adds a material type, which is not there.
    pub(crate) fn add_type(
        &mut self,
        id: TypeId,
        (name, kind): (&'static str, MaterialKind),
        layout: MaterialLayout,
        sources: ShaderSources,
    ) {
        self.types_by_id.insert(id, self.types.len() as u32);
        self.types.push(MaterialType {
            name,
            kind,
            sources,
            is_unusable: false,
            variants: Vec::new(),
        });
        self.rows.push(MaterialRows::new(layout));
    }

    /// Whether a shader reads the time or the view ([`MaterialGlobals2d`], [`MaterialViews2d`]).
    pub(crate) fn reads_globals(&self) -> bool {
        let variants = self.types.iter().flat_map(|it| &it.variants);
        variants.into_iter().any(|it| it.shader.reads_globals())
    }

    /// Counter that changes whenever the state of any material has changed.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the state of a material, if it is of this kind, for a mesh or a sprite or node (`None`).
    pub(crate) fn get(
        &self,
        instance: Option<&MaterialInstance>,
        kind: MaterialKind,
        mesh: Option<AssetId<Mesh>>,
    ) -> Option<MaterialState> {
        let material = self.materials.get(&instance?.0?)?;
        let is_of_kind = self.types[material.of_type as usize].kind == kind;
        let layout = match mesh {
            Some(mesh) => self.layouts.of(mesh)?,
            None => self.plain,
        };
        let mut states = material.states.iter().filter(|_| is_of_kind);
        states.find(|it| it.0 == layout)?.1
    }

    /// Adds or updates a material.
    pub(crate) fn put(&mut self, (id, type_id): (UntypedAssetId, TypeId), desc: MaterialDesc) {
        let Some(&of_type) = self.types_by_id.get(&type_id) else {
            return;
        };
        let old = self.materials.remove(&id);
        let rows = &mut self.rows[of_type as usize];
        let row = old.as_ref().map_or_else(|| rows.add(), |old| old.row);
        // Images are separate bindings in 2D, so rows contain no texture indices.
        rows.write(row, &desc.values, |_, _| 0);
        let mut desc = desc;
        desc.values.clear_uniforms();
        let plain = [self.plain];
        let wanted = match self.types[of_type as usize].kind {
            MaterialKind::Mesh => self.layouts_of.get(&id).map_or(&[][..], Vec::as_slice),
            MaterialKind::Sprite | MaterialKind::Node => &plain,
        };
        let wanted: SmallVec<[LayoutId; 4]> = SmallVec::from_slice(wanted);
        let mut material = Material {
            of_type,
            row,
            desc,
            states: SmallVec::new(),
        };
        match &old {
            Some(old) if Arc::ptr_eq(&old.desc.specialize, &material.desc.specialize) => {
                for &(layout, state) in &old.states {
                    let variant = state.and_then(|it| self.variant_of_group(it.bind_group));
                    let state = variant.map(|variant| self.state(&material, variant));
                    material.states.push((layout, state));
                }
            }
            _ => {
                for layout in wanted {
                    let state = self.specialize(&material, layout);
                    material.states.push((layout, state));
                }
            }
        }
        if old.as_ref().map(|old| &old.states) != Some(&material.states) {
            self.changes += 1;
        }
        // After the new ones, which may be the same.
        old.into_iter().for_each(|old| self.remove_groups(&old));
        self.materials.insert(id, material);
    }

    /// State of a material for meshes of a layout.
    fn specialize(&mut self, material: &Material, layout: LayoutId) -> Option<MaterialState> {
        let of_type = material.of_type;
        let known = &mut self.types[of_type as usize];
        let pipeline = match material.desc.pipeline(self.layouts.get(layout)) {
            Ok(pipeline) => pipeline,
            Err(why) => {
                let (name, why) = (known.name, why.to_string());
                if !self.reasons.contains(&(of_type, why.clone())) {
                    tracing::error!(
                        "some meshes with the material `{name}` are not drawn: {why}. Insert the attribute"
                    );
                    self.reasons.insert((of_type, why));
                }
                return None;
            }
        };
        let variant = known.variant(&pipeline);
        Some(self.state(material, variant))
    }

    /// State of a material with the pipelines of a variant.
    fn state(&mut self, material: &Material, variant: u32) -> MaterialState {
        let Material {
            of_type,
            row,
            ref desc,
            ..
        } = *material;
        let group = BindGroup {
            of_type,
            variant,
            blends: !matches!(
                desc.alpha_mode,
                Some(AlphaMode::Opaque | AlphaMode::Mask(_))
            ),
            resources: desc.values.clone(),
        };
        MaterialState {
            row,
            bind_group: self.add_group(group),
            alpha_mode: desc.alpha_mode,
            depth_bias: desc.depth_bias,
        }
    }

    fn variant_of_group(&self, bind_group: u32) -> Option<u32> {
        let slot = self.groups.get(bind_group as usize)?;
        Some(slot.group.as_ref()?.variant)
    }

    /// Marks the states of materials as changed, because a mesh has another layout.
    pub(crate) fn change_layout(&mut self) {
        self.changes += 1;
    }

    /// Specializes a material for meshes of a layout.
    pub(crate) fn add_layout(&mut self, id: UntypedAssetId, layout: LayoutId) {
        let wanted = self.layouts_of.entry(id).or_default();
        if wanted.contains(&layout) {
            return;
        }
        wanted.push(layout);
        let Some(mut material) = self.materials.remove(&id) else {
            return;
        };
        if self.types[material.of_type as usize].kind == MaterialKind::Mesh {
            let state = self.specialize(&material, layout);
            material.states.push((layout, state));
            self.changes += 1;
        }
        self.materials.insert(id, material);
    }

    /// Removes a material.
    pub(crate) fn remove(&mut self, id: UntypedAssetId) {
        if let Some(old) = self.materials.remove(&id) {
            self.rows[old.of_type as usize].remove(old.row);
            self.remove_groups(&old);
            self.changes += 1;
        }
    }

    /// Forgets the layouts of a material whose last handle was dropped.
    pub(crate) fn forget(&mut self, id: UntypedAssetId) {
        self.layouts_of.remove(&id);
    }

    fn remove_groups(&mut self, material: &Material) {
        let states = material.states.iter();
        for state in states.filter_map(|(_, state)| state.as_ref()) {
            self.remove_group(state.bind_group);
        }
    }

    /// Returns the index of a bind group with one more material.
    fn add_group(&mut self, group: BindGroup) -> u32 {
        let index = match self.groups_by_value.get(&group) {
            Some(&index) => index,
            None => {
                let index = self.free_groups.pop().unwrap_or_else(|| {
                    self.groups.push(GroupSlot::default());
                    self.groups.len() as u32 - 1
                });
                let slot = &mut self.groups[index as usize];
                slot.group = Some(group.clone());
                slot.bound = BoundState::Waiting;
                self.are_bound_dirty = true;
                self.groups_by_value.insert(group, index);
                index
            }
        };
        self.groups[index as usize].users += 1;
        index
    }

    fn remove_group(&mut self, index: u32) {
        let slot = &mut self.groups[index as usize];
        slot.users -= 1;
        if slot.users == 0
            && let Some(group) = slot.group.take()
        {
            self.are_bound_dirty = true;
            self.groups_by_value.remove(&group);
            self.free_groups.push(index);
        }
    }

    /// Shaders of a bind group with bindings of each material by itself; `None` without any.
    pub(crate) fn bound_shaders(&self, group: &BindGroup) -> Option<BoundShaders<'_>> {
        let of_type = self.types.get(group.of_type as usize)?;
        let variant = of_type.variants.get(group.variant as usize)?;
        variant.shader.bound_shaders()
    }

    /// Marks all rows as not uploaded, for a new device.
    pub(crate) fn mark_all_dirty(&mut self) {
        self.rows.iter_mut().for_each(MaterialRows::mark_all_dirty);
        self.are_bound_dirty = true;
    }
}

#[cfg(test)]
mod tests;
