//! Waits that are needed, and waits that only cost time.

use super::{fails, passes};

const READERS: &str = "
image scene 0 aspects COLOR mips 1 layers 1
buffer a 1 bytes 64
buffer b 2 bytes 64
pass upload
  CopyWrite scene
pass one
  SampledCompute scene
  StorageWriteCompute a
pass two
  SampledCompute scene
  StorageWriteCompute b
";

const UPLOAD: &str = "submit 0 signal 1
  barriers
    image scene aspects COLOR mips 0..1 layers 0..1 - - -> COPY TRANSFER_WRITE layout Undefined -> TransferDstOptimal
  pass upload
";

const CHANGE: &str = "  barriers
    image scene aspects COLOR mips 0..1 layers 0..1 COMPUTE_SHADER - -> COMPUTE_SHADER SHADER_SAMPLED_READ layout TransferDstOptimal -> ShaderReadOnlyOptimal
";

#[test]
fn a_reader_does_not_wait_for_another_one() {
    let together = format!(
        "{UPLOAD}submit 1 signal 1\n  wait 0 value 1 at COMPUTE_SHADER\n{CHANGE}  pass one\n\
         submit 2 signal 1\n  wait 1 value 1 at COMPUTE_SHADER\n  pass two\n"
    );
    let objection = "Submission 2 waits for value 1 of queue 1, a submission of passes of which it \
                     needs none.";
    fails("gct:3", &[(READERS, &together)], &[objection]);
    let apart = format!(
        "{UPLOAD}submit 1 signal 1\n  wait 0 value 1 at COMPUTE_SHADER\n{CHANGE}submit 1 signal 2\n  \
         pass one\nsubmit 2 signal 1\n  wait 1 value 1 at COMPUTE_SHADER\n  pass two\n"
    );
    passes("gct:3", &[(READERS, &apart)]);
}

#[test]
fn one_needed_pass_is_enough() {
    let frame = "
buffer a 0 bytes 64
buffer b 1 bytes 64
pass one
  StorageWriteCompute a
pass other
  StorageWriteCompute b
pass two
  StorageReadCompute a
";
    let plan = "submit 0 signal 1\n  pass one\n  pass other\nsubmit 1 signal 1\n  wait 0 value 1 at \
                COMPUTE_SHADER\n  pass two\n";
    passes("gct:2", &[(frame, plan)]);
    let plan = "submit 0 signal 1\n  pass one\nsubmit 0 signal 2\n  pass other\nsubmit 1 signal 1\n  \
                wait 0 value 2 at COMPUTE_SHADER\n  pass two\n";
    let objection = "Submission 2 waits for value 2 of queue 0, a submission of passes of which it \
                     needs none.";
    fails("gct:2", &[(frame, plan)], &[objection]);
}

#[test]
fn transitive_need_justifies_a_wait() {
    let frame = "
buffer a 0 bytes 64
buffer b 1 bytes 64
pass one
  StorageWriteCompute a
pass between
  StorageReadCompute a
  StorageWriteCompute b
pass two
  StorageReadCompute b
";
    let plan = "submit 0 signal 1\n  pass one\nsubmit 1 signal 1\n  wait 0 value 1 at COMPUTE_SHADER\n  \
                pass between\nsubmit 2 signal 1\n  wait 0 value 1 at COMPUTE_SHADER\n  wait 1 value 1 \
                at COMPUTE_SHADER\n  pass two\n";
    passes("gct:3", &[(frame, plan)]);
}
