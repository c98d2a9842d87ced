use std::collections::HashSet;

use super::*;

const GRAPHICS: Capabilities = Capabilities::GRAPHICS
    .union(Capabilities::COMPUTE)
    .union(Capabilities::TRANSFER);

#[test]
fn names_are_unique_and_those_of_the_variants() {
    let names: HashSet<&str> = Access::ALL.iter().map(|access| access.name()).collect();
    assert_eq!(names.len(), Access::ALL.len());
    assert!(
        Access::ALL
            .iter()
            .all(|access| format!("{access:?}") == access.name())
    );
}

#[test]
fn every_row_agrees_with_its_access_mask() {
    for access in Access::ALL {
        let mask = access.scope(Capabilities::all()).access;
        assert_eq!(access.is_write(), !mask.writes().is_empty(), "{access:?}");
        assert!(access.is_read() || access.is_write(), "{access:?}");
        let has_memory = !mask.is_empty();
        assert_eq!(has_memory, !access.stages().is_empty(), "{access:?}");
    }
}

#[test]
fn only_read_names_are_read_only() {
    for access in Access::ALL {
        if access.name().contains("Write") {
            assert!(access.is_write(), "{access:?}");
        }
        if access.name().contains("ReadWrite") {
            assert!(access.is_read(), "{access:?}");
        }
    }
}

#[test]
fn any_takes_the_stages_that_the_queue_has() {
    let access = Access::StorageReadAny;
    assert_eq!(
        access.scope(Capabilities::COMPUTE).stages,
        Stages::COMPUTE_SHADER
    );
    let all = Stages::COMPUTE_SHADER | Stages::FRAGMENT_SHADER | Stages::PRE_RASTERIZATION_SHADERS;
    assert_eq!(access.scope(GRAPHICS).stages, all);
    assert!(access.runs_on(Capabilities::COMPUTE));
    assert!(!access.runs_on(Capabilities::TRANSFER));
}

#[test]
fn other_accesses_need_all_their_stages() {
    assert!(!Access::SampledFragment.runs_on(Capabilities::COMPUTE));
    assert!(Access::SampledFragment.runs_on(GRAPHICS));
    assert!(Access::CopyRead.runs_on(Capabilities::TRANSFER));
    assert!(!Access::BlitRead.runs_on(Capabilities::TRANSFER | Capabilities::COMPUTE));
    assert!(Access::AccelerationStructureBuildWrite.runs_on(Capabilities::COMPUTE));
    assert!(Access::VideoDecodeWrite.runs_on(Capabilities::VIDEO_DECODE));
}

#[test]
fn a_custom_access_reads_unless_it_only_writes() {
    let custom = CustomAccess {
        stages: Stages::COPY,
        access: AccessMask::TRANSFER_WRITE,
        layout: Layout::General,
        writes: true,
    };
    assert!(!Access::Custom(custom).is_read());
    let access = AccessMask::TRANSFER_WRITE | AccessMask::TRANSFER_READ;
    assert!(Access::Custom(CustomAccess { access, ..custom }).is_read());
    assert!(
        Access::Custom(CustomAccess {
            writes: false,
            ..custom
        })
        .is_read()
    );
}

#[test]
fn only_the_host_accesses_on_the_host() {
    let host: Vec<&Access> = Access::ALL
        .iter()
        .filter(|access| access.is_host())
        .collect();
    let expected = [
        &Access::HostRead,
        &Access::HostWrite,
        &Access::HostReadWrite,
    ];
    assert_eq!(host, expected);
}

#[test]
fn targets_agree_with_layouts_and_kinds_of_access() {
    for access in Access::ALL {
        let target = access.target();
        // An access with an image layout applies to images only, except transfers and texel buffers.
        let kinds = access.scope(Capabilities::all()).access;
        let of_both = AccessMask::TRANSFER_READ | AccessMask::TRANSFER_WRITE;
        let of_both = of_both | AccessMask::SHADER_SAMPLED_READ;
        if access.layout() != Layout::General && !of_both.contains(kinds)
            || *access == Access::Present
        {
            assert!(!target.meets(Target::BUFFER), "{access:?}");
        }
        if target == Target::BUFFER {
            assert_eq!(access.layout(), Layout::General, "{access:?}");
        }
        let color = AccessMask::COLOR_ATTACHMENT_READ | AccessMask::COLOR_ATTACHMENT_WRITE;
        if access.name().starts_with("Color") {
            assert!(
                kinds.intersects(color) && target == Target::COLOR,
                "{access:?}"
            );
        }
        let is_depth = kinds.intersects(
            AccessMask::DEPTH_STENCIL_ATTACHMENT_READ | AccessMask::DEPTH_STENCIL_ATTACHMENT_WRITE,
        );
        assert!(!is_depth || target == Target::DEPTH, "{access:?}");
    }
}
