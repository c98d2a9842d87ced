//! Attachments: the images that a pass renders to.

use bevy_color::{
    Color, ColorToComponents as _, Hsla, Hsva, Hwba, Laba, Lcha, LinearRgba, Oklaba, Oklcha, Srgba,
    Xyza,
};
use glam::Vec4;
use quadrille_vulkan::Format;
use quadrille_vulkan::commands::{Load, ResolveMode};
use quadrille_vulkan::resources::{GpuImage, View};
use smallvec::SmallVec;

use crate::declare::access::{Access, kind};
use crate::declare::any::AnyAccess;
use crate::declare::bind::{Bound, Declared, ResourceRef};
use crate::declare::kind::AccessKind;
use crate::declare::named::Named;
use crate::declare::view::DeclaredView;

/// An attachment with its load operation.
pub struct Attachment {
    pub(crate) image: Option<GpuImage>,
    /// The mip level and layers.
    pub(crate) view: View,
    pub(crate) name: Box<str>,
    pub(crate) kind: AccessKind,
    pub(crate) load: Load<[f32; 4]>,
    /// Load operation of the stencil aspect, for a depth attachment with stencil.
    pub(crate) stencil: Load<u32>,
    pub(crate) resolve: Option<Resolve>,
    /// Reason why the requested resolve is impossible.
    pub(crate) problem: Option<&'static str>,
}

/// Target of an attachment's resolve.
pub(crate) struct Resolve {
    pub(crate) image: GpuImage,
    pub(crate) view: View,
    /// Modes of depth and of stencil for a depth attachment; `None` for a color attachment.
    pub(crate) modes: [Option<ResolveMode>; 2],
}

impl Attachment {
    /// Resolves the attachment when rendering ends: writes the average of each texel's samples to a single-sample image
    /// of the same size and format. The samples themselves are discarded.
    pub fn resolve_to(mut self, target: &impl ColorAttachment) -> Self {
        if self.is_depth() {
            self.problem =
                Some("it is a depth attachment; call `resolve_depth_to` or `resolve_stencil_to`");
        }
        self.resolve_by(target.bound(), [None; 2])
    }

    /// Resolves depth when rendering ends, to a single-sample image of the same size and format. The samples are kept.
    /// All devices support [`ResolveMode::SampleZero`]; support of the others differs. A resolve of depth without
    /// stencil needs `independentResolveNone`, if the format has stencil.
    ///
    /// ```
    /// # use bevy_derive::Deref;
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::*;
    /// # use quadrille_vulkan::commands::ResolveMode;
    /// # use quadrille_vulkan::resources::GpuImage;
    /// # #[derive(Resource, Deref)] struct Samples(GpuImage);
    /// # #[derive(Resource, Deref)] struct Depth(GpuImage);
    /// /// Single-sampled depth for later passes: the farthest sample, with reversed depth.
    /// fn prepass(mut recorder: Recorder, samples: DepthTarget<Samples>, depth: DepthTarget<Depth>) {
    ///     let target = samples.clear_depth(0.0).resolve_depth_to(&depth, ResolveMode::Min);
    ///     let mut rendering = recorder.render(target);
    ///     // draw
    /// }
    /// ```
    pub fn resolve_depth_to(self, target: &impl DepthAttachment, mode: ResolveMode) -> Self {
        let stencil = self.resolve.as_ref().and_then(|it| it.modes[1]);
        self.expect_depth()
            .resolve_by(target.bound(), [Some(mode), stencil])
    }

    /// Resolves stencil, which has no average, like [`Self::resolve_depth_to`]. If both are used, their target must
    /// be the same image.
    pub fn resolve_stencil_to(self, target: &impl DepthAttachment, mode: ResolveMode) -> Self {
        let depth = self.resolve.as_ref().and_then(|it| it.modes[0]);
        self.expect_depth()
            .resolve_by(target.bound(), [depth, Some(mode)])
    }

