//! Shaders of materials, generated from their files.
//!
//! A shader declares the uniforms, textures and samplers of one material at `@group(MATERIAL_BIND_GROUP)`, as bevy's do.
//! Here all materials of a type are rows of a table, so that any number of them is one indirect draw, and textures lie in
//! the bindless table where the renderer has one. So the generated shader has private variables in their place: a uniform
//! is a copy of the row's value, a texture or sampler is an index. Other resources, and textures that are passed to
//! functions, stay bindings, and each material is a draw of its own.
//!
//! The text is changed after it was composed, when imports and conditions are resolved: bindings may lie in any module. A
//! fragment's entry point takes the instance as a further input and fills the variables first; a vertex's is called by
//! one that hands the instance on. Errors show the lines of the files.

mod elements;
mod entry;
mod globals;
mod pulled;
mod scan;

use quadrille::material::{MaterialBinding, MaterialBindingKind};
use quadrille::vulkan::shader::{
    ComposedShader, GpuShader, LocationType, ScalarKind, ShaderDefVal, ShaderOptions, ShaderStage,
};

use crate::materials::layout::{MaterialLayout, UNIFORM_ALIGNMENT};
use crate::shaders::Shader;
use globals::Storage;
pub use pulled::{PulledAttribute, PulledAttributes};
use scan::Scanner;

/// Variable of the table of rows.
pub const MATERIAL_ROWS: &str = "quadrille_material_rows";

/// Prefix of all generated names.
const PREFIX: &str = "quadrille_";

/// The entry point of generated vertex shaders.
pub const MATERIAL_VERTEX: &str = "quadrille_vertex";

/// Places of rows and images in the shaders of a renderer.
#[derive(Clone, Copy, Debug)]
pub struct MaterialShaderForm<'a> {
    /// Number of the group of materials: `constants::MATERIAL_BIND_GROUP`.
    pub group: u32,
    /// WGSL that is added to each shader, with its imports: `fn quadrille_row(quadrille_index: u32) -> u32`, the row of an
    /// instance. Vertex shaders need two more: `fn quadrille_vertex_index(instance_index: u32) -> u32`, the instance by
    /// its builtin index, and `fn quadrille_clip_position(position: vec4f, quadrille_index: u32) -> vec4f`, the position
    /// of a vertex of it.
    pub prelude: &'static str,
    /// Attribute of an instance's index in vertex shaders: `@builtin(instance_index)`, or a location of a vertex buffer, which
    /// takes its place.
    pub instance_index: &'static str,
    /// Binding of the table of rows.
    pub rows_binding: u32,
    /// Access to textures and samplers.
    pub images: MaterialImages,
    /// Vertex attributes that are read from a buffer of words, and WGSL that is added to vertex shaders then:
    /// `fn quadrille_attribute(quadrille_index: u32, quadrille_vertex: u32, quadrille_stride: u32) -> u32`, the first word of
    /// a vertex of an instance, and `fn quadrille_word(quadrille_at: u32) -> u32`.
    pub pulled: Option<(&'a PulledAttributes, &'static str)>,
    /// WGSL that is added to fragment shaders, or nothing: `fn quadrille_enter(quadrille_index: u32)`, which is called first,
    /// and its imports.
    pub enter: &'static str,
}

/// Access of generated shaders to textures and samplers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaterialImages {
    /// Elements of `quadrille_textures` and `quadrille_samplers`, whose indices are in the rows; `quadrille_image_mask` and
    /// `quadrille_sampler_shift` take them apart. The prelude imports all four.
    Bindless,
    /// Bindings of their own: textures and samplers in their order, from this number on.
    Bound(u32),
}

/// Stages of a shader that a renderer draws materials with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaterialStage {
    /// A fragment shader.
    Fragment,
    /// A vertex shader, with all its outputs and the instance at location 15.
    Vertex,
    /// A vertex shader without a fragment shader: the position alone.
    VertexPosition,
}

/// A binding of a material that is bound by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundBinding {
    /// Index in [`MaterialLayout::bindings`].
    pub index: usize,
    /// Its number in group 0 of the generated shader.
    pub number: u32,
    /// Whether a shader may write it.
    pub writes: bool,
}

/// Generates and translates a shader of a material type, with shader defs.
///
/// Bindings that cannot be read from a row are added to `bound`; other stages of a pipeline take the same numbers. With
/// any, each material is drawn by itself.
///
/// # Errors
/// The message for the user.
pub fn translate_material(
    material: &str,
    (shader, stage): (&Shader, MaterialStage),
    layout: &MaterialLayout,
    form: &MaterialShaderForm<'_>,
    defs: &[ShaderDefVal],
    bound: &mut Vec<BoundBinding>,
) -> Result<GpuShader, String> {
    let composed = generate(material, (shader, stage), layout, form, defs, bound)?;
    let translated = composed.translate().map_err(|error| error.to_string())?;
    check_layout(material, shader, layout, &translated)?;
    Ok(translated)
}

