use super::*;
use crate::solve::plan;
use crate::states::States;
use crate::text::{parse_frame, parse_topology};

#[test]
fn a_diagram_has_queues_submissions_and_waits() {
    let topology = parse_topology("gct:1,ct:1").unwrap();
    let text = "buffer cells 0 bytes 64 concurrent\n\
        pass \"simu\\\"late\" requires COMPUTE async\n  StorageWriteCompute cells\n\
        pass draw requires GRAPHICS\n  VertexRead cells\n";
    let frame = parse_frame(text).unwrap();
    let mut states = States::default();
    let first = plan(&frame, &topology, &states).unwrap();
    let drawn = dot(&frame, &topology, &first);
    assert!(drawn.contains("subgraph cluster_1"), "{drawn}");
    assert!(drawn.contains("q1_1 [label=\"simu\\\"late\"]"), "{drawn}");
    assert!(drawn.contains("q1_1 -> q0_1 [label=\"cells\"]"), "{drawn}");
    states.commit(&frame, &topology, &first);
    let second = plan(&frame, &topology, &states).unwrap();
    let drawn = dot(&frame, &topology, &second);
    assert!(
        drawn.contains("q0_0 [label=\"earlier frame\\nqueue 0, 0\""),
        "{drawn}"
    );
}

#[test]
fn host_passes_are_between_their_waits_and_their_waiters() {
    let topology = parse_topology("gct:1").unwrap();
    let text = "buffer cells 0 bytes 64\n\
        pass write\n  CopyWrite cells\n\
        pass double host\n  HostReadWrite cells\n  after write\n\
        pass draw\n  VertexRead cells\n  after double\n";
    let frame = parse_frame(text).unwrap();
    let plan = plan(&frame, &topology, &States::default()).unwrap();
    let drawn = dot(&frame, &topology, &plan);
    for expected in [
        "host_0 [label=\"double\"]",
        "q0_1 -> host_0;",
        "host_0 -> q0_2 [label=\"submitted after\"]",
    ] {
        assert!(drawn.contains(expected), "{drawn}");
    }
}

#[test]
fn submissions_show_values_of_user_timelines() {
    let topology = parse_topology("gct:1").unwrap();
    let text = "buffer cells 0 bytes 64\n\
        timeline physics base 40\n\
        pass write\n  CopyWrite cells\n  signal physics value 1\n\
        pass draw\n  VertexRead cells\n  wait physics value 2\n  after write\n";
    let frame = parse_frame(text).unwrap();
    let plan = plan(&frame, &topology, &States::default()).unwrap();
    let drawn = dot(&frame, &topology, &plan);
    assert!(
        drawn.contains("[label=\"write\\nsignal physics 41\"]"),
        "{drawn}"
    );
    assert!(drawn.contains("[label=\"wait for physics 42\\n"), "{drawn}");
}
