//! The shaders of a graphics pipeline, and whether they fit together.

use super::graphics::GraphicsPipelineDesc;
use super::state::VertexLayout;
use crate::error::ShaderError;
use crate::shader::{EntryPoint, Shader, ShaderStage};

/// A shader with the entry point at which it starts.
type Stage<'a> = (&'a Shader, &'a EntryPoint);

/// The shaders of a graphics pipeline.
#[derive(Clone, Copy)]
pub(super) struct Stages<'a> {
    pub vertex: Stage<'a>,
    pub fragment: Option<Stage<'a>>,
}

impl<'a> Stages<'a> {
    pub(super) fn new(desc: &GraphicsPipelineDesc<'a>) -> Result<Self, ShaderError> {
        Self::find(desc.vertex, desc.fragment)
    }

    /// Finds entry points by their names; an empty name is the only one.
    pub(super) fn find(
        (vertex, vertex_entry): (&'a Shader, &str),
        fragment: Option<(&'a Shader, &str)>,
    ) -> Result<Self, ShaderError> {
        let vertex = (
            vertex,
            vertex.entry_point(ShaderStage::Vertex, vertex_entry)?,
        );
        let fragment = match fragment {
            Some((shader, entry)) => {
                Some((shader, shader.entry_point(ShaderStage::Fragment, entry)?))
            }
            None => None,
        };
        Ok(Self { vertex, fragment })
    }

    pub(super) fn entry_points(&self) -> Vec<&'a EntryPoint> {
        let fragment = self.fragment.map(|(_, entry)| entry);
        std::iter::once(self.vertex.1).chain(fragment).collect()
    }

    pub(super) fn shaders(&self) -> impl Iterator<Item = &'a Shader> {
        let fragment = self.fragment.map(|(shader, _)| shader);
        std::iter::once(self.vertex.0).chain(fragment)
    }
}

/// Every input of the vertex shader needs an attribute, and every one of the fragment shader an
/// output of the vertex shader (section "Shader Input and Output Interfaces").
pub(super) fn check_inputs(
    name: &str,
    vertex_buffers: &[VertexLayout],
    stages: &Stages<'_>,
) -> Result<(), ShaderError> {
    let problem = |problem: String| {
        Err(ShaderError::Interface {
            label: name.to_owned(),
            problem,
        })
    };
    let (_, vertex) = stages.vertex;
    let has_attribute = |location: u32| {
        let mut attributes = vertex_buffers.iter().flat_map(|layout| &layout.attributes);
        attributes.any(|attribute| attribute.location == location)
    };
    let mut inputs = vertex.inputs.iter();
    if let Some(location) = inputs.find(|location| !has_attribute(**location)) {
        return problem(format!(
            "{} reads @location({location}), which no vertex buffer has",
            vertex.name
        ));
    }
    let Some((_, fragment)) = stages.fragment else {
        return Ok(());
    };
    let mut inputs = fragment.inputs.iter();
    match inputs.find(|location| !vertex.outputs.contains(location)) {
        None => Ok(()),
        Some(location) => problem(format!(
            "{} reads @location({location}), which {} does not write",
            fragment.name, vertex.name
        )),
    }
}