/// Name of the fragment's entry point for pipelines; empty if there is only one.
pub fn material_entry_point(fragment: &GpuShader) -> &'static str {
    let entry_points = fragment.entry_points().iter();
    let entry_points = entry_points.filter(|entry| entry.stage == ShaderStage::Fragment);
    match entry_points.count() {
        0 | 1 => "",
        _ => "fragment",
    }
}

/// Checks that all entry points of a fragment shader return a color.
///
/// # Errors
/// The message for the user.
pub fn check_material_output(fragment: &GpuShader) -> Result<(), String> {
    let entries = fragment.entry_points().iter();
    for entry in entries.filter(|entry| entry.stage == ShaderStage::Fragment) {
        let color = entry.outputs.iter().find(|it| it.location == 0);
        let is_color = |ty: LocationType| ty.scalar == ScalarKind::Float && ty.components == 4;
        if !color.is_some_and(|it| it.ty.is_some_and(is_color)) {
            return Err(format!(
                "its entry point `{}` returns no `@location(0) vec4f`. Return a color of that type",
                entry.name
            ));
        }
    }
    Ok(())
}

/// Returns the composed shader with its variables and entry points changed.
fn generate(
    material: &str,
    (shader, stage): (&Shader, MaterialStage),
    layout: &MaterialLayout,
    form: &MaterialShaderForm<'_>,
    defs: &[ShaderDefVal],
    bound: &mut Vec<BoundBinding>,
) -> Result<ComposedShader, String> {
    let group = ShaderDefVal::UInt("MATERIAL_BIND_GROUP".into(), form.group);
    let options = ShaderOptions::new().defs(defs.iter().cloned()).def(group);
    let names = match form.images {
        MaterialImages::Bindless => scan::NAMES,
        MaterialImages::Bound(_) => "",
    };
    let pulled = form.pulled.filter(|_| stage != MaterialStage::Fragment);
    let of_pulled = pulled.map_or("", |(_, prelude)| prelude);
    // The semicolon ends a declaration that a half-written file does not.
    let enter = match stage {
        MaterialStage::Fragment => form.enter,
        MaterialStage::Vertex | MaterialStage::VertexPosition => "",
    };
    let prelude = form.prelude;
    let source = format!("{}\n;{prelude}{enter}{of_pulled}\n{names}", shader.source);
    let mut composed = options
        .compose(&shader.path, &source, shader.file.as_deref())
        .map_err(|error| error.to_string())?;
    let subject = format!("`{}` of the material `{material}`", shader.path);
    let scanner = Scanner::new(&composed, subject, form.group);
    let mut globals = scanner.globals(layout)?;
    scanner.assign_storage(&mut globals, layout, form, bound)?;
    let mut edits = scanner.names();
    if form.images == MaterialImages::Bindless {
        scanner.replace_elements(&mut edits);
    }
    for global in &globals {
        edits.push((global.at.clone(), global.declaration()));
        if global.storage == Storage::Element {
            scanner.replace_uses(global, &mut edits)?;
        }
    }
    let loads = globals.iter().any(|it| it.storage.is_of_row());
    match stage {
        MaterialStage::Fragment => scanner.enter_fragment(loads, &mut edits)?,
        _ => {
            let pulled = pulled.map(|(pulled, _)| pulled);
            let inputs = (stage, form.instance_index, pulled);
            scanner.enter_vertex(loads, inputs, &mut edits)?;
        }
    }
    if loads {
        let end = scanner.source.len();
        edits.push((end..end, globals::rows(layout, &globals, form)));
    }
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    composed.replace(&edits);
    Ok(composed)
}

/// Compares the sizes of uniforms on both sides: each starts where the one before ends, rounded up.
fn check_layout(
    material: &str,
    shader: &Shader,
    layout: &MaterialLayout,
    translated: &GpuShader,
) -> Result<(), String> {
    let entry_points = translated.entry_points().iter();
    let mut bindings = entry_points.flat_map(|entry| &entry.bindings);
    let Some(table) = bindings.find(|binding| binding.name == MATERIAL_ROWS) else {
        return Ok(());
    };
    let found: Vec<u32> = table.layout.members().map(|(_, offset)| offset).collect();
    for (rank, (binding, bytes)) in layout.uniforms().enumerate() {
        let Some([start, end]) = found.get(rank..rank + 2) else {
            continue;
        };
        let size = u64::from(end - start);
        if size != bytes.next_multiple_of(UNIFORM_ALIGNMENT) {
            let MaterialBinding { binding, field, .. } = binding;
            return Err(format!(
                "the uniform at binding {binding} of the material `{material}` has {bytes} bytes (`{field}`), and {} reads {size}. \
                 Give both the same fields in the same order",
                shader.path
            ));
        }
    }
    Ok(())
}

/// Whether a binding can be read from a row: uniforms, and what the bindless table holds.
pub fn fits_row(kind: MaterialBindingKind) -> bool {
    use quadrille::material::{SamplerBindingType, TextureDimension, TextureSampleType};
    match kind {
        MaterialBindingKind::Uniform { .. } => true,
        MaterialBindingKind::Texture {
            dimension: TextureDimension::D2,
            sample_type: TextureSampleType::Float,
            multisampled: false,
        } => true,
        MaterialBindingKind::Sampler(kind) => kind != SamplerBindingType::Comparison,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
