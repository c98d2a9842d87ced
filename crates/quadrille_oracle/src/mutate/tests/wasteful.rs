//! Waste, which nothing excuses.

use super::are_waste;

/// Two passes that read what one writes.
const WRITE_AND_READ: &str = "
buffer cells 0 bytes 64
pass write
  StorageWriteCompute cells
pass read
  StorageReadCompute cells
pass look
  StorageReadCompute cells
";

/// The barrier that the readers need.
const SHOWN: &str = "  barriers
    memory COMPUTE_SHADER SHADER_STORAGE_WRITE -> COMPUTE_SHADER SHADER_STORAGE_READ
      because cells Memory pass write -> pass read
";

#[test]
fn a_barrier_that_stands_there_twice_is_waste() {
    let plan = format!("submit 0 signal 1\n  pass write\n{SHOWN}{SHOWN}  pass read\n  pass look\n");
    are_waste(
        "gct:1",
        &[(WRITE_AND_READ, &plan)],
        &[
            "0 DropBarrier barrier Memory in step 1 of submission 0",
            "0 SrcStage Stages(COMPUTE_SHADER) of barrier Memory in step 1 of submission 0",
            "0 SrcAccess AccessMask(SHADER_STORAGE_WRITE) of barrier Memory in step 1 of submission 0",
            "0 DstStage Stages(COMPUTE_SHADER) of barrier Memory in step 1 of submission 0",
            "0 DstAccess AccessMask(SHADER_STORAGE_READ) of barrier Memory in step 1 of submission 0",
            "0 DropBarrier barrier Memory in step 2 of submission 0",
            "0 SrcStage Stages(COMPUTE_SHADER) of barrier Memory in step 2 of submission 0",
            "0 SrcAccess AccessMask(SHADER_STORAGE_WRITE) of barrier Memory in step 2 of submission 0",
            "0 DstStage Stages(COMPUTE_SHADER) of barrier Memory in step 2 of submission 0",
            "0 DstAccess AccessMask(SHADER_STORAGE_READ) of barrier Memory in step 2 of submission 0",
            "0 LateBarrier step 2 of submission 0",
        ],
    );
}

#[test]
fn a_barrier_for_a_reader_who_sees_it_already_is_waste() {
    let again = SHOWN.replace("pass read", "pass look");
    let plan = format!("submit 0 signal 1\n  pass write\n{SHOWN}  pass read\n{again}  pass look\n");
    are_waste(
        "gct:1",
        &[(WRITE_AND_READ, &plan)],
        &[
            "0 DropBarrier barrier Memory in step 3 of submission 0",
            "0 DstStage Stages(COMPUTE_SHADER) of barrier Memory in step 3 of submission 0",
            "0 DstAccess AccessMask(SHADER_STORAGE_READ) of barrier Memory in step 3 of submission 0",
        ],
    );
}

#[test]
fn stages_and_accesses_that_nobody_has_are_waste() {
    let wide = SHOWN
        .replace("memory COMPUTE_SHADER", "memory COMPUTE_SHADER|COPY")
        .replace(
            "SHADER_STORAGE_WRITE",
            "SHADER_STORAGE_WRITE|TRANSFER_WRITE",
        )
        .replace("-> COMPUTE_SHADER", "-> COMPUTE_SHADER|VERTEX_SHADER")
        .replace("STORAGE_READ", "STORAGE_READ|UNIFORM_READ");
    let plan = format!("submit 0 signal 1\n  pass write\n{wide}  pass read\n  pass look\n");
    are_waste(
        "gct:1",
        &[(WRITE_AND_READ, &plan)],
        &[
            "0 SrcStage Stages(COPY) of barrier Memory in step 1 of submission 0",
            "0 SrcAccess AccessMask(TRANSFER_WRITE) of barrier Memory in step 1 of submission 0",
            "0 DstStage Stages(VERTEX_SHADER) of barrier Memory in step 1 of submission 0",
            "0 DstAccess AccessMask(UNIFORM_READ) of barrier Memory in step 1 of submission 0",
        ],
    );
}

#[test]
fn a_stage_that_logical_order_lets_do_as_well_is_waste() {
    let frame = "
buffer cells 0 bytes 64
pass draw
  StorageReadVertex cells
pass write
  StorageWriteCompute cells discard
  after draw
";
    let fill = "
buffer cells 0 bytes 64
pass fill
  CopyWrite cells
";
    let plan = "submit 0 signal 1
  barriers
    memory COPY TRANSFER_WRITE -> VERTEX_SHADER SHADER_STORAGE_READ
      because cells Memory earlier fill -> pass draw
  pass draw
  barriers
    memory VERTEX_SHADER|FRAGMENT_SHADER - -> COMPUTE_SHADER -
      because cells Execution pass draw -> pass write
  pass write
";
    are_waste(
        "gct:1",
        &[(fill, "submit 0 signal 1\n  pass fill\n"), (frame, plan)],
        &["1 SrcStage Stages(FRAGMENT_SHADER) of barrier Memory in step 2 of submission 0"],
    );
}

