use super::Counts;

#[test]
fn waits_and_transfers_are_counted() {
    let log = r#"
{"call":"vkAcquireNextImageKHR","nth":1,"result":"SUCCESS"}
{"call":"vkAcquireNextImageKHR","nth":2,"result":"ERROR_OUT_OF_DATE_KHR"}
{"call":"vkCmdPipelineBarrier2","nth":1,"memory":0,"buffers":2,"images":0,"transfers":2}
{"call":"vkQueueSubmit2","nth":1,"family":0,"index":0,"batches":1,"waits":1,"signals":1,"result":"SUCCESS"}
{"call":"vkQueueSubmit2","nth":2,"family":0,"index":0,"batches":1,"waits":2,"signals":1,"result":"SUCCESS"}
{"note":"left out","text":"something"}
"#;
    let expected = Counts {
        transfers: 2,
        submits: 2,
        waits: 3,
        images: 1,
    };
    assert_eq!(Counts::parse(log.trim()).unwrap(), expected, "of six lines");
}

#[test]
fn a_log_that_was_cut_off_is_no_proof() {
    assert!(
        Counts::parse("{\"call\":\"vkQueueSub").is_err(),
        "not a whole line"
    );
}
