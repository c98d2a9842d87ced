//! Attachments of renderings, with their load and store operations.

use ash::vk;
use quadrille_sync::access::Access;
use quadrille_sync::resource::ResourceId;

use super::declared::{Part, Reader, Role};
use super::{Command, CommandList};
use crate::device::resolve_mode::ResolveMode;
use crate::pipeline::MAX_COLORS;
use crate::resources::image::GpuImage;
use crate::resources::view::View;

/// Load operation of an attachment (`VkAttachmentLoadOp`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load<T> {
    /// `CLEAR` to this value.
    Clear(T),
    /// `LOAD`: the contents are kept.
    Keep,
    /// `DONT_CARE`: the contents become undefined.
    Discard,
}

/// Store operation of an attachment (`VkAttachmentStoreOp`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Store {
    /// `STORE`: the contents are kept.
    #[default]
    Keep,
    /// `DONT_CARE`: the contents become undefined.
    Discard,
}

/// A color attachment.
#[derive(Clone, Copy, Debug)]
pub struct ColorAttachment<'a> {
    /// The image.
    pub image: &'a GpuImage,
    /// The part of it: one mip level.
    pub view: View,
    /// Load operation. For integer formats the clear color is rounded towards zero.
    pub load: Load<[f32; 4]>,
    /// Store operation.
    pub store: Store,
    /// Resolve target at the end of rendering: a single-sample image and one of its mip levels, for the average of
    /// the samples.
    pub resolve: Option<(&'a GpuImage, View)>,
}

impl<'a> ColorAttachment<'a> {
    /// The first mip level of an image, with store operation [`Store::Keep`].
    pub fn new(image: &'a GpuImage, load: Load<[f32; 4]>) -> Self {
        Self {
            image,
            view: View::WHOLE.mip(0),
            load,
            store: Store::Keep,
            resolve: None,
        }
    }
}

/// A depth or depth-stencil attachment.
#[derive(Clone, Copy, Debug)]
pub struct DepthAttachment<'a> {
    /// The image.
    pub image: &'a GpuImage,
    /// The part of it: one mip level.
    pub view: View,
    /// Load operation of depth.
    pub load: Load<f32>,
    /// Load operation of stencil.
    pub stencil: Load<u32>,
    /// Store operation of both.
    pub store: Store,
    /// Whether depth and stencil are only tested, so that shaders may sample the image at the same time.
    pub read_only: bool,
    /// Resolve at the end of rendering.
    pub resolve: Option<DepthResolve<'a>>,
}

/// Target and modes of a depth and stencil resolve.
#[derive(Clone, Copy, Debug)]
pub struct DepthResolve<'a> {
    /// A single-sample image with the format of the attachment.
    pub image: &'a GpuImage,
    /// The part of it: one mip level.
    pub view: View,
    /// Resolve mode of depth; `None` keeps the target's depth.
    pub depth: Option<ResolveMode>,
    /// Resolve mode of stencil; `None` keeps the target's stencil.
    pub stencil: Option<ResolveMode>,
}

impl<'a> DepthAttachment<'a> {
    /// The first mip level of an image, with stencil discarded at the beginning, and store operation [`Store::Keep`].
    pub fn new(image: &'a GpuImage, load: Load<f32>) -> Self {
        Self {
            image,
            view: View::WHOLE.mip(0),
            load,
            stencil: Load::Discard,
            store: Store::Keep,
            read_only: false,
            resolve: None,
        }
    }
}

/// Attachments and render area of a dynamic rendering.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rendering<'a> {
    /// Colors by `@location`; at most 8.
    pub colors: &'a [ColorAttachment<'a>],
    /// Depth and stencil.
    pub depth: Option<DepthAttachment<'a>>,
    /// Render area: left, top, width and height, clipped to the attachments; `None` for the whole attachments.
    pub area: Option<[u32; 4]>,
    /// View mask (section "Multiview"); 0 disables multiview. Draws and clears of attachments are repeated for each
    /// set bit, with the bit's number as `@builtin(view_index)` and as the layer of the attachments' views.
    pub view_mask: u32,
}

/// A color attachment, as stored in a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ColorData {
    pub image: ResourceId,
    pub view: View,
    /// Bits of four `f32`, so that -0 and 0 differ in comparisons.
    pub load: Load<[u32; 4]>,
    pub store: Store,
    pub resolve: Option<(ResourceId, View)>,
}

/// A depth attachment, as stored in a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DepthData {
    pub image: ResourceId,
    pub view: View,
    /// The bits of an `f32`.
    pub load: Load<u32>,
    pub stencil: Load<u32>,
    pub store: Store,
    pub read_only: bool,
    pub resolve: Option<ResolveData>,
}

/// Target of a depth resolve, as stored in a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ResolveData {
    pub image: ResourceId,
    pub view: View,
    pub depth: Option<ResolveMode>,
    pub stencil: Option<ResolveMode>,
}

/// [`Rendering`], as stored in a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RenderingData {
    pub colors: [Option<ColorData>; MAX_COLORS],
    /// Number of color attachments, also if above the maximum.
    pub color_count: usize,
    pub depth: Option<DepthData>,
    pub area: Option<[u32; 4]>,
    pub view_mask: u32,
}

