//! Materials with a shader of their own: rows per type, and the state of shaders.

use std::any::TypeId;

use bevy_asset::{AssetEvent, AssetId, AssetLoadFailedEvent, Assets, Handle, UntypedAssetId};
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_platform::collections::{HashMap, HashSet};
use quadrille::material::BindingValues;
use quadrille::prelude::{GpuBuffer, GpuDevice, GpuShader, Uploads};
use quadrille::vulkan::Error;
use quadrille_content::materials::{
    MaterialImages, MaterialLayout, MaterialRows, MaterialShaderForm, translate_material,
    upload_material_rows,
};
use quadrille_content::shaders::Shader;

use crate::components::material::AlphaMode;
use crate::extract::materials::{MaterialRow, MaterialState, MaterialStore};
use crate::pipelines::Pipelines3d;
use crate::scene::keys::{CullMode, MaterialShader};
use crate::scene::lists::MaterialRanges;
use crate::tables::table::Table;
use crate::tables::textures::TextureSource;

/// Conventions of 3D shaders: textures are bindless, and a fragment knows its instance.
const FORM: MaterialShaderForm = MaterialShaderForm {
    group: 3,
    imports: "import quadrille_3d::constants::{
    IMAGE_MASK as quadrille_image_mask, MATERIAL_ROW_SHIFT as quadrille_row_shift, SAMPLER_SHIFT as quadrille_sampler_shift,
};
import quadrille_3d::scene::{
    instances as quadrille_instances, materials as quadrille_materials, samplers as quadrille_samplers,
    textures as quadrille_textures,
};",
    row: "quadrille_materials[quadrille_instances[quadrille_index].material].flags >> quadrille_row_shift",
    rows_binding: 24,
    images: MaterialImages::Bindless,
};

/// Untyped asset of a mesh entity's material; `None` without one. Required by `MeshMaterial3d` of types with a
/// [`MaterialPlugin`](crate::MaterialPlugin).
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MaterialInstance(pub(crate) Option<UntypedAssetId>);

/// Description of one material, created by its type.
pub(crate) struct MaterialDesc {
    pub(crate) values: BindingValues,
    pub(crate) alpha_mode: AlphaMode,
    pub(crate) depth_bias: f32,
    pub(crate) cull: CullMode,
    pub(crate) casts_shadows: bool,
}

/// Shader of a material type.
enum ShaderState {
    /// The file is loading.
    Loading,
    /// Translated, with the number of its pipelines once they are created.
    Translated(GpuShader, Option<u32>),
    /// Unusable: its materials are drawn in the fallback color.
    Failed,
}

/// A material type.
struct MaterialType {
    name: &'static str,
    handle: Option<Handle<Shader>>,
    shader: ShaderState,
}

/// A material with its row indices in the table of all materials and in that of its type.
struct CustomMaterial {
    of_type: usize,
    index: u32,
    row: u32,
    desc: MaterialDesc,
    state: MaterialState,
}

/// All materials with a shader of their own.
#[derive(Default)]
pub(crate) struct CustomMaterials {
    types: Vec<MaterialType>,
    /// Rows of each type.
    rows: Vec<MaterialRows>,
    types_by_id: HashMap<TypeId, usize>,
    materials: HashMap<UntypedAssetId, CustomMaterial>,
    materials_of: HashMap<AssetId<Image>, HashSet<UntypedAssetId>>,
    /// Number of the next shader.
    shader_count: u32,
    /// Whether materials were added or removed, or changed their pipeline.
    pub(crate) is_other: bool,
}

impl CustomMaterials {
    /// Adds a material type.
    pub(crate) fn add_type(
        &mut self,
        id: TypeId,
        name: &'static str,
        layout: MaterialLayout,
        handle: Option<Handle<Shader>>,
    ) {
        let shader = match handle {
            Some(_) => ShaderState::Loading,
            None => ShaderState::Failed,
        };
        self.types_by_id.insert(id, self.types.len());
        self.types.push(MaterialType {
            name,
            handle,
            shader,
        });
        self.rows.push(MaterialRows::new(layout));
    }

