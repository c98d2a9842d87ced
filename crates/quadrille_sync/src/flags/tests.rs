use super::*;

#[test]
fn layouts_are_listed_once_and_in_order() {
    assert!(
        Layout::ALL
            .windows(2)
            .all(|pair| pair[0].value() < pair[1].value())
    );
    assert_eq!(Layout::ALL.len(), 29);
    assert_eq!(Layout::default(), Layout::Undefined);
}

#[test]
fn every_access_is_a_read_or_a_write() {
    for (name, access) in AccessMask::all().iter_names() {
        assert_ne!(
            access.reads().is_empty(),
            access.writes().is_empty(),
            "{name}"
        );
    }
}

#[test]
fn stages_that_stand_for_several_cover_them() {
    assert!(Stages::ALL_COMMANDS.covers(Stages::ALL_GRAPHICS));
    assert!(Stages::ALL_COMMANDS.covers(Stages::COPY | Stages::VIDEO_DECODE));
    assert!(Stages::ALL_GRAPHICS.covers(Stages::VERTEX_SHADER | Stages::DRAW_INDIRECT));
    assert!(Stages::PRE_RASTERIZATION_SHADERS.covers(Stages::MESH_SHADER));
    assert!(Stages::ALL_TRANSFER.covers(Stages::CLEAR | Stages::BLIT));
    assert!(Stages::VERTEX_INPUT.covers(Stages::INDEX_INPUT));
}

#[test]
fn and_nothing_else() {
    assert!(!Stages::ALL_COMMANDS.covers(Stages::HOST));
    assert!(!Stages::ALL_GRAPHICS.covers(Stages::COMPUTE_SHADER));
    assert!(!Stages::ALL_GRAPHICS.covers(Stages::BLIT));
    assert!(!Stages::ALL_GRAPHICS.covers(Stages::COMMAND_PREPROCESS));
    assert!(!Stages::VERTEX_SHADER.covers(Stages::PRE_RASTERIZATION_SHADERS));
    assert!(!Stages::COPY.covers(Stages::ALL_TRANSFER));
    assert!(!Stages::empty().covers(Stages::COPY));
}

#[test]
fn accesses_that_stand_for_several_cover_them() {
    assert!(AccessMask::MEMORY_READ.covers(AccessMask::INDEX_READ | AccessMask::HOST_READ));
    assert!(AccessMask::MEMORY_WRITE.covers(AccessMask::TRANSFER_WRITE));
    assert!(!AccessMask::MEMORY_READ.covers(AccessMask::TRANSFER_WRITE));
    assert!(AccessMask::SHADER_READ.covers(AccessMask::SHADER_SAMPLED_READ));
    assert!(!AccessMask::SHADER_READ.covers(AccessMask::UNIFORM_READ));
    assert!(AccessMask::SHADER_WRITE.covers(AccessMask::SHADER_STORAGE_WRITE));
}

#[test]
fn all_commands_says_all_but_the_host() {
    let stages = Stages::ALL_COMMANDS | Stages::COPY;
    assert_eq!(stages.simplified(), Stages::ALL_COMMANDS);
    assert_eq!(
        (stages | Stages::HOST).simplified(),
        Stages::ALL_COMMANDS | Stages::HOST
    );
    assert_eq!(Stages::COPY.simplified(), Stages::COPY);
}

#[test]
fn shorthands_absorb_the_flags_they_stand_for() {
    let shorthands = [
        Stages::ALL_GRAPHICS,
        Stages::VERTEX_INPUT,
        Stages::PRE_RASTERIZATION_SHADERS,
        Stages::ALL_TRANSFER,
    ];
    for shorthand in shorthands {
        let said_twice = shorthand.expanded() | Stages::COMPUTE_SHADER;
        assert_eq!(said_twice.simplified(), shorthand | Stages::COMPUTE_SHADER);
    }
    let access = AccessMask::SHADER_READ | AccessMask::SHADER_STORAGE_READ;
    let uniform = AccessMask::UNIFORM_READ;
    assert_eq!(
        (access | uniform).simplified(),
        AccessMask::SHADER_READ | uniform
    );
    let all = AccessMask::MEMORY_READ | AccessMask::SHADER_READ | AccessMask::SHADER_WRITE;
    assert_eq!(
        all.simplified(),
        AccessMask::MEMORY_READ | AccessMask::SHADER_WRITE
    );
}

#[test]
fn queues_have_the_stages_of_their_capabilities() {
    let transfer = Stages::supported_by(Capabilities::TRANSFER);
    assert!(transfer.contains(Stages::COPY | Stages::ALL_TRANSFER | Stages::ALL_COMMANDS));
    assert!(!transfer.intersects(Stages::BLIT | Stages::COMPUTE_SHADER | Stages::DRAW_INDIRECT));
    let compute = Stages::supported_by(Capabilities::COMPUTE);
    assert!(compute.contains(Stages::COMPUTE_SHADER | Stages::DRAW_INDIRECT | Stages::COPY));
    assert!(!compute.intersects(Stages::FRAGMENT_SHADER | Stages::ALL_GRAPHICS));
    let decode = Stages::supported_by(Capabilities::VIDEO_DECODE);
    assert!(decode.contains(Stages::VIDEO_DECODE));
    assert!(!decode.intersects(Stages::COPY | Stages::VIDEO_ENCODE));
}
