//! What a pass renders to.

use bevy_color::{
    Color, ColorToComponents as _, Hsla, Hsva, Hwba, Laba, Lcha, LinearRgba, Oklaba, Oklcha, Srgba,
    Xyza,
};
use glam::Vec4;
use quadrille_vulkan::{Format, GpuImage, Load, View};
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
    /// Of a depth attachment whose format has stencil.
    pub(crate) stencil: Load<u32>,
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

    /// Clears the stencil of a depth attachment to this value before drawing. What is neither cleared
    /// nor kept is undefined.
    pub fn clear_stencil(mut self, stencil: u8) -> Self {
        self.stencil = Load::Clear(stencil.into());
        self
    }

    /// Keeps the old stencil of a depth attachment.
    pub fn keep_stencil(mut self) -> Self {
        self.stencil = Load::Keep;
        self
    }

    /// Whether nothing of the old contents is needed.
    pub(crate) fn overwrites(&self, image: &GpuImage) -> bool {
        let keeps_stencil = has_stencil(image.format()) && self.stencil == Load::Keep;
        !matches!(self.load, Load::Keep) && !keeps_stencil
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
            stencil: Load::Discard,
            resolve: None,
        }
    }
}

fn has_stencil(format: Format) -> bool {
    matches!(
        format,
        Format::S8_UINT
            | Format::D16_UNORM_S8_UINT
            | Format::D24_UNORM_S8_UINT
            | Format::D32_SFLOAT_S8_UINT
    )
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

/// What [`Recorder::render`](crate::Recorder::render) takes: an attachment, an array of colour
/// attachments, or a pair of one or the other with a depth attachment.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what becomes of its old contents",
    label = "an attachment is expected here, such as `window.clear([0.0; 4])`, `window.keep()` or `window.discard()`",
    note = "several are an array of colours, with depth behind it in a pair: `([albedo.discard(), normal.discard()], \
            depth.clear_depth(1.0))`"
)]
pub trait RenderTargets {
    /// The same as a list.
    fn into_attachments(self) -> Attachments;
}

impl RenderTargets for Attachment {
    fn into_attachments(self) -> Attachments {
        Attachments::default().with(self)
    }
}

impl RenderTargets for (Attachment, Attachment) {
    fn into_attachments(self) -> Attachments {
        Attachments::default().with(self.0).with(self.1)
    }
}

impl<const N: usize> RenderTargets for [Attachment; N] {
    fn into_attachments(self) -> Attachments {
        self.into_iter()
            .fold(Attachments::default(), Attachments::with)
    }
}

impl<const N: usize> RenderTargets for ([Attachment; N], Attachment) {
    fn into_attachments(self) -> Attachments {
        self.0.into_attachments().with(self.1)
    }
}

impl RenderTargets for Attachments {
    fn into_attachments(self) -> Attachments {
        self
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

/// What a colour image is cleared to: linear red, green, blue and alpha.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClearValue(pub [f32; 4]);

impl From<[f32; 4]> for ClearValue {
    fn from(linear: [f32; 4]) -> Self {
        Self(linear)
    }
}

impl From<Vec4> for ClearValue {
    fn from(linear: Vec4) -> Self {
        Self(linear.into())
    }
}

macro_rules! clear_values_from {
    ($($color:ty),*) => {$(
        impl From<$color> for ClearValue {
            fn from(color: $color) -> Self {
                Self(LinearRgba::from(color).to_f32_array())
            }
        }
    )*};
}

clear_values_from!(
    Color, LinearRgba, Srgba, Hsla, Hsva, Hwba, Laba, Lcha, Oklaba, Oklcha, Xyza
);

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

    /// Clears the attachment to a colour before drawing: linear red, green, blue and alpha as an array
    /// or a `Vec4`, or a colour of bevy.
    ///
    /// ```
    /// # use quadrille_ecs::{Attachment, ColorAttachment};
    /// use bevy_color::{Color, palettes::css};
    ///
    /// fn attachments(window: &impl ColorAttachment) -> [Attachment; 3] {
    ///     [window.clear([0.0, 0.0, 0.0, 1.0]), window.clear(css::TEAL), window.clear(Color::WHITE)]
    /// }
    /// ```
    fn clear(&self, color: impl Into<ClearValue>) -> Attachment {
        Attachment::new(self.bound(), Load::Clear(color.into().0))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_cleared_to_in_linear_light() {
        let grey = Srgba::rgb(0.5, 0.5, 0.5);
        let ClearValue(linear) = grey.into();
        assert!((linear[0] - 0.2140).abs() < 1e-3, "{linear:?}");
        assert_eq!(ClearValue::from(Color::from(grey)).0, linear);
        assert_eq!(
            ClearValue::from([0.5; 4]),
            Vec4::splat(0.5).into(),
            "numbers are linear already"
        );
    }
}
