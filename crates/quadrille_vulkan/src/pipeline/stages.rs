//! The shader stages of a graphics pipeline, and validation of the interface between them.

use super::graphics_code::Loaded;
use super::state::{VertexAttribute, VertexLayout};
use crate::error::ShaderError;
use crate::resources::format;
use crate::shader::{EntryPoint, GpuShader, Location, ShaderStage};

/// A shader and its entry point.
type Stage<'a> = (&'a GpuShader, &'a EntryPoint);

/// The shaders of a graphics pipeline.
#[derive(Clone, Copy)]
pub(super) struct Stages<'a> {
    pub vertex: Stage<'a>,
    pub fragment: Option<Stage<'a>>,
}

impl<'a> Stages<'a> {
    /// Finds entry points by name; an empty name selects the only one.
    pub(super) fn find(
        shaders: &'a Loaded,
        [vertex, fragment]: [&str; 2],
    ) -> Result<Self, ShaderError> {
        let find =
            |shader: &'a GpuShader, stage, entry| Ok((shader, shader.entry_point(stage, entry)?));
        let of_fragment = |it| find(it, ShaderStage::Fragment, fragment);
        Ok(Self {
            vertex: find(&shaders.vertex, ShaderStage::Vertex, vertex)?,
            fragment: shaders.fragment.as_ref().map(of_fragment).transpose()?,
        })
    }

    pub(super) fn entry_points(&self) -> Vec<&'a EntryPoint> {
        let fragment = self.fragment.map(|(_, entry)| entry);
        std::iter::once(self.vertex.1).chain(fragment).collect()
    }
}

/// Checks that every input of the vertex shader has a vertex attribute, and every input of the fragment shader an
/// output of the vertex shader, each of a matching type (section "Shader Input and Output Interfaces").
pub(super) fn check_inputs(
    name: &str,
    vertex_buffers: &[VertexLayout],
    stages: &Stages<'_>,
) -> Result<(), ShaderError> {
    let (_, vertex) = stages.vertex;
    let attributes = vertex_buffers.iter().flat_map(|layout| &layout.attributes);
    let attributes: Vec<_> = attributes.collect();
    let unserved = vertex
        .inputs
        .iter()
        .find_map(|input| unserved(vertex, input, &attributes));
    let unwritten = stages.fragment.and_then(|(_, fragment)| {
        let mut inputs = fragment.inputs.iter();
        inputs.find_map(|input| unwritten(fragment, input, vertex))
    });
    match unserved.or(unwritten) {
        None => Ok(()),
        Some(problem) => Err(ShaderError::Interface {
            label: name.to_owned(),
            problem,
        }),
    }
}

/// Describes why no vertex buffer provides an input of the vertex shader.
fn unserved(
    vertex: &EntryPoint,
    input: &Location,
    attributes: &[&VertexAttribute],
) -> Option<String> {
    let name = &vertex.name;
    let mut attributes = attributes.iter();
    let attribute = attributes.find(|attribute| attribute.location == input.location);
    let Some(attribute) = attribute else {
        return Some(format!("{name} reads {input}, which no vertex buffer has"));
    };
    let scalar = format::scalar_kind(attribute.format);
    (!input.can_have_attribute(scalar)).then(|| {
        let (format, are) = (attribute.format, scalar.word());
        format!("{name} reads {input}, which vertex buffers have as {format:?}: {are}")
    })
}

/// Describes why the vertex shader does not write an input of the fragment shader.
fn unwritten(fragment: &EntryPoint, input: &Location, vertex: &EntryPoint) -> Option<String> {
    let (reader, writer) = (&fragment.name, &vertex.name);
    let mut outputs = vertex.outputs.iter();
    let output = outputs.find(|output| output.location == input.location);
    let Some(output) = output else {
        return Some(format!(
            "{reader} reads {input}, which {writer} does not write"
        ));
    };
    let problem = || format!("{reader} reads {input}, which {writer} writes as {output}");
    (!input.can_have(output)).then(problem)
}

#[cfg(test)]
#[path = "stages_tests.rs"]
mod tests;