impl RenderingData {
    pub(crate) fn new(rendering: &Rendering<'_>) -> Self {
        let mut colors = [None; MAX_COLORS];
        for (slot, color) in colors.iter_mut().zip(rendering.colors) {
            *slot = Some(ColorData {
                image: color.image.id(),
                view: color.view,
                load: color.load.map(|color| color.map(f32::to_bits)),
                store: color.store,
                resolve: color.resolve.map(|(image, view)| (image.id(), view)),
            });
        }
        let depth = rendering.depth.map(|depth| DepthData {
            image: depth.image.id(),
            view: depth.view,
            load: depth.load.map(f32::to_bits),
            stencil: depth.stencil,
            store: depth.store,
            read_only: depth.read_only,
            resolve: depth.resolve.map(|resolve| ResolveData {
                image: resolve.image.id(),
                view: resolve.view,
                depth: resolve.depth,
                stencil: resolve.stencil,
            }),
        });
        Self {
            colors,
            color_count: rendering.colors.len(),
            depth,
            area: rendering.area,
            view_mask: rendering.view_mask,
        }
    }
}

/// Mip level and layers of an attachment or resolve target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attached {
    pub image: ResourceId,
    pub view: View,
    /// Bit mask of layers, from the first layer of the view on.
    layers: u32,
    read_only: bool,
}

impl Attached {
    /// Whether both access common texels, and at least one writes them.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        let place = |it: Self| (it.image, it.view.base_mip);
        let [low, high] = if self.view.base_layer <= other.view.base_layer {
            [self, other]
        } else {
            [other, self]
        };
        let apart = high.view.base_layer - low.view.base_layer;
        let is_shared = low.layers.checked_shr(apart.into()).unwrap_or(0) & high.layers != 0;
        place(self) == place(other) && is_shared && !(self.read_only && other.read_only)
    }
}

impl RenderingData {
    /// All attachments and resolve targets.
    pub(crate) fn attached(&self) -> impl Iterator<Item = Attached> + Clone {
        // Without multiview, the first layer.
        let layers = self.view_mask.max(1);
        let at = move |(image, view, read_only): (ResourceId, View, bool)| Attached {
            image,
            view,
            layers,
            read_only,
        };
        let colors = self.colors.iter().flatten();
        let resolved = colors.clone().filter_map(|color| color.resolve);
        let written = colors
            .map(|color| (color.image, color.view))
            .chain(resolved);
        let depth = self.depth.iter();
        let resolved = depth.clone().filter_map(|depth| depth.resolve);
        let resolved = resolved.map(|to| (to.image, to.view));
        let depth = depth.map(|depth| (depth.image, depth.view, depth.read_only));
        let written = written.chain(resolved);
        let written = written.map(|(image, view)| (image, view, false));
        written.chain(depth).map(at)
    }

    /// Number of layers needed in each attachment: up to the highest bit of the view mask.
    pub(crate) fn views(&self) -> u32 {
        u32::BITS - self.view_mask.leading_zeros()
    }
}

impl<T> Load<T> {
    /// Maps the clear value.
    fn map<U>(self, value: impl FnOnce(T) -> U) -> Load<U> {
        match self {
            Self::Clear(old) => Load::Clear(value(old)),
            Self::Keep => Load::Keep,
            Self::Discard => Load::Discard,
        }
    }

    /// Converts to the Vulkan operation.
    pub(crate) fn op(&self) -> vk::AttachmentLoadOp {
        match self {
            Self::Clear(_) => vk::AttachmentLoadOp::CLEAR,
            Self::Keep => vk::AttachmentLoadOp::LOAD,
            Self::Discard => vk::AttachmentLoadOp::DONT_CARE,
        }
    }
}

impl Store {
    /// Converts to the Vulkan operation.
    pub(crate) fn op(self) -> vk::AttachmentStoreOp {
        match self {
            Self::Keep => vk::AttachmentStoreOp::STORE,
            Self::Discard => vk::AttachmentStoreOp::DONT_CARE,
        }
    }
}

impl CommandList {
    /// Begins dynamic rendering (`vkCmdBeginRendering`). Viewport
    /// and scissor are the whole render area until they are set.
    pub fn begin_rendering(&mut self, rendering: &Rendering<'_>) {
        let data = self.side.renderings.len() as u32;
        self.side_mut()
            .renderings
            .push(RenderingData::new(rendering));
        self.add(Command::BeginRendering { data });
    }

    /// Ends dynamic rendering.
    pub fn end_rendering(&mut self) {
        self.add(Command::EndRendering);
    }
}

impl Reader<'_> {
    pub(super) fn rendering(&mut self, data: &RenderingData) {
        self.queries = data.view_mask.count_ones().max(1);
        for color in data.colors.iter().flatten() {
            let access = match color.load {
                Load::Keep => Access::ColorAttachmentReadWrite,
                Load::Clear(_) | Load::Discard => Access::ColorAttachmentWrite,
            };
            let part = Part::View(color.view);
            self.check(color.image, part, access, Role::Words("a color attachment"));
            if let Some((image, view)) = color.resolve {
                let role = Role::Words("the resolve target of a color attachment");
                self.check(
                    image,
                    Part::View(view),
                    Access::ResolveAttachmentWrite,
                    role,
                );
            }
        }
        if let Some(depth) = &data.depth {
            let access = match depth.resolve {
                _ if depth.read_only => Access::DepthReadOnly,
                Some(_) => Access::DepthAttachmentResolvedReadWrite,
                None => Access::DepthAttachmentReadWrite,
            };
            let role = Role::Words("the depth attachment");
            self.check(depth.image, Part::View(depth.view), access, role);
            if let Some(to) = &depth.resolve {
                let role = Role::Words("the resolve target of the depth attachment");
                let access = Access::DepthResolveAttachmentWrite;
                self.check(to.image, Part::View(to.view), access, role);
            }
        }
    }
}
