//! Usages required by the layouts of images.

use quadrille_sync::flags::Layout;

use crate::resources::image::{GpuImage, ImageUsage};

/// Returns the usages of which an image in this layout needs at least one, with their names; `None` for layouts
/// that any image may have (`VkImageMemoryBarrier2`, VUID 01208 to 01213 and 03938 to 03941 on
/// `oldLayout` and `newLayout`).
fn usages_of(layout: Layout) -> Option<(ImageUsage, &'static str)> {
    match layout {
        Layout::ColorAttachmentOptimal => Some((ImageUsage::COLOR_ATTACHMENT, "COLOR_ATTACHMENT")),
        Layout::DepthStencilAttachmentOptimal
        | Layout::DepthAttachmentOptimal
        | Layout::StencilAttachmentOptimal
        | Layout::DepthReadOnlyStencilAttachmentOptimal
        | Layout::DepthAttachmentStencilReadOnlyOptimal => Some((
            ImageUsage::DEPTH_STENCIL_ATTACHMENT,
            "DEPTH_STENCIL_ATTACHMENT",
        )),
        Layout::DepthStencilReadOnlyOptimal
        | Layout::DepthReadOnlyOptimal
        | Layout::StencilReadOnlyOptimal => Some((
            ImageUsage::DEPTH_STENCIL_ATTACHMENT.union(ImageUsage::SAMPLED),
            "DEPTH_STENCIL_ATTACHMENT or SAMPLED",
        )),
        Layout::RenderingLocalRead => Some((ImageUsage::INPUT_ATTACHMENT, "INPUT_ATTACHMENT")),
        Layout::ShaderReadOnlyOptimal => Some((ImageUsage::SAMPLED, "SAMPLED")),
        Layout::TransferSrcOptimal => Some((ImageUsage::TRANSFER_SRC, "TRANSFER_SRC")),
        Layout::TransferDstOptimal => Some((ImageUsage::TRANSFER_DST, "TRANSFER_DST")),
        _ => None,
    }
}

/// Names the usage that a layout requires and an image lacks.
pub(crate) fn lacks(image: &GpuImage, layout: Layout) -> Option<&'static str> {
    let (usages, name) = usages_of(layout)?;
    (!image.desc().usage.intersects(usages)).then_some(name)
}