    /// Returns the index in the table of materials, and the state; `None` while the shader is loading.
    pub(crate) fn get(&self, id: UntypedAssetId) -> Option<(u32, MaterialState)> {
        let material = self.materials.get(&id)?;
        let is_ready = match &self.types[material.of_type].shader {
            ShaderState::Loading | ShaderState::Translated(_, None) => false,
            ShaderState::Translated(_, Some(_)) | ShaderState::Failed => true,
        };
        is_ready.then_some((material.index, material.state))
    }

    /// Marks all rows dirty, and all shaders as changed, for a new device.
    pub(crate) fn mark_all_dirty(&mut self) {
        self.rows.iter_mut().for_each(MaterialRows::mark_all_dirty);
        for of_type in &mut self.types {
            if let ShaderState::Translated(_, number) = &mut of_type.shader {
                *number = None;
            }
        }
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
        let old = self.materials.remove(&id);
        let old_state = old.as_ref().map(|old| old.state);
        let (index, row) = match old {
            Some(old) => {
                self.forget_images(id, &old.desc);
                (old.index, old.row)
            }
            None => (table.add(MaterialRow::fallback()), self.rows[of_type].add()),
        };
        for image in desc.values.images().flatten() {
            self.materials_of.entry(image.id()).or_default().insert(id);
        }
        let index_of = |image: Option<&_>| textures.index_or_white(image);
        self.rows[of_type].write(row, &desc.values, index_of);
        let known = &self.types[of_type];
        let state = known.state(&desc);
        table.set(index, known.base_row(row, &desc));
        let material = CustomMaterial {
            of_type,
            index,
            row,
            desc,
            state,
        };
        self.materials.insert(id, material);
        self.is_other |= old_state != Some(state);
    }

    /// Removes a material.
    pub(crate) fn remove(&mut self, id: UntypedAssetId, table: &mut Table<MaterialRow>) {
        if let Some(old) = self.materials.remove(&id) {
            self.forget_images(id, &old.desc);
            self.rows[old.of_type].remove(old.row);
            table.remove(old.index);
            self.is_other = true;
        }
    }

    fn forget_images(&mut self, id: UntypedAssetId, desc: &MaterialDesc) {
        for image in desc.values.images().flatten() {
            if let Some(materials) = self.materials_of.get_mut(&image.id()) {
                materials.remove(&id);
                if materials.is_empty() {
                    self.materials_of.remove(&image.id());
                }
            }
        }
    }

    /// Updates the texture indices of materials with changed images. `None` means all images.
    pub(crate) fn refresh_images(
        &mut self,
        changed: Option<impl Iterator<Item = AssetId<Image>>>,
        textures: &mut TextureSource,
    ) {
        let ids: HashSet<UntypedAssetId> = match changed {
            Some(images) => {
                let materials = images.filter_map(|image| self.materials_of.get(&image));
                materials.flatten().copied().collect()
            }
            None => self.materials_of.values().flatten().copied().collect(),
        };
        for id in ids {
            if let Some(material) = self.materials.get(&id) {
                let index_of = |image: Option<&_>| textures.index_or_white(image);
                self.rows[material.of_type].write(material.row, &material.desc.values, index_of);
            }
        }
    }

    /// Translates loaded and changed shaders, and passes them to the pipelines.
    pub(crate) fn prepare_shaders(
        &mut self,
        shaders: &Assets<Shader>,
        changed: &HashSet<AssetId<Shader>>,
        (gpu, pipelines): (&GpuDevice, &mut Pipelines3d),
        table: &mut Table<MaterialRow>,
    ) {
        for of_type in 0..self.types.len() {
            let known = &mut self.types[of_type];
            let Some(handle) = &known.handle else {
                continue;
            };
            let is_due =
                changed.contains(&handle.id()) || matches!(known.shader, ShaderState::Loading);
            let new = shaders.get(handle).filter(|_| is_due);
            if let Some(shader) = new {
                known.translate(shader, self.rows[of_type].layout(), pipelines);
            }
            let is_unknown = matches!(known.shader, ShaderState::Translated(_, None));
            if is_unknown {
                self.shader_count += 1;
                known.add_to(pipelines, gpu, self.shader_count);
            }
            if new.is_some() || is_unknown {
                self.refresh_type(of_type, table);
            }
        }
    }

