//! What a pass renders to.

use quadrille_vulkan::{GpuImage, Load, View};
use smallvec::SmallVec;

use crate::declare::access::{Access, kind};
use crate::declare::any::AnyAccess;
use crate::declare::bind::{Bound, Declared, ResourceRef};
use crate::declare::kind::AccessKind;
use crate::declare::named::Named;
use crate::declare::view::DeclaredView;

/// One attachment with what happens to its old contents.
pub struct Attachment {
    pub(crate) image: Option<GpuImage>,
    /// The mip level and layer of it.
    pub(crate) view: View,
    pub(crate) name: Box<str>,
    pub(crate) kind: AccessKind,
    pub(crate) load: Load<[f32; 4]>,
    /// What gets the average of the samples.
    pub(crate) resolve: Option<(GpuImage, View)>,
}

impl Attachment {
    /// Writes the average of the samples of each texel to an image of one sample and of the same
    /// size and format when rendering ends. The samples themselves are not kept.
    pub fn resolve_to(mut self, target: &impl ColorAttachment) -> Self {
        let bound = target.bound();
        self.resolve = match bound.resource {
            ResourceRef::Image(image) => Some((image.clone(), bound.view.attached())),
            // A buffer is reported as what it is when rendering begins.
            ResourceRef::Buffer(_) => return Self::new(bound, self.load),
        };
        self
    }

    fn new(bound: Bound<'_>, load: Load<[f32; 4]>) -> Self {
        let image = match bound.resource {
            ResourceRef::Image(image) => Some(image.clone()),
            ResourceRef::Buffer(_) => None,
        };
        let name = if image.is_some() {
            Box::default()
        } else {
            bound.name().into()
        };
        Self {
            image,
            view: bound.view.attached(),
            name,
            kind: *bound.kind,
            load,
            resolve: None,
        }
    }
}

/// Renderings with more colour attachments are rare, and allocate.
const INLINE_COLORS: usize = 4;

/// The attachments of a rendering: at most one depth attachment, all of one extent.
#[derive(Default)]
pub struct Attachments {
    /// In place: a pass that draws allocates nothing.
    pub(crate) colors: SmallVec<[Attachment; INLINE_COLORS]>,
    pub(crate) depth: Option<Attachment>,
}

impl From<Attachment> for Attachments {
    fn from(attachment: Attachment) -> Self {
        Self::default().with(attachment)
    }
}

impl From<(Attachment, Attachment)> for Attachments {
    fn from((first, second): (Attachment, Attachment)) -> Self {
        Self::default().with(first).with(second)
    }
}

impl<const N: usize> From<[Attachment; N]> for Attachments {
    fn from(attachments: [Attachment; N]) -> Self {
        attachments.into_iter().fold(Self::default(), Self::with)
    }
}

impl<const N: usize> From<([Attachment; N], Attachment)> for Attachments {
    fn from((colors, depth): ([Attachment; N], Attachment)) -> Self {
        Self::from(colors).with(depth)
    }
}

impl Attachments {
    fn with(mut self, attachment: Attachment) -> Self {
        match attachment.kind {
            AccessKind::DepthTarget | AccessKind::DepthRead if self.depth.is_none() => {
                self.depth = Some(attachment);
            }
            // A second depth is reported as the wrong colour that it is.
            _ => self.colors.push(attachment),
        }
        self
    }
}

/// Colour attachments from declared targets.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no colour target",
    label = "a `ColorTarget<..>` parameter is expected here"
)]
pub trait ColorAttachment: Declared {
    /// Width and height in pixels, which for a window may be others in each frame; zeros if it is
    /// no image.
    fn size(&self) -> [u32; 2] {
        let bound = self.bound();
        match bound.resource {
            ResourceRef::Image(image) => {
                let [width, height, _] = bound.view.extent(image);
                [width, height]
            }
            ResourceRef::Buffer(_) => [0, 0],
        }
    }

    /// Clears the attachment to linear red, green, blue and alpha before drawing: an array or a
    /// `Vec4`, which bevy's colours become with `color.to_linear().to_vec4()`.
    fn clear(&self, color: impl Into<[f32; 4]>) -> Attachment {
        Attachment::new(self.bound(), Load::Clear(color.into()))
    }

    /// Draws over the old contents.
    fn keep(&self) -> Attachment {
        Attachment::new(self.bound(), Load::Keep)
    }

    /// Starts from undefined contents: everything will be drawn over.
    fn discard(&self) -> Attachment {
        Attachment::new(self.bound(), Load::Discard)
    }
}

impl<T> ColorAttachment for Access<'_, T, kind::ColorTarget> where T: Named {}

impl ColorAttachment for AnyAccess<'_> {}

/// Depth attachments from declared targets.
pub trait DepthAttachment: Declared {
    /// Clears the depth to this value before drawing (1.0 is far, or 0.0 with reversed depth).
    fn clear_depth(&self, depth: f32) -> Attachment {
        Attachment::new(self.bound(), Load::Clear([depth, 0.0, 0.0, 0.0]))
    }

    /// Tests against the old contents.
    fn keep_depth(&self) -> Attachment {
        Attachment::new(self.bound(), Load::Keep)
    }
}

impl<T: Named> DepthAttachment for Access<'_, T, kind::DepthTarget> {}

impl<T: Named> DepthAttachment for Access<'_, T, kind::DepthRead> {}

impl ColorAttachment for DeclaredView<'_> {}

impl DepthAttachment for DeclaredView<'_> {}
