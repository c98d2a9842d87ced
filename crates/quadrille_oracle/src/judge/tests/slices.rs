//! Slices of 3D images: each has its own contents; all slices of a level share layout and owner.

use super::{fails, passes};

const FRAME: &str = "
image fog 0 aspects COLOR mips 1 layers 1 slices 4
pass near
  StorageWriteCompute fog aspects COLOR mip 0 slices 0..2
pass far
  CopyWrite fog aspects COLOR mip 0 slices 2..3
  after near
";

/// One layout transition for all slices, after the writer of other slices.
const PLAN: &str = "
submit 0 signal 1
  barriers
    image fog aspects COLOR mips 0..1 layers 0..1 - - -> COMPUTE_SHADER SHADER_STORAGE_WRITE layout Undefined -> General
  pass near
  barriers
    image fog aspects COLOR mips 0..1 layers 0..1 COMPUTE_SHADER SHADER_STORAGE_WRITE -> COPY TRANSFER_WRITE layout General -> TransferDstOptimal
  pass far
";

#[test]
fn a_change_after_the_writer_of_other_slices_is_right() {
    passes("gct:1", &[(FRAME, PLAN)]);
}

#[test]
fn a_change_comes_after_all_slices() {
    let wrong = PLAN.replace("COMPUTE_SHADER SHADER_STORAGE_WRITE -> COPY", "- - -> COPY");
    let expected = "WriteAfterWrite hazard on slices 0..2 of mip levels 0..1, array layers 0..1 of \
                    COLOR of `fog`: the layout transition General -> TransferDstOptimal of frame 1 \
                    after pass `near` (StorageWriteCompute, frame 1); no execution dependency \
                    orders them.";
    let rest = "WriteAfterWrite hazard on slices 2.. of mip levels 0..1, array layers 0..1 of COLOR \
                of `fog`: the layout transition General -> TransferDstOptimal of frame 1 after the \
                layout transition Undefined -> General of frame 1; no execution dependency orders \
                them.";
    fails("gct:1", &[(FRAME, &wrong)], &[expected, rest]);
}

#[test]
fn a_change_that_discards_loses_all_slices() {
    let read = "
image fog 0 aspects COLOR mips 1 layers 1 slices 4
pass look
  CopyRead fog aspects COLOR mip 0 slices 0..1
pass fill
  StorageWriteCompute fog aspects COLOR mip 0 slices 1..4 discard
  after look
pass peer
  StorageReadCompute fog aspects COLOR mip 0 slices 0..1
  after fill
";
    let fill = "
image fog 0 aspects COLOR mips 1 layers 1 slices 4
pass clear
  CopyWrite fog
";
    let filled = "
submit 0 signal 1
  barriers
    image fog aspects COLOR mips 0..1 layers 0..1 - - -> COPY TRANSFER_WRITE layout Undefined -> TransferDstOptimal
  pass clear
";
    let right = "
submit 0 signal 1
  barriers
    image fog aspects COLOR mips 0..1 layers 0..1 COPY TRANSFER_WRITE -> COPY TRANSFER_READ layout TransferDstOptimal -> TransferSrcOptimal
  pass look
  barriers
    image fog aspects COLOR mips 0..1 layers 0..1 COPY - -> COMPUTE_SHADER SHADER_STORAGE_READ|SHADER_STORAGE_WRITE layout TransferSrcOptimal -> General
  pass fill
  pass peer
";
    passes("gct:1", &[(fill, filled), (read, right)]);
    let wrong = right.replace("layout TransferSrcOptimal ->", "layout Undefined ->");
    let expected = "pass `peer` (StorageReadCompute, frame 2) needs the contents of slices 0..1 of \
                    mip levels 0..1, array layers 0..1 of COLOR of `fog`, which the layout \
                    transition Undefined -> General of frame 2 has discarded.";
    fails("gct:1", &[(fill, filled), (read, &wrong)], &[expected]);
}

#[test]
fn writers_of_the_same_slice_need_an_order() {
    let frame = FRAME
        .replace("slices 2..3", "slices 1..3")
        .replace("CopyWrite", "StorageWriteCompute");
    let plan = "
submit 0 signal 1
  barriers
    image fog aspects COLOR mips 0..1 layers 0..1 - - -> COMPUTE_SHADER SHADER_STORAGE_WRITE layout Undefined -> General
  pass near
  pass far
";
    let expected = "WriteAfterWrite hazard on slices 1..2 of mip levels 0..1, array layers 0..1 of \
                    COLOR of `fog`: pass `far` (StorageWriteCompute, frame 1) after pass `near` \
                    (StorageWriteCompute, frame 1); no execution dependency orders them.";
    fails("gct:1", &[(&frame, plan)], &[expected]);
    let apart = FRAME.replace("CopyWrite", "StorageWriteCompute");
    passes("gct:1", &[(&apart, plan)]);
}