    /// Marks the shader of a file that cannot be loaded as failed.
    pub(crate) fn fail_shader(
        &mut self,
        id: AssetId<Shader>,
        why: &str,
        table: &mut Table<MaterialRow>,
    ) {
        for of_type in 0..self.types.len() {
            let known = &mut self.types[of_type];
            let is_it = known
                .handle
                .as_ref()
                .is_some_and(|handle| handle.id() == id);
            if is_it && matches!(known.shader, ShaderState::Loading) {
                known.warn_failed(why);
                known.shader = ShaderState::Failed;
                self.refresh_type(of_type, table);
            }
        }
    }

    /// Updates the state of all materials of a type.
    fn refresh_type(&mut self, of_type: usize, table: &mut Table<MaterialRow>) {
        let known = &self.types[of_type];
        for material in self.materials.values_mut() {
            if material.of_type == of_type {
                material.state = known.state(&material.desc);
                table.set(material.index, known.base_row(material.row, &material.desc));
            }
        }
        self.is_other = true;
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
            if let (ShaderState::Translated(_, Some(number)), Some(range)) =
                (&of_type.shader, rows.range())
            {
                ranges.0.insert(*number, range);
            }
        }
        Ok(())
    }
}

impl MaterialType {
    /// Translates the shader. Removes the pipelines of the previous one.
    fn translate(&mut self, shader: &Shader, layout: &MaterialLayout, pipelines: &mut Pipelines3d) {
        if let ShaderState::Translated(_, Some(number)) = self.shader {
            pipelines.meshes.remove_material_shader(number);
        }
        self.shader = match translate_material(self.name, shader, layout, &FORM) {
            Ok(translated) => ShaderState::Translated(translated, None),
            Err(why) => {
                self.warn_failed(&why);
                ShaderState::Failed
            }
        };
    }

    /// Passes the shader to the pipelines.
    fn add_to(&mut self, pipelines: &mut Pipelines3d, gpu: &GpuDevice, number: u32) {
        if let ShaderState::Translated(shader, known) = &mut self.shader {
            match pipelines.meshes.add_material_shader(gpu, number, shader) {
                Ok(()) => *known = Some(number),
                Err(error) => {
                    self.warn_failed(&error);
                    self.shader = ShaderState::Failed;
                }
            }
        }
    }

    fn warn_failed(&self, why: &str) {
        let name = self.name;
        tracing::error!(
            "meshes with the material `{name}` are drawn in magenta, because its shader cannot be used: {why}"
        );
    }

    /// Row in the table of all materials.
    fn base_row(&self, row: u32, desc: &MaterialDesc) -> MaterialRow {
        match self.shader {
            ShaderState::Failed => MaterialRow::fallback(),
            _ => MaterialRow::custom(row, desc.alpha_mode, desc.depth_bias),
        }
    }

    fn state(&self, desc: &MaterialDesc) -> MaterialState {
        let shader = match self.shader {
            ShaderState::Translated(_, Some(number)) => MaterialShader::Custom(number),
            _ => return MaterialState::fallback(desc.casts_shadows),
        };
        MaterialState::custom(desc, shader)
    }
}

/// Passes changed shaders to the pipelines, before meshes are extracted.
pub(crate) fn prepare_material_shaders(
    mut store: ResMut<MaterialStore>,
    shaders: Res<Assets<Shader>>,
    mut events: MessageReader<AssetEvent<Shader>>,
    mut failures: MessageReader<AssetLoadFailedEvent<Shader>>,
    (gpu, mut pipelines): (Res<GpuDevice>, ResMut<Pipelines3d>),
) {
    let changed = events.read().filter_map(|event| match event {
        AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
        _ => None,
    });
    let changed: HashSet<_> = changed.collect();
    let MaterialStore { table, custom, .. } = &mut *store;
    for failure in failures.read() {
        custom.fail_shader(failure.id, &failure.error.to_string(), table);
    }
    custom.prepare_shaders(&shaders, &changed, (&gpu, &mut pipelines), table);
}
