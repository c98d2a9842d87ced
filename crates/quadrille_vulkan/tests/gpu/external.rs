//! Images that others share, by formats that are refused.

use quadrille_vulkan::resources::{ImageDesc, MemoryHandle, SharedMemory};
use quadrille_vulkan::{Error, Format};

use crate::rig::Rig;

fn desc(format: Format) -> ImageDesc {
    ImageDesc::color_target("picture", [16, 8], format)
}

#[test]
#[ignore = "needs a device"]
fn images_of_several_planes_are_neither_exported_nor_imported() {
    let rig = Rig::new();
    let planar = desc(Format::G8_B8R8_2PLANE_420_UNORM);
    let said = |result: Result<_, Error>, verb: &str| {
        let error = result.map(|_| ()).expect_err("its colors are not RGB");
        let said = error.to_string();
        assert!(said.starts_with("`picture`"), "{said}");
        let parts = [
            "G8_B8R8_2PLANE_420_UNORM is a Y'CbCr format",
            "R8_UNORM and R8G8_UNORM for NV12",
        ];
        assert!(
            parts.iter().all(|part| said.contains(part)),
            "{verb}: {said}"
        );
    };
    let single = desc(Format::R8_UNORM);
    let handle = MemoryHandle::OpaqueFd;
    let made = rig.gpu.create_exportable_image(&single, handle).unwrap();
    for handle in [MemoryHandle::OpaqueFd, MemoryHandle::DmaBuf] {
        said(rig.gpu.create_exportable_image(&planar, handle), "exported");
        let SharedMemory { fd, mut layout } = made.export().unwrap();
        layout.handle = handle;
        said(
            rig.gpu.import_image(&planar, SharedMemory { fd, layout }),
            "imported",
        );
    }
}
