use super::*;
use crate::access::Access;
use crate::topology::Capabilities;

/// A named access in Vulkan's terms.
fn spelled_out(access: Access) -> CustomAccess {
    let scope = access.scope(Capabilities::all());
    CustomAccess {
        stages: scope.stages,
        access: scope.access,
        layout: access.layout(),
        writes: access.is_write(),
    }
}

#[test]
fn named_accesses_can_be_spelled_out() {
    for access in Access::ALL {
        assert_eq!(wrong(&spelled_out(*access), true), None, "{access:?}");
    }
}

#[test]
fn no_named_access_can_be_spelled_out_in_stages_that_do_not_make_it() {
    for access in Access::ALL.iter().filter(|it| !it.stages().is_empty()) {
        let custom = CustomAccess {
            stages: Stages::TOP_OF_PIPE,
            ..spelled_out(*access)
        };
        assert!(wrong(&custom, true).is_some(), "{access:?}");
    }
}

#[test]
fn stage_groups_allow_the_accesses_of_their_stages() {
    for (stages, access) in [
        (Stages::ALL_COMMANDS, AccessMask::SHADER_STORAGE_READ),
        (Stages::ALL_TRANSFER, AccessMask::TRANSFER_READ),
        (Stages::ALL_GRAPHICS, AccessMask::INDEX_READ),
        (Stages::PRE_RASTERIZATION_SHADERS, AccessMask::UNIFORM_READ),
        (Stages::VERTEX_INPUT, AccessMask::VERTEX_ATTRIBUTE_READ),
    ] {
        let custom = CustomAccess {
            stages,
            access,
            ..CustomAccess::default()
        };
        assert_eq!(wrong(&custom, false), None, "{stages:?}");
    }
}
