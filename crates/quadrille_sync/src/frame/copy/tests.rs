use crate::text::parse_frame;

const FRAME: &str = "buffer a 0 bytes 64
image b 1 aspects COLOR mips 2 layers 3
pass one
  StorageWriteCompute a
pass two requires COMPUTE async
  StorageReadCompute a
  StorageWriteCompute b discard
  after one";

/// A copy is equal over any earlier frame, with the same names or others.
#[test]
fn a_copy_over_another_frame_is_equal() {
    let frame = parse_frame(FRAME).unwrap();
    let mut changed = frame.clone();
    changed.passes[1].cost_us = 7;
    changed.passes[1].queue = Default::default();
    changed.passes[0].side_effect = true;
    changed.passes[0].prologue = true;
    changed.passes[0].kind = crate::frame::PassKind::Host;
    changed.resources[0].lifetime = crate::resource::Lifetime::Transient;
    changed.resources[1].kind = changed.resources[0].kind;
    changed.resources[1].sharing = crate::resource::Sharing::Concurrent;
    changed.uses.swap(0, 1);
    changed.cull = true;
    let empty = parse_frame("").unwrap();
    let other = parse_frame(&FRAME.replace("one", "uno")).unwrap();
    let frames = [frame, changed, empty, other];
    for source in &frames {
        for target in &frames {
            let mut copy = target.clone();
            copy.clone_from(source);
            assert_eq!(copy, *source);
        }
    }
}
