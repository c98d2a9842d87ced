use super::{Depth, check_named, check_proof, count, scripts, wrong_counter};

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
fn each_call_fails_with_results_of_its_own() {
    let counts = count(LOG).expect("it is a log");
    let memory = [
        "vkCreateFence nth=1",
        "vkCreateFence nth=2",
        "vkQueueSubmit2 nth=1",
    ]
    .map(|call| format!("{call} -> VK_ERROR_OUT_OF_HOST_MEMORY\n"));
    let lost = "vkQueueSubmit2 nth=1 -> VK_ERROR_DEVICE_LOST\n".to_owned();
    let expected: Vec<_> = memory.into_iter().chain([lost]).collect();
    assert_eq!(scripts(&counts, Depth::Whole), expected);
    assert_eq!(scripts(&counts, Depth::Sample), expected, "first and last");
}

#[test]
fn the_call_that_lost_the_device_is_named() {
    let script = "vkGetFenceStatus nth=4 -> VK_ERROR_DEVICE_LOST\n";
    let says = |call| format!("frame 2: the device is lost: {call} was the first call to say so");
    assert!(check_named(script, "").is_ok(), "not lost");
    assert!(check_named(script, &says("vkGetFenceStatus")).is_ok());
    assert!(check_named(script, &says("vkAcquireNextImageKHR")).is_err());
}

#[test]
fn counters_that_are_wrong_are_named_as_the_loss() {
    let script = wrong_counter(2);
    assert_eq!(
        script,
        "counter max waits=2\nvkWaitSemaphores from=2 to=7 -> VK_TIMEOUT\n"
    );
    let says = |call| format!("the device is lost: {call} was the first call to say so");
    assert!(check_named(&script, &says("vkGetSemaphoreCounterValue")).is_ok());
    assert!(check_named(&script, &says("vkQueueSubmit2")).is_err());
}

#[test]
fn command_pools_end_after_proof() {
    let log = |calls: &[&str]| calls.join("\n");
    let submit = r#"{"call":"vkQueueSubmit2","nth":1,"result":"SUCCESS"}"#;
    let waited = r#"{"call":"vkWaitSemaphores","nth":1,"result":"SUCCESS"}"#;
    let early = r#"{"call":"vkWaitSemaphores","nth":1,"injected":1,"result":"TIMEOUT"}"#;
    let destroyed = r#"{"call":"vkDestroyCommandPool","nth":1}"#;
    assert!(check_proof(&log(&[submit, early, waited, destroyed])).is_ok());
    assert!(check_proof(&log(&[submit, early, destroyed])).is_err());
    assert!(check_proof(&log(&[waited, submit, destroyed])).is_err());
}
