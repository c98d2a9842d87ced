use quadrille_sync::text::{parse_frame, parse_topology};

use super::{shrink, shrink_while};
use crate::sequence::Sequence;

fn sequence(frames: &[&str]) -> Sequence {
    Sequence {
        topology: parse_topology("gct:1").unwrap(),
        imports: Vec::new(),
        frames: frames
            .iter()
            .map(|text| parse_frame(text).unwrap())
            .collect(),
    }
}

#[test]
fn passing_sequence_is_not_shrunk() {
    let right = sequence(&["buffer x 0 bytes 4\npass a\n  CopyWrite x\n"]);
    assert_eq!(shrink(&right), right);
}

/// The failure is two writers without an order; everything else must be removed.
#[test]
fn failing_sequence_is_shrunk() {
    let big = sequence(&[
        "buffer x 0 bytes 64\npass a\n  CopyWrite x\n",
        "buffer x 0 bytes 64\nbuffer y 1 bytes 64\npass a cost 7\n  CopyWrite x\n  CopyWrite y\n\
         pass b\n  VertexRead x\npass c\n  CopyWrite y bytes 0..32 discard\n",
    ]);
    let small = sequence(&["buffer y 1 bytes 64\npass a\n  CopyWrite y\npass c\n  CopyWrite y\n"]);
    assert_eq!(shrink(&big).to_string(), small.to_string());
}

#[test]
fn order_is_bridged_where_a_pass_goes() {
    let writes = |name: &str, after: &str| format!("pass {name}\n  CopyWrite x\n{after}");
    let head = "buffer x 0 bytes 4\n".to_owned();
    let chain =
        head.clone() + &writes("a", "") + &writes("b", "  after a\n") + &writes("c", "  after b\n");
    let bridged = head + &writes("a", "") + &writes("c", "  after a\n");
    let keeps_both = |candidate: &Sequence| {
        let passes = candidate.frames.iter().flat_map(|frame| &frame.passes);
        let has = |name: &str| passes.clone().any(|pass| &*pass.name == name);
        let uses: usize = candidate.frames.iter().map(|frame| frame.uses.len()).sum();
        candidate.run().is_ok() && has("a") && has("c") && uses >= 2
    };
    assert_eq!(
        shrink_while(&sequence(&[&chain]), keeps_both),
        sequence(&[&bridged])
    );
}
