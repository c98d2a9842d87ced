//! Depth and stencil of one image, used separately.

use ash::vk;
use quadrille_sync::access::Access;
use quadrille_sync::flags::Aspects;
use quadrille_sync::frame::Use;
use quadrille_sync::range::{SubRange, SubresourceRange};
use quadrille_vulkan::commands::{DepthAttachment, Load, Rendering};
use quadrille_vulkan::resources::{ImageDesc, ImageUsage};

use crate::rig::{Rig, graphics};

/// A use of one aspect of an image with a single level and layer.
fn aspect(of: Use, aspects: Aspects) -> Use {
    let range = SubRange::Subresources(SubresourceRange {
        aspects,
        base_mip: 0,
        mip_count: 1,
        base_layer: 0,
        layer_count: 1,
    });
    Use { range, ..of }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn depth_is_written_while_stencil_is_read() {
    let mut rig = Rig::new();
    let usage = ImageUsage::DEPTH_STENCIL_ATTACHMENT | ImageUsage::TRANSFER_SRC;
    let desc = ImageDesc::new("depths", [4, 4], vk::Format::D32_SFLOAT_S8_UINT, usage);
    let depths = rig.gpu.create_image(&desc).unwrap();
    let read = rig.readback(64);
    for far in [0.25_f32, 0.75] {
        rig.frame(|frame| {
            let image = frame.resource(depths.clone());
            let both = [
                aspect(
                    Use::whole(image, Access::DepthAttachmentWrite),
                    Aspects::DEPTH,
                ),
                aspect(
                    Use::whole(image, Access::StencilAttachmentWrite),
                    Aspects::STENCIL,
                ),
            ];
            frame.pass("clear both", graphics(), &both, |list| {
                let depth = DepthAttachment {
                    stencil: Load::Clear(7),
                    ..DepthAttachment::new(&depths, Load::Clear(0.0))
                };
                list.begin_rendering(&Rendering {
                    depth: Some(depth),
                    ..Rendering::default()
                });
                list.end_rendering();
            });
            let apart = [
                aspect(
                    Use::whole(image, Access::DepthAttachmentWrite),
                    Aspects::DEPTH,
                ),
                aspect(Use::whole(image, Access::StencilReadOnly), Aspects::STENCIL),
            ];
            frame.pass("write depth, test stencil", graphics(), &apart, |list| {
                let depth = DepthAttachment {
                    stencil: Load::Keep,
                    ..DepthAttachment::new(&depths, Load::Clear(far))
                };
                list.begin_rendering(&Rendering {
                    depth: Some(depth),
                    ..Rendering::default()
                });
                list.end_rendering();
            });
            frame.read_image(&depths, &read);
        });
        assert_eq!(rig.words(&read), [far.to_bits(); 16]);
    }
}
