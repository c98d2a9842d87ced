//! Materials with a shader of their own, for 2D and 3D: rows in one buffer, and shaders that read them.

pub(crate) mod bound;
pub(crate) mod bound_lists;
pub(crate) mod buffers;
pub(crate) mod descriptor;
pub(crate) mod fallback_images;
pub(crate) mod globals;
pub(crate) mod layout;
pub(crate) mod rows;
pub(crate) mod shader;
pub(crate) mod specializers;
pub(crate) mod vertex_inputs;

pub use bound::{
    BoundAccess, BoundResource, BoundShaders, BoundSources, SharedResources, Unbound, add_written,
    resolve,
};
pub use bound_lists::{
    BoundAccesses, BoundImages, BoundList, BoundListKind, BoundLists, BoundMaterials,
    DeclaredResource, ReadOnly, ReadWrite, init_bound_lists,
};
pub use buffers::ShaderBuffers;
pub use descriptor::{
    FragmentState, NoFragmentStateError, RenderPipelineDescriptor, SpecializedMeshPipelineError,
    VertexState, blend_of,
};
pub use fallback_images::FallbackImages;
pub use globals::GlobalsRow;
pub use layout::MaterialLayout;
pub use rows::{MaterialRows, upload_material_rows};
pub use shader::{
    BoundBinding, MATERIAL_ROWS, MATERIAL_VERTEX, MaterialImages, MaterialShaderForm,
    MaterialStage, PulledAttribute, PulledAttributes, check_material_output, fits_row,
    material_entry_point, translate_material,
};

pub use specializers::{Specialize, Specializers};
pub use vertex_inputs::VertexInputs;

/// bevy's module of bindless tables, and advice instead of it: see
/// [`ShaderModule::advise`](quadrille::vulkan::shader::ShaderModule::advise).
pub const BINDLESS_ADVICE: (&str, &str) = (
    "bevy_render::bindless",
    "declare the bindings without `BINDLESS`: materials of one type share tables by themselves",
);
