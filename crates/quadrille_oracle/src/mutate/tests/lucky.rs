//! Elements that chance makes needless: what they are for, they alone do.

use super::is_excused;

#[test]
fn a_barrier_of_another_resource_orders_too() {
    let frame = "
buffer cells 0 bytes 64
buffer sums 1 bytes 64
pass fill
  CopyWrite cells
pass add
  StorageReadCompute cells
  StorageWriteCompute sums
pass paint
  StorageWriteFragment cells discard
  StorageReadFragment sums
";
    let plan = "submit 0 signal 1
  pass fill
  barriers
    memory COPY TRANSFER_WRITE -> COMPUTE_SHADER SHADER_STORAGE_READ
      because cells Memory pass fill -> pass add
  pass add
  barriers
    buffer cells bytes 0..64 COMPUTE_SHADER - -> FRAGMENT_SHADER -
      because cells Execution pass add -> pass paint
    buffer sums bytes 0..64 COMPUTE_SHADER SHADER_STORAGE_WRITE -> FRAGMENT_SHADER SHADER_STORAGE_READ
      because sums Memory pass add -> pass paint
  pass paint
";
    is_excused(
        "gct:1",
        &[(frame, plan)],
        "0 DropBarrier barrier Buffer(0) in step 3 of submission 0: Chance",
    );
}

#[test]
fn a_wait_for_the_sake_of_a_later_pass_covers_an_earlier_one() {
    let frame = "
buffer cells 0 bytes 64 concurrent
buffer sums 1 bytes 64 concurrent
pass write
  StorageWriteCompute cells
  StorageWriteCompute sums
pass copy
  CopyRead sums
pass look
  StorageReadCompute cells
pass read
  StorageReadCompute cells
pass late
  StorageWriteCompute cells discard
  after look
  after read
";
    let plan = "submit 1 signal 1
  pass write
submit 0 signal 1
  wait 1 value 1 at COPY
      because sums OtherQueue pass write -> pass copy
  pass copy
submit 1 signal 2
  barriers
    memory COMPUTE_SHADER SHADER_STORAGE_WRITE -> COMPUTE_SHADER SHADER_STORAGE_READ
      because cells Memory pass write -> pass look
  pass look
submit 0 signal 2
  wait 1 value 2 at COMPUTE_SHADER
      because cells OtherQueue pass look -> pass late
  barriers
    memory COPY - -> COMPUTE_SHADER SHADER_STORAGE_READ
      because cells OtherQueue pass write -> pass read
  pass read
  barriers
    memory COMPUTE_SHADER - -> COMPUTE_SHADER -
      because cells Execution pass read -> pass late
  pass late
";
    is_excused(
        "gct:2",
        &[(frame, plan)],
        "0 DropBarrier barrier Memory in step 0 of submission 3: Later",
    );
}

#[test]
fn a_reader_in_between_leads_on() {
    let frame = "
buffer cells 0 bytes 64
pass write
  StorageWriteFragment cells
pass paint
  StorageReadFragment cells
pass read
  StorageReadCompute cells
pass fill
  CopyWrite cells discard
  after paint
  after read
";
    let plan = "submit 0 signal 1
  pass write
  barriers
    memory FRAGMENT_SHADER SHADER_STORAGE_WRITE -> FRAGMENT_SHADER SHADER_STORAGE_READ
      because cells Memory pass write -> pass paint
  pass paint
  barriers
    memory FRAGMENT_SHADER SHADER_STORAGE_WRITE -> COMPUTE_SHADER SHADER_STORAGE_READ
      because cells Memory pass write -> pass read
  pass read
  barriers
    memory FRAGMENT_SHADER|COMPUTE_SHADER - -> COPY -
      because cells Execution pass read -> pass fill
  pass fill
";
    is_excused(
        "gct:1",
        &[(frame, plan)],
        "0 SrcStage Stages(FRAGMENT_SHADER) of barrier Memory in step 5 of submission 0: Reader",
    );
}

#[test]
fn one_of_two_stages_is_enough_to_lead_on() {
    let frame = "
image depth 0 aspects DEPTH mips 1 layers 1 concurrent
pass fill
  CopyWrite depth
pass draw
  DepthAttachmentWrite depth discard
";
    let plan = "submit 1 signal 1
  barriers
    image depth aspects DEPTH mips 0..1 layers 0..1 - - -> COPY TRANSFER_WRITE layout Undefined -> TransferDstOptimal
      because depth LayoutTransition nobody -> pass fill
  pass fill
submit 0 signal 1
  wait 1 value 1 at EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS
      because depth OtherQueue pass fill -> pass draw
  barriers
    image depth aspects DEPTH mips 0..1 layers 0..1 EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS - -> EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS DEPTH_STENCIL_ATTACHMENT_READ|DEPTH_STENCIL_ATTACHMENT_WRITE layout Undefined -> DepthStencilAttachmentOptimal
      because depth LayoutTransition pass fill -> pass draw
  pass draw
";
    is_excused(
        "gct:2",
        &[(frame, plan)],
        "0 WaitStage Stages(EARLY_FRAGMENT_TESTS) of 0 of submission 1: Chain",
    );
}
