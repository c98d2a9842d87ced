use quadrille_sync::{parse_frame, parse_plan};

use super::*;

/// A plan of one submission that releases two halves of an image, and one that acquires them.
fn plan(acquires: [&str; 2]) -> Plan {
    let frame = parse_frame(
        "image map 0 aspects COLOR mips 2 layers 2\n\
         pass fill\n  CopyWrite map discard\n\
         pass read\n  SampledCompute map\n  after fill\n",
    );
    let half = |mips: &str, dst: &str, kind: &str| {
        format!(
            "    image map aspects COLOR mips {mips} layers 0..2 ALL_COMMANDS - -> {dst} layout \
             TransferDstOptimal -> ShaderReadOnlyOptimal {kind} 0 -> 1\n      \
             because map OwnershipTransfer pass fill -> pass read\n"
        )
    };
    let text = format!(
        "submit 0 signal 1\n  pass fill\n  barriers\n{}{}submit 1 signal 1\n  wait 0 value 1 at \
         ALL_COMMANDS\n      because map OwnershipTransfer pass fill -> pass read\n  barriers\n{}{}  \
         pass read\n",
        half("0..1", "- -", "release"),
        half("1..2", "- -", "release"),
        half("0..1", acquires[0], "acquire"),
        half("1..2", acquires[1], "acquire"),
    );
    match frame.map(|frame| parse_plan(&text, &frame)) {
        Ok(Ok(plan)) => plan,
        other => panic!("the text is a plan: {other:?}\n{text}"),
    }
}

#[test]
fn transfers_that_could_be_one_are_found() {
    let scope = "COMPUTE_SHADER SHADER_SAMPLED_READ";
    let found = unjoined(&plan([scope, scope]));
    assert_eq!(found.len(), 2, "both halves: {found:?}");
}

#[test]
fn other_halves_that_differ_keep_transfers_apart() {
    let found = unjoined(&plan([
        "COMPUTE_SHADER SHADER_SAMPLED_READ",
        "COMPUTE_SHADER -",
    ]));
    assert_eq!(found, []);
}
