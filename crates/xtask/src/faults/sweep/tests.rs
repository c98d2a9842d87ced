use super::{Depth, check_named, count, scripts};

const LOG: &str = r#"{"call":"vkCreateFence","nth":1,"result":"SUCCESS"}
{"call":"vkDestroyFence","nth":1}
{"note":"deadlock","text":"no call"}
{"call":"vkCreateFence","nth":2,"result":"SUCCESS"}
{"call":"vkQueueSubmit2","nth":1,"waits":1,"result":"SUCCESS"}
"#;

#[test]
fn only_calls_with_results_fail() {
    let counts = count(LOG).expect("it is a log");
    let counted: Vec<_> = counts.iter().map(|(call, n)| (call.as_str(), *n)).collect();
    assert_eq!(
        counted,
        [("vkCreateFence", 2), ("vkQueueSubmit2", 1)],
        "of {LOG}"
    );
}

#[test]
fn each_call_fails_with_each_result() {
    let counts = count(LOG).expect("it is a log");
    let whole = scripts(&counts, Depth::Whole);
    assert_eq!(whole.len(), 2 * (2 + 1), "{whole:?}");
    let third = "vkCreateFence nth=2 -> VK_ERROR_OUT_OF_HOST_MEMORY\n";
    assert_eq!(whole[2], third, "in order");
    let sample = scripts(&counts, Depth::Sample);
    assert_eq!(sample.len(), 4, "{sample:?}");
    assert!(sample[1].contains("nth=2"), "the last call: {sample:?}");
}

#[test]
fn the_call_that_lost_the_device_is_named() {
    let script = "vkGetFenceStatus nth=4 -> VK_ERROR_DEVICE_LOST\n";
    let says = |call| format!("frame 2: the device is lost: {call} was the first call to say so");
    assert!(check_named(script, "").is_ok(), "not lost");
    assert!(check_named(script, &says("vkGetFenceStatus")).is_ok());
    assert!(check_named(script, &says("vkAcquireNextImageKHR")).is_err());
}
