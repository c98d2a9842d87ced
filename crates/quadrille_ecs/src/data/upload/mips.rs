//! Generation of mip levels by blits.

use quadrille_sync::access::Access;
use quadrille_sync::frame::Preference;
use quadrille_sync::range::{SubRange, SubresourceRange};
use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::commands::CommandList;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::resources::{GpuImage, Handle, ImageDesc, ImageRegion, ImageUsage, View};
use quadrille_vulkan::{Error, vk};

use crate::data::internal::{InternalPass, InternalUse};

/// Returns why the mip levels of an image cannot be generated; `None` if they can.
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

/// Message for a format whose mip levels cannot be generated.
fn not_scaled(format: vk::Format) -> String {
    format!(
        "its mip levels cannot be made: the device does not scale {format:?} with a linear filter; \
         upload them, or take a format such as R8G8B8A8_SRGB or R16G16B16A16_SFLOAT"
    )
}

/// Returns the passes that generate all levels of images. Each level is a blit of the previous one with a linear
/// filter. At even sizes the filter averages two texels per direction. At odd sizes a blit to half the size would skip
/// texels (of three, only the middle one would count), so the level is first scaled to twice the target size. The
/// weights are then approximate: 3/8, 1/4, 3/8 instead of 1/3 each for three texels; 7/16, 3/8, 3/16 instead of 2/5,
/// 2/5, 1/5 for five. Larger sizes are closer to the exact weights.
pub(super) fn passes(gpu: &Gpu, images: &[GpuImage]) -> Result<Vec<InternalPass>, Error> {
    let levels = images.iter().map(|image| image.desc().mip_levels).max();
    let mut passes = Vec::new();
    // One pass per level: the blits of a pass do not depend on each other.
    for level in 1..levels.unwrap_or(0) {
        let mut evened = Blits::default();
        let mut made = Blits::default();
        for image in images.iter().filter(|it| it.desc().mip_levels > level) {
            let [from, to] = [level - 1, level].map(|mip| ImageRegion::mip(image, mip));
            match even(from.extent, to.extent) {
                None => made.add(image, from, image, to),
                Some(extent) => {
                    let between = between(gpu, image, extent)?;
                    let whole = ImageRegion::whole(&between);
                    evened.add(image, from, &between, whole);
                    made.add(&between, whole, image, to);
                }
            }
        }
        if !evened.uses.is_empty() {
            passes.push(evened.pass(format!("mip level {level}, from an even size")));
        }
        passes.push(made.pass(format!("mip level {level}")));
    }
    Ok(passes)
}

/// Returns the intermediate size for a blit from an odd size: twice the target size in each odd direction. `None` if
/// all directions are even.
fn even(from: [u32; 3], to: [u32; 3]) -> Option<[u32; 3]> {
    let side = |from: u32, to: u32| {
        if from > 1 && !from.is_multiple_of(2) {
            2 * to
        } else {
            from
        }
    };
    let extent = [0, 1, 2].map(|at| side(from[at], to[at]));
    (extent != from).then_some(extent)
}

/// Creates a transient image for the intermediate, even size of a level.
fn between(gpu: &Gpu, image: &GpuImage, extent: [u32; 3]) -> Result<GpuImage, Error> {
    let [width, height, _] = extent;
    let usage = ImageUsage::TRANSFER_SRC | ImageUsage::TRANSFER_DST;
    let name = format!("{}, a mip level", image.name());
    let desc = ImageDesc {
        extent,
        array_layers: image.desc().array_layers,
        ..ImageDesc::new(name, [width, height], image.format(), usage).transient()
    };
    gpu.create_image(&desc)
}

/// The blits of one pass.
#[derive(Default)]
struct Blits {
    list: CommandList,
    uses: Vec<InternalUse>,
}

impl Blits {
    fn add(&mut self, from: &GpuImage, read: ImageRegion, to: &GpuImage, written: ImageRegion) {
        let filter = vk::Filter::LINEAR;
        self.list.blit_image(from, read, to, written, filter);
        let used = |image: &GpuImage, region: ImageRegion, access| InternalUse {
            range: SubRange::Subresources(SubresourceRange {
                base_mip: region.mip,
                mip_count: 1,
                ..View::WHOLE.subresources(image)
            }),
            ..InternalUse::of(Handle::Image(image.clone()), access)
        };
        self.uses.push(used(from, read, Access::BlitRead));
        self.uses
            .push(used(to, written, Access::BlitWrite).discarding());
    }

    fn pass(self, name: String) -> InternalPass {
        let required = Capabilities::TRANSFER | Capabilities::GRAPHICS;
        InternalPass::prologue(name, (required, Preference::Main), self.uses, self.list)
    }
}
