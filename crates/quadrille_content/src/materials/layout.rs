//! Layout of the rows of material types.

use quadrille::material::{MaterialBinding, MaterialBindingKind};

/// Alignment of uniforms in a row, at least that of any WGSL type.
pub(crate) const UNIFORM_ALIGNMENT: u64 = 16;

/// Layout of the rows of a material type: uniforms, then indices of textures and samplers, four to a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaterialLayout {
    /// All bindings, by their numbers.
    pub bindings: Vec<MaterialBinding>,
    /// Offset of each uniform.
    pub offsets: Vec<u64>,
    /// Offset of the indices.
    pub indices_offset: u64,
    /// Bytes of a row.
    pub stride: u64,
}

impl MaterialLayout {
    /// Lays the bindings out.
    pub fn new(bindings: Vec<MaterialBinding>) -> Self {
        let mut end = 0;
        let mut offsets = Vec::new();
        let mut indices = 0_u64;
        for binding in &bindings {
            match binding.kind {
                MaterialBindingKind::Uniform { bytes } => {
                    offsets.push(end);
                    end += bytes.next_multiple_of(UNIFORM_ALIGNMENT);
                }
                _ => indices += 1,
            }
        }
        Self {
            bindings,
            offsets,
            indices_offset: end,
            // At least one vector, behind which the compiler cannot hide the size of the last uniform.
            stride: end + indices.div_ceil(4).max(1) * 16,
        }
    }

    /// Uniforms with their sizes, in their order.
    pub(crate) fn uniforms(&self) -> impl Iterator<Item = (&MaterialBinding, u64)> {
        self.bindings.iter().filter_map(|it| match it.kind {
            MaterialBindingKind::Uniform { bytes } => Some((it, bytes)),
            _ => None,
        })
    }

    /// Index of a binding among uniforms, or among all others.
    pub(crate) fn rank(&self, binding: &MaterialBinding) -> usize {
        let is_uniform =
            |it: &&MaterialBinding| matches!(it.kind, MaterialBindingKind::Uniform { .. });
        let wanted = is_uniform(&binding);
        let before = self
            .bindings
            .iter()
            .take_while(|it| it.binding != binding.binding);
        before.filter(|it| is_uniform(it) == wanted).count()
    }
}
