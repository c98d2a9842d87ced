//! Garbage by format. Pure.

use ash::vk;

/// A clear value that no test expects.
#[derive(Clone, Copy)]
pub(super) enum Garbage {
    Color(vk::ClearColorValue),
    DepthStencil(vk::ClearDepthStencilValue),
}

impl Garbage {
    /// Returns the garbage of a format; `None` for formats that cannot be cleared.
    ///
    /// Derived from the format's Vulkan name, which states how components are read and which ash knows. This avoids a
    /// table of 250 formats.
    pub(super) fn of(format: vk::Format) -> Option<Self> {
        let name = format!("{format:?}");
        let unclearable = ["BLOCK", "PLANE", "_422_", "_420_", "UNDEFINED"];
        if unclearable.iter().any(|part| name.contains(part)) {
            return None;
        }
        if ["D16", "D24", "D32", "X8_D24", "S8"]
            .iter()
            .any(|depth| name.starts_with(depth))
        {
            return Some(Self::DepthStencil(vk::ClearDepthStencilValue {
                depth: 0.313,
                stencil: 0xCD,
            }));
        }
        let color = if name.contains("UINT") {
            vk::ClearColorValue { uint32: [0xCD; 4] }
        } else if name.contains("SINT") {
            vk::ClearColorValue { int32: [-0x33; 4] }
        } else if name.contains("FLOAT") {
            vk::ClearColorValue {
                float32: [f32::NAN; 4],
            }
        } else if ["NORM", "SRGB", "SCALED"]
            .iter()
            .any(|part| name.contains(part))
        {
            vk::ClearColorValue {
                float32: [0.8, 0.2, 0.8, 0.6],
            }
        } else {
            return None;
        };
        Some(Self::Color(color))
    }

    /// Converts to the clear value of an attachment.
    pub(super) fn clear_value(self) -> vk::ClearValue {
        match self {
            Self::Color(color) => vk::ClearValue { color },
            Self::DepthStencil(depth_stencil) => vk::ClearValue { depth_stencil },
        }
    }
}

#[cfg(test)]
mod tests;
