use super::*;
use crate::states::States;
use crate::text::{parse_frame, parse_topology};

/// By pass name: the saving of moving it, in microseconds.
fn advice(topology: &str, frame: &str, costs: &[u64]) -> Vec<(String, u64)> {
    let topology = parse_topology(topology).unwrap();
    let frame = parse_frame(frame).unwrap();
    let plan = crate::solve::plan(&frame, &topology, &States::default()).unwrap();
    let all = advise(&frame, &topology, &plan, |pass| costs[pass.0 as usize]);
    let name = |advice: &Advice| frame.pass(advice.pass).name.to_string();
    all.iter()
        .map(|advice| (name(advice), advice.saves_us))
        .collect()
}

const CHAIN: &str = "buffer a 0 bytes 64\n\
    pass write requires COMPUTE\n  StorageWriteCompute a\n\
    pass read requires COMPUTE\n  StorageReadCompute a";

#[test]
fn a_chain_gains_nothing() {
    assert!(advice("gct:1,ct:1", CHAIN, &[10, 10]).is_empty());
}

/// ```text
/// simulate (8) -> draw (5)      blur (4) is alone
/// ```
const BESIDE: &str = "buffer a 0 bytes 64\nbuffer b 1 bytes 64\n\
    pass simulate requires COMPUTE\n  StorageWriteCompute a\n\
    pass blur requires COMPUTE\n  StorageWriteCompute b\n\
    pass draw requires GRAPHICS\n  StorageReadFragment a";

#[test]
fn independent_passes_can_move() {
    let expected = [("blur".to_owned(), 4), ("simulate".to_owned(), 4)];
    assert_eq!(
        advice("gct:1,ct:1", BESIDE, &[8, 4, 5]),
        [expected[1].clone(), expected[0].clone()]
    );
}

#[test]
fn nothing_moves_where_nobody_else_can_run_it() {
    assert!(advice("gct:1", BESIDE, &[8, 4, 5]).is_empty());
    assert!(advice("gct:1,t:1", BESIDE, &[8, 4, 5]).is_empty());
}

#[test]
fn saving_is_at_most_the_overlap() {
    // Without `blur` the frame still takes 13; with `blur` of 40 alone it takes 40 of 53.
    let saved = advice("gct:1,ct:1", BESIDE, &[8, 40, 5]);
    let blur = saved.iter().find(|(name, _)| name == "blur").unwrap();
    assert_eq!(blur.1, 13);
}
