//! Texel properties of images that shaders depend on.

use ash::vk;

use crate::resources::format::{self, scalar_kind};
use crate::resources::image::GpuImage;
use crate::shader::{ScalarKind, ShaderImage};

/// Texel properties of an image that shaders depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Texels {
    format: vk::Format,
    scalar: ScalarKind,
    multisampled: bool,
}

impl Texels {
    /// Value for resources that are not images.
    pub(crate) const NONE: Self = Self {
        format: vk::Format::UNDEFINED,
        scalar: ScalarKind::Float,
        multisampled: false,
    };

    pub(crate) fn of(image: &GpuImage) -> Self {
        Self {
            format: image.format(),
            scalar: scalar_kind(image.format()),
            multisampled: image.desc().samples > 1,
        }
    }

    /// The aspects that shaders access.
    pub(crate) fn aspects(self) -> vk::ImageAspectFlags {
        format::sampled_aspects(self.format)
    }

    /// Describes why the texels do not match a shader's declaration (section "Image Operations Overview", "Format
    /// Compatibility"); `None` if they match.
    #[inline]
    pub(crate) fn problem(self, seen: &ShaderImage) -> Option<String> {
        let fits = seen.multisampled == self.multisampled
            && seen.texels.is_none_or(|texels| texels == self.scalar)
            && seen.format.is_none_or(|format| format == self.format);
        if fits { None } else { Some(self.words(seen)) }
    }

    #[cold]
    fn words(self, seen: &ShaderImage) -> String {
        let Self {
            format,
            scalar,
            multisampled,
        } = self;
        match (multisampled, seen.multisampled) {
            (true, false) => "it has several samples, and the shader reads one".to_owned(),
            (false, true) => "it has one sample, and the shader reads several".to_owned(),
            _ => match seen.format {
                Some(wanted) => format!("its format is {format:?}, and the shader's {wanted:?}"),
                None => {
                    let wanted = seen.texels.map_or("", ScalarKind::word);
                    let are = scalar.word();
                    format!("its texels are {are} ({format:?}), and the shader's are {wanted}")
                }
            },
        }
    }
}
