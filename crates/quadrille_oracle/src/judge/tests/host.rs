//! Host passes between submissions.

use quadrille_sync::text::{parse_frame, parse_plan, parse_topology};

use super::super::Judge;
use super::{fails, passes};

const FRAME: &str = "
buffer cells 0 bytes 64
pass write
  CopyWrite cells
pass double host
  HostReadWrite cells
  after write
pass read
  StorageReadCompute cells
  after double
";

const PLAN: &str = "
submit 0 signal 1
  pass write
  barriers
    memory COPY TRANSFER_WRITE -> HOST HOST_READ|HOST_WRITE
host double
  wait 0 value 1
submit 0 signal 2
  pass read
";

#[test]
fn submissions_after_the_host_read_its_writes() {
    passes("gct:1", &[(FRAME, PLAN), (FRAME, &again())]);
}

/// The plan for a repeated frame, whose first write follows the read of the frame before.
fn again() -> String {
    let order = "  barriers\n    memory COMPUTE_SHADER - -> COPY -\n  pass write";
    PLAN.replacen("  pass write", order, 1)
}

#[test]
fn readers_of_host_writes_must_not_be_submitted_earlier() {
    let host = "host double\n  wait 0 value 1\n";
    let plan = PLAN.replace(host, "") + host;
    let expected = [
        "Pass `read` runs before pass `double`, though it is declared to come after.",
        "ReadAfterWrite hazard on all of `cells`: pass `read` (StorageReadCompute, frame 1) after \
         pass `write` (CopyWrite, frame 1); no execution dependency orders them.",
        "WriteAfterRead hazard on all of `cells`: pass `double` (HostReadWrite, frame 1) after \
         pass `read` (StorageReadCompute, frame 1); no execution dependency orders them.",
    ];
    fails("gct:1", &[(FRAME, &plan)], &expected);
}

#[test]
fn host_pass_cannot_wait_for_later_submissions() {
    let plan = PLAN.replace("wait 0 value 1", "wait 0 value 2");
    let expected = "Host pass `double` waits for ever, for value 2 of queue 0.";
    let mut judge = Judge::new(&parse_topology("gct:1").unwrap());
    let frame = parse_frame(FRAME).unwrap();
    let found = judge.frame(&frame, &parse_plan(&plan, &frame).unwrap());
    assert_eq!(found[0].to_string(), expected);
}

#[test]
fn a_declared_order_is_waited_for_though_nothing_is_shared() {
    let frame = "
buffer cells 0 bytes 64
pass write
  CopyWrite cells
pass log host
  after write
";
    let plan = "submit 0 signal 1\n  pass write\nhost log\n";
    let right = format!("{plan}  wait 0 value 1\n");
    passes("gct:1", &[(frame, &right)]);
    let expected =
        "Host pass `log` does not wait for pass `write`, and is declared to come after it.";
    fails("gct:1", &[(frame, plan)], &[expected]);
}

#[test]
fn the_host_shows_the_device_nothing_but_its_own_writes() {
    let frame = "
buffer cells 0 bytes 64
buffer notes 1 bytes 64
pass write
  CopyWrite cells
pass note host
  HostWrite notes
  after write
pass read
  UniformReadCompute notes
  StorageReadCompute cells
";
    let plan = "
submit 0 signal 1
  pass write
host note
  wait 0 value 1
submit 1 signal 1
  wait 0 value 1 at COMPUTE_SHADER
  pass read
";
    passes("gct:2", &[(frame, plan)]);
    let unseen = plan.replace("  wait 0 value 1 at COMPUTE_SHADER\n", "");
    let expected = "ReadAfterWrite hazard on all of `cells`: pass `read` (StorageReadCompute, frame \
                    1) after pass `write` (CopyWrite, frame 1); no execution dependency orders them.";
    fails("gct:2", &[(frame, &unseen)], &[expected]);
}