    fn expect_depth(mut self) -> Self {
        if !self.is_depth() {
            self.problem = Some("it is a color attachment; call `resolve_to`");
        }
        self
    }

    fn resolve_by(mut self, to: Bound<'_>, modes: [Option<ResolveMode>; 2]) -> Self {
        let ResourceRef::Image(image) = to.resource else {
            // A buffer is passed on unchanged; the beginning of rendering reports it.
            return Self::new(to, self.load);
        };
        let is_other = |known: &Resolve| known.image != *image || known.view != to.view.one_mip();
        if self.resolve.as_ref().is_some_and(is_other) && modes != [None; 2] {
            self.problem = Some("depth and stencil resolve to one image, and one view of it");
        }
        self.resolve = Some(Resolve {
            image: image.clone(),
            view: to.view.one_mip(),
            modes,
        });
        self
    }

    fn is_depth(&self) -> bool {
        use AccessKind::{DepthLocalRead, DepthRead, DepthTarget};
        matches!(self.kind, DepthTarget | DepthRead | DepthLocalRead)
    }

    /// Clears the stencil of a depth attachment to this value before drawing. Stencil that is neither cleared nor kept
    /// is undefined.
    pub fn clear_stencil(mut self, stencil: u8) -> Self {
        self.stencil = Load::Clear(stencil.into());
        self
    }

    /// Keeps the old stencil of a depth attachment.
    pub fn keep_stencil(mut self) -> Self {
        self.stencil = Load::Keep;
        self
    }

    /// Whether the old contents of the view may be discarded.
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
            view: bound.view.one_mip(),
            name,
            kind: *bound.kind,
            load,
            stencil: Load::Discard,
            resolve: None,
            problem: None,
        }
    }
}

impl Resolve {
    /// Whether all aspects are overwritten.
    pub(crate) fn overwrites(&self) -> bool {
        let [depth, stencil] = self.modes;
        let format = self.image.format();
        let is_depth = depth.or(stencil).is_some();
        let keeps_depth = depth.is_none() && format != Format::S8_UINT;
        let keeps_stencil = stencil.is_none() && has_stencil(format);
        !is_depth || !keeps_depth && !keeps_stencil
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

/// Inline capacity; renderings with more color attachments allocate.
const INLINE_COLORS: usize = 4;

/// The attachments of a rendering: at most one depth attachment, all of one extent.
#[derive(Default)]
pub struct Attachments {
    /// Inline, so that a pass that draws does not allocate.
    pub(crate) colors: SmallVec<[Attachment; INLINE_COLORS]>,
    pub(crate) depth: Option<Attachment>,
    pub(crate) view_mask: u32,
}

/// Argument of [`Recorder::render`](crate::Recorder::render): an attachment, an array of color
/// attachments, or a pair of one or the other with a depth attachment.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what becomes of its old contents",
    label = "an attachment is expected here, such as `window.clear([0.0; 4])`, `window.keep()` or `window.discard()`",
    note = "several are an array of colors, with depth behind it in a pair: `([albedo.discard(), normal.discard()], \
            depth.clear_depth(1.0))`"
)]
pub trait RenderTargets {
    /// Converts to [`Attachments`].
    fn into_attachments(self) -> Attachments;

