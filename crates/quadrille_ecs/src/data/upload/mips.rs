//! Mip levels, each made from the one before it.

use quadrille_sync::{
    Access, Capabilities, PassKind, Preference, QueueRequest, SubRange, SubresourceRange,
};
use quadrille_vulkan::{CommandList, Gpu, GpuImage, Handle, ImageRegion, ImageUsage, View, vk};

use crate::data::internal::{InternalPass, InternalUse};

/// Why the mip levels of an image cannot be made, if they cannot.
pub(super) fn problem(gpu: &Gpu, image: &GpuImage) -> Option<String> {
    let both = ImageUsage::TRANSFER_SRC | ImageUsage::TRANSFER_DST;
    if !Handle::Image(image.clone()).is_of(gpu) {
        Some("its mip levels are to be made, but it was made from another device".to_owned())
    } else if !image.desc().usage.contains(both) {
        Some(
            "its mip levels are made by copies, and it was made without the usages TRANSFER_SRC and \
             TRANSFER_DST; add them to its description"
                .to_owned(),
        )
    } else if !gpu.can_scale(image.format()) {
        Some(not_scaled(image.format()))
    } else {
        None
    }
}

/// What is said of a format that mip levels cannot be made in.
fn not_scaled(format: vk::Format) -> String {
    format!(
        "its mip levels cannot be made: the device does not scale {format:?} with a linear filter; \
         upload them, or take a format such as R8G8B8A8_SRGB or R16G16B16A16_SFLOAT"
    )
}

/// A pass for each level, of all images that have it: within a pass nothing waits for another blit.
pub(super) fn passes(images: &[GpuImage]) -> impl Iterator<Item = InternalPass> {
    let levels = images.iter().map(|image| image.desc().mip_levels).max();
    (1..levels.unwrap_or(0)).map(|level| {
        let have = |image: &&GpuImage| image.desc().mip_levels > level;
        pass(level, images.iter().filter(have))
    })
}

/// The pass that makes one level from that before it.
fn pass<'a>(level: u32, images: impl Iterator<Item = &'a GpuImage>) -> InternalPass {
    let mut list = CommandList::default();
    let mut uses = Vec::new();
    for image in images {
        let [from, to] = [level - 1, level].map(|mip| ImageRegion::mip(image, mip));
        list.blit_image(image, from, image, to, vk::Filter::LINEAR);
        let used = |base_mip, access| InternalUse {
            range: SubRange::Subresources(SubresourceRange {
                base_mip,
                mip_count: 1,
                ..View::WHOLE.subresources(image)
            }),
            ..InternalUse::of(Handle::Image(image.clone()), access)
        };
        uses.push(used(level - 1, Access::BlitRead));
        uses.push(used(level, Access::BlitWrite).discarding());
    }
    InternalPass {
        name: format!("mip level {level}").into(),
        kind: PassKind::Device,
        queue: QueueRequest {
            required: Capabilities::TRANSFER | Capabilities::GRAPHICS,
            preference: Preference::Main,
            fixed: None,
        },
        prologue: true,
        uses,
        undeclared: Vec::new(),
        list,
    }
}