#[test]
fn all_commands_instead_of_a_stage_is_waste() {
    for wide in ["ALL_COMMANDS", "COMPUTE_SHADER|ALL_COMMANDS"] {
        let barrier = SHOWN.replace("memory COMPUTE_SHADER", &format!("memory {wide}"));
        let plan = format!("submit 0 signal 1\n  pass write\n{barrier}  pass read\n  pass look\n");
        let lost: &[&str] = match wide.contains('|') {
            true => &["Stages(ALL_COMMANDS)"],
            false => &["Stages(COPY)", "all but its own stages"],
        };
        let survivors = lost
            .iter()
            .map(|lost| format!("0 SrcStage {lost} of barrier Memory in step 1 of submission 0"));
        let survivors: Vec<String> = survivors.collect();
        let survivors: Vec<&str> = survivors.iter().map(String::as_str).collect();
        are_waste("gct:1", &[(WRITE_AND_READ, &plan)], &survivors);
    }
}

#[test]
fn a_wait_that_another_implies_is_waste() {
    let frame = "
buffer cells 0 bytes 64 concurrent
buffer sums 1 bytes 64 concurrent
pass write
  StorageWriteCompute cells
pass add
  StorageReadCompute cells
  StorageWriteCompute sums
pass look
  StorageReadCompute cells
  StorageReadCompute sums
";
    let wait = |from: &str, to: &str, queue: u32, name: &str| {
        format!(
            "  wait {queue} value 1 at COMPUTE_SHADER\n      because {name} OtherQueue pass {from} -> \
             pass {to}\n"
        )
    };
    let plan = format!(
        "submit 0 signal 1\n  pass write\nsubmit 1 signal 1\n{}  pass add\nsubmit 2 signal 1\n{}{}  \
         pass look\n",
        wait("write", "add", 0, "cells"),
        wait("write", "look", 0, "cells"),
        wait("add", "look", 1, "sums"),
    );
    are_waste(
        "gct:3",
        &[(frame, &plan)],
        // To wait in a stage for nothing is still a wait: only all of it is waste.
        &["0 DropWait 0 of submission 2"],
    );
}

#[test]
fn calls_that_nothing_keeps_apart_are_waste() {
    let frame = "
image shot 0 aspects COLOR mips 1 layers 1
buffer cells 1 bytes 64
pass draw
  StorageWriteCompute shot discard
  StorageWriteCompute cells
pass look
  SampledCompute shot
  StorageReadCompute cells
";
    let plan = "submit 0 signal 1
  barriers
    image shot aspects COLOR mips 0..1 layers 0..1 - - -> COMPUTE_SHADER SHADER_STORAGE_WRITE layout Undefined -> General
      because shot LayoutTransition nobody -> pass draw
  pass draw
  barriers
    image shot aspects COLOR mips 0..1 layers 0..1 COMPUTE_SHADER SHADER_STORAGE_WRITE -> COMPUTE_SHADER SHADER_SAMPLED_READ layout General -> ShaderReadOnlyOptimal
      because shot LayoutTransition pass draw -> pass look
  barriers
    buffer cells bytes 0..64 COMPUTE_SHADER SHADER_STORAGE_WRITE -> COMPUTE_SHADER SHADER_STORAGE_READ
      because cells Memory pass draw -> pass look
  pass look
";
    are_waste(
        "gct:1",
        &[(frame, plan)],
        &["0 JoinCalls steps 2 and 3 of submission 0"],
    );
}

#[test]
fn a_barrier_between_writers_of_different_slices_is_waste() {
    let frame = "
image fog 0 aspects COLOR mips 1 layers 1 slices 8
pass near
  StorageWriteCompute fog aspects COLOR mip 0 slices 0..4
pass far
  StorageWriteCompute fog aspects COLOR mip 0 slices 4..8
";
    let plan = "submit 0 signal 1
  barriers
    image fog aspects COLOR mips 0..1 layers 0..1 - - -> COMPUTE_SHADER SHADER_STORAGE_WRITE layout Undefined -> General
      because fog LayoutTransition nobody -> pass near
  pass near
  barriers
    memory COMPUTE_SHADER - -> COMPUTE_SHADER SHADER_STORAGE_WRITE
      because fog Memory pass near -> pass far
  pass far
";
    are_waste(
        "gct:1",
        &[(frame, plan)],
        &["0 SrcStage Stages(COMPUTE_SHADER) of barrier Memory in step 2 of submission 0"],
    );
}