    /// Enables multiview with this view mask: draws and clears are repeated for each set bit,
    /// with the bit's number as `@builtin(view_index)` and as the layer of all
    /// attachments, counted from the first layer of their views. The six faces of a cube
    /// map are `0b111111`. Attachments need a layer for each view up to the last; layers that are not in the mask
    /// keep their contents.
    ///
    /// ```
    /// # use bevy_derive::Deref;
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::*;
    /// # use quadrille_vulkan::pipeline::GraphicsPipeline;
    /// # use quadrille_vulkan::resources::GpuImage;
    /// # #[derive(Resource, Deref)] struct Cascades(GpuImage);
    /// # #[derive(Resource)] struct Casters(GraphicsPipeline);
    /// /// Four shadow maps, each a layer, with one draw. In the vertex shader:
    /// /// `@builtin(view_index) view: u32` chooses among four matrices.
    /// fn shadows(mut recorder: Recorder, maps: DepthTarget<Cascades>, casters: Res<Casters>) {
    ///     let mut rendering = recorder.render(maps.clear_depth(1.0).view_mask(0b1111));
    ///     rendering.pipeline(&casters.0).draw(0..36, 0..100);
    /// }
    /// ```
    fn view_mask(self, mask: u32) -> Attachments
    where
        Self: Sized,
    {
        Attachments {
            view_mask: mask,
            ..self.into_attachments()
        }
    }
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
    /// Restricts views to the rendered layers: the first one, or one per view of the view mask, as far as they exist.
    pub(crate) fn cut_views(&mut self) {
        let views = (u32::BITS - self.view_mask.leading_zeros()) as u16;
        let cut = |view: &mut View| match view.layer_count {
            _ if views == 0 => *view = view.attached(),
            1.. if view.layer_count < views => {}
            _ => view.layer_count = views,
        };
        for attachment in self.colors.iter_mut().chain(&mut self.depth) {
            cut(&mut attachment.view);
            if let Some(resolve) = &mut attachment.resolve {
                cut(&mut resolve.view);
            }
        }
    }

    /// Returns the rendered parts of a restricted view: all of it, or each layer in the view mask.
    pub(crate) fn drawn(&self, view: View) -> impl Iterator<Item = View> {
        let mask = self.view_mask;
        let is_all = mask & mask.wrapping_add(1) == 0;
        let layers = (0..u32::BITS as u16).filter(move |layer| !is_all && mask >> layer & 1 == 1);
        let one = move |layer: u16| view.layer(view.base_layer.saturating_add(layer));
        is_all.then_some(view).into_iter().chain(layers.map(one))
    }

    fn with(mut self, attachment: Attachment) -> Self {
        // A second depth attachment is treated as a color attachment, which reports the error.
        if attachment.is_depth() && self.depth.is_none() {
            self.depth = Some(attachment);
        } else {
            self.colors.push(attachment);
        }
        self
    }
}

/// Clear value of a color image: linear red, green, blue and alpha.
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

/// Color attachments from declared targets.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no color target",
    label = "a `ColorTarget<..>` parameter is expected here"
)]
pub trait ColorAttachment: Declared {
    /// Width and height in pixels, which may change each frame for a window; zeros for a buffer.
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

    /// Load operation `CLEAR`: linear red, green, blue and alpha as an array
    /// or a `Vec4`, or a color of bevy.
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

    /// Load operation `LOAD`: draws over the old contents.
    fn keep(&self) -> Attachment {
        Attachment::new(self.bound(), Load::Keep)
    }

    /// Load operation `DONT_CARE`: the pass has to overwrite all contents.
    fn discard(&self) -> Attachment {
        Attachment::new(self.bound(), Load::Discard)
    }
}

impl<T> ColorAttachment for Access<'_, T, kind::ColorTarget> where T: Named {}

impl<T> ColorAttachment for Access<'_, T, kind::ColorLocalRead> where T: Named {}

impl ColorAttachment for AnyAccess<'_> {}

/// Depth attachments from declared targets.
pub trait DepthAttachment: Declared {
    /// Load operation `CLEAR` with this depth (1.0 is far, or 0.0 with reversed depth).
    fn clear_depth(&self, depth: f32) -> Attachment {
        Attachment::new(self.bound(), Load::Clear([depth, 0.0, 0.0, 0.0]))
    }

    /// Load operation `LOAD`: tests against the old contents.
    fn keep_depth(&self) -> Attachment {
        Attachment::new(self.bound(), Load::Keep)
    }
}

impl<T: Named> DepthAttachment for Access<'_, T, kind::DepthTarget> {}

impl<T: Named> DepthAttachment for Access<'_, T, kind::DepthRead> {}

impl<T: Named> DepthAttachment for Access<'_, T, kind::DepthLocalRead> {}

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
