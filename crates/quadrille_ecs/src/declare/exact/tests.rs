use quadrille_sync::access::Access;
use quadrille_vulkan::shader::{Binding, BindingKind};
use quadrille_vulkan::vk;

use super::{allows, is_attachment};

fn storage(writes: bool, stages: vk::ShaderStageFlags) -> Binding {
    Binding {
        binding: 0,
        name: "cells".to_owned(),
        kind: BindingKind::StorageBuffer,
        reads: true,
        writes,
        stages,
        least_bytes: 4,
        layout: Default::default(),
    }
}

#[test]
fn accesses_allow_their_own_kind_and_stages_only() {
    let (vertex, fragment, compute) = (
        vk::ShaderStageFlags::VERTEX,
        vk::ShaderStageFlags::FRAGMENT,
        vk::ShaderStageFlags::COMPUTE,
    );
    let read = |stages| storage(false, stages);
    let write = |stages| storage(true, stages);
    assert!(allows(Access::StorageReadCompute, &read(compute)));
    assert!(
        !allows(Access::StorageReadCompute, &write(compute)),
        "a write"
    );
    assert!(
        !allows(Access::StorageReadCompute, &read(vertex)),
        "elsewhere"
    );
    assert!(!allows(Access::TransferRead, &read(compute)), "a copy");
    assert!(allows(Access::StorageReadWriteCompute, &write(compute)));
    assert!(
        allows(Access::StorageWriteCompute, &write(compute)),
        "a write is taken at its word"
    );
    assert!(allows(
        Access::StorageReadGraphics,
        &read(vertex | fragment)
    ));
    assert!(
        !allows(Access::StorageReadFragment, &read(vertex | fragment)),
        "one of two stages"
    );
}

#[test]
fn attachments_differ_from_shader_reads() {
    assert!(is_attachment(Access::ColorAttachmentWrite));
    assert!(is_attachment(Access::DepthAttachmentReadWrite));
    assert!(!is_attachment(Access::SampledFragment));
    assert!(!is_attachment(Access::TransferWrite));
}
