//! Resources that shaders of materials may read.

use quadrille::prelude::GpuShader;
use quadrille::vulkan::shader::EntryPoint;
use quadrille_content::materials::{BoundBinding, MATERIAL_ROWS};

/// Buffers of vertex attributes of programs by name.
const OWN_ATTRIBUTES: [&str; 2] = ["quadrille_mesh_attributes", "quadrille_attribute_bases"];

/// Resources of materials' shaders by name, beside those of standard materials.
pub(super) const MAIN_PASS: [&str; 12] = [
    MATERIAL_ROWS,
    OWN_ATTRIBUTES[0],
    OWN_ATTRIBUTES[1],
    "view",
    "globals",
    "mesh_tags",
    PREPASS_IMAGES[0],
    PREPASS_IMAGES[1],
    PREPASS_IMAGES[2],
    PREPASS_IMAGES[3],
    PREPASS_IMAGES[4],
    PREPASS_IMAGES[5],
];

/// Images of `bevy_pbr::prepass::utils` by name: depths, normals and motion vectors, each single-sampled and multisampled.
pub(crate) const PREPASS_IMAGES: [&str; 6] = [
    "prepass_depths",
    "multisampled_prepass_depths",
    "prepass_normals",
    "multisampled_prepass_normals",
    "prepass_motion_vectors",
    "multisampled_prepass_motion_vectors",
];

/// Resources of shadow maps by name.
pub(super) const SHADOW_RESOURCES: [&str; 9] = [
    MATERIAL_ROWS,
    OWN_ATTRIBUTES[0],
    OWN_ATTRIBUTES[1],
    "globals",
    "mesh_tags",
    "instances",
    "visible_instances",
    "materials",
    "shadow_views",
];

/// Resources of prepass shaders by name.
pub(super) const PREPASS_RESOURCES: [&str; 14] = [
    MATERIAL_ROWS,
    OWN_ATTRIBUTES[0],
    OWN_ATTRIBUTES[1],
    "view",
    "globals",
    "mesh_tags",
    "instances",
    "visible_instances",
    "materials",
    "camera",
    "lightmaps",
    "previous_instances",
    "previous_positions",
    "motion_view",
];

/// Tables of shadow maps by name.
const SHADOW_TABLES: [&str; 2] = ["textures", "samplers"];

/// Resources that meshes are drawn with.
pub(super) struct Inputs<'a> {
    /// Shader of standard materials, whose resources those of cameras are; `None` for prepasses and shadow maps.
    pub(super) standard: Option<&'a GpuShader>,
    /// Resources by name.
    pub(super) known: &'static [&'static str],
    pub(super) bound: &'a [BoundBinding],
}

impl Inputs<'_> {
    /// Checks what no pipeline shows before it draws: the resources that a shader reads.
    pub(super) fn check_resources(&self, entry: Option<&EntryPoint>) -> Result<(), String> {
        let Some(entry) = entry else {
            return Ok(());
        };
        let standard = || self.standard.into_iter().flat_map(|it| it.entry_points());
        let bindings = entry.bindings.iter().filter(|it| {
            let is_bound = self.bound.iter().any(|bound| bound.number == it.binding);
            let mut of_standard = standard().flat_map(|it| &it.bindings);
            let is_known = is_bound || self.known.contains(&&*it.name);
            !(is_known || of_standard.any(|other| other.name == it.name))
        });
        let tables = entry.tables.iter().filter(|table| match self.standard {
            Some(_) => {
                let mut all = standard().flat_map(|it| &it.tables);
                !all.any(|it| it.name == table.name)
            }
            None => !SHADOW_TABLES.contains(&&*table.name),
        });
        let mut names = bindings.map(|it| &it.name).chain(tables.map(|it| &it.name));
        match names.next() {
            None => Ok(()),
            Some(name) => Err(format!(
                "its entry point `{}` reads `{name}`, which meshes are not drawn with. Make it a field of the material, at \
                 `@group(constants::MATERIAL_BIND_GROUP)`",
                entry.name
            )),
        }
    }
}
