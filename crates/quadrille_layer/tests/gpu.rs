//! Tests that run programs on the layer, with a real driver below and, for validation, Khronos's validation layer
//! above. They need a driver, so they run only on request and must not be skipped then: `cargo test -p quadrille_layer
//! --test gpu -- --ignored`.

#[path = "gpu/bench.rs"]
mod bench;

use std::collections::BTreeSet;

use bench::{Run, program, valid, write_script};

/// Three families with four queues, similar to discrete GPUs.
const DISCRETE: &str = "gct:1,ct:2,t:1";

#[test]
#[ignore = "needs a Vulkan driver"]
fn families_follow_the_variable() {
    let run = program(
        "families",
        &[("FAMILIES", "gct:1,ct:2,t:3(granularity=16x16x8)")],
    );
    run.succeeds();
    let families: Vec<_> = run.values("family").collect();
    assert_eq!(
        families,
        [
            "GRAPHICS | COMPUTE | TRANSFER x1 1x1x1 agreed",
            "COMPUTE | TRANSFER x2 1x1x1 agreed",
            "TRANSFER x3 16x16x8 agreed",
        ],
        "{run}"
    );
    assert_eq!(
        run.value("handles"),
        "6",
        "every queue has a handle of its own: {run}"
    );
}

#[test]
#[ignore = "needs a Vulkan driver and the validation layer"]
fn right_programs_are_right_on_every_schedule() {
    for name in [
        "transfer",
        "transfer1",
        "concurrent",
        "wait-first",
        "wait-first-idle",
        "binary",
    ] {
        for seed in ["", "1", "2", "3"] {
            let run = valid(
                name,
                &[("FAMILIES", DISCRETE), ("SEED", seed), ("POISON", "1")],
            );
            run.succeeds();
            assert_eq!(run.messages(), [""; 0], "{name}, seed {seed}: {run}");
            assert!(!run.stdout.contains("false"), "{name}, seed {seed}: {run}");
        }
    }
}

#[test]
#[ignore = "needs a Vulkan driver and the validation layer"]
fn wrong_programs_are_reported() {
    for (name, message) in [
        ("race", "SYNC-HAZARD-WRITE-RACING-WRITE"),
        ("no-release", "VUID-vkQueueSubmit2-commandBuffer-03879"),
    ] {
        let run = valid(name, &[("FAMILIES", "gct:1,ct:1")]);
        assert!(
            run.messages().iter().any(|one| one == message),
            "{name}: {run}"
        );
    }
}

/// Khronos's layer does not track owners or compare the layouts of release and acquire. If it does in future, this test
/// fails and has to be adapted.
#[test]
#[ignore = "needs a Vulkan driver and the validation layer"]
fn blind_spots_of_the_validation_layer_are_still_blind() {
    // The image is reported for its layout, which the acquire would have changed. The buffer, used by a family that
    // does not own it, is not reported.
    let run = valid("no-acquire", &[("FAMILIES", "gct:1,ct:1")]);
    assert_eq!(run.messages(), ["VUID-vkCmdDraw-None-09600"], "{run}");
    let run = valid("other-layout", &[("FAMILIES", "gct:1,ct:1")]);
    assert_eq!(run.messages(), [""; 0], "{run}");
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn poison_shows_an_acquire_that_discards() {
    let plain = program("other-layout", &[("FAMILIES", "gct:1,ct:1")]);
    assert_eq!(
        plain.value("image"),
        "true",
        "lavapipe keeps what may be discarded: {plain}"
    );
    let poisoned = program(
        "other-layout",
        &[("FAMILIES", "gct:1,ct:1"), ("POISON", "1")],
    );
    assert_eq!(
        poisoned.value("image"),
        "false",
        "poison does not: {poisoned}"
    );
    assert_eq!(
        poisoned.value("buffer"),
        "true",
        "a buffer is not discarded: {poisoned}"
    );
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn host_signals_let_held_work_go() {
    for seed in ["", "7"] {
        let run = program("host-signal", &[("FAMILIES", DISCRETE), ("SEED", seed)]);
        run.succeeds();
        assert_eq!(run.value("early"), "Some(TIMEOUT)", "{run}");
        assert_eq!(
            (run.value("fence"), run.value("value")),
            ("false", "1"),
            "{run}"
        );
    }
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn threads_submit_out_of_order() {
    for seed in ["", "1", "2", "3"] {
        let run = program("threads", &[("FAMILIES", DISCRETE), ("SEED", seed)]);
        run.succeeds();
        assert_eq!(run.value("done"), "true", "{run}");
    }
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn sparse_binding_waits_its_turn() {
    let run = program("sparse", &[("FAMILIES", "gcts:1,ct:2")]);
    run.succeeds();
    assert_eq!(run.value("value"), "3", "{run}");
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn seeds_change_the_order_of_execution() {
    let eager = program("order", &[("FAMILIES", "gct:1,ct:1,t:1")]);
    assert_eq!(
        eager.value("order"),
        "[0, 1, 2, 0, 1, 2]",
        "submission order: {eager}"
    );
    let orders: BTreeSet<_> = (0..24)
        .map(|seed| {
            let seed = seed.to_string();
            let run = program("order", &[("FAMILIES", "gct:1,ct:1,t:1"), ("SEED", &seed)]);
            let again = program("order", &[("FAMILIES", "gct:1,ct:1,t:1"), ("SEED", &seed)]);
            assert_eq!(run.value("order"), again.value("order"), "seed {seed}");
            run.value("order").to_owned()
        })
        .collect();
    assert!(
        orders.len() >= 10,
        "seeds hardly change anything: {orders:?}"
    );
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn deadlocks_are_reported_and_end() {
    let settings = [("FAMILIES", "gct:1,ct:1"), ("TIMEOUT_MS", "200")];
    let queue = program("deadlock-queue", &settings);
    assert_eq!(queue.value("idle"), "Err(ERROR_DEVICE_LOST)", "{queue}");
    assert_eq!(
        queue.value("submit"),
        "Err(ERROR_DEVICE_LOST)",
        "lost for good: {queue}"
    );
    assert!(
        queue.stderr.contains("which nothing submitted signals"),
        "{queue}"
    );

    let device = program("deadlock-device", &settings);
    assert_eq!(device.value("idle"), "Err(ERROR_DEVICE_LOST)", "{device}");
    assert!(
        device.stderr.contains("vkDeviceWaitIdle can never end"),
        "{device}"
    );
    assert!(
        device.stderr.contains("would signal, itself held"),
        "the cycle: {device}"
    );

    let fence = program("deadlock-fence", &settings);
    let waits: Vec<_> = fence.values("wait").collect();
    assert_eq!(waits, ["Err(TIMEOUT)", "Err(ERROR_DEVICE_LOST)"], "{fence}");

    let host = program("deadlock-host", &settings);
    let waits: Vec<_> = host.values("wait").collect();
    assert_eq!(
        waits,
        ["Ok(())", "Err(TIMEOUT)", "Err(ERROR_DEVICE_LOST)"],
        "{host}"
    );
    assert!(
        host.stderr
            .contains("nothing submitted signals what it waits for"),
        "{host}"
    );

    let left = program("left-over", &settings);
    left.succeeds();
    assert!(
        left.stderr.contains("the device is destroyed, but"),
        "{left}"
    );

    let exit = program("exit", &settings);
    exit.succeeds();
    assert!(exit.stderr.contains("the process ends, but"), "{exit}");
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn poison_is_garbage_and_only_where_contents_are_undefined() {
    let run = program("poison", &[("POISON", "1")]);
    run.succeeds();
    assert_eq!(run.value("memory"), "[cdcdcdcd]", "{run}");
    assert_eq!(run.value("transition"), "[cd]", "{run}");
    assert_eq!(run.value("loaded"), "[6]", "defined contents stay: {run}");
    assert_eq!(run.value("not-loaded"), "[cd]", "{run}");
    let plain = program("poison", &[]);
    assert_eq!(
        plain.value("not-loaded"),
        "[6]",
        "without poison lavapipe keeps it: {plain}"
    );
}

#[test]
#[ignore = "needs a Vulkan driver and the validation layer"]
fn poison_is_invisible_to_the_validation_layer() {
    let run = valid("poison", &[("POISON", "1")]);
    run.succeeds();
    assert_eq!(run.messages(), [""; 0], "{run}");
}

fn inject(script: &str) -> Run {
    let file = write_script(script);
    program("inject", &[("SCRIPT", &file), ("TIMEOUT_MS", "200")])
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn results_are_injected() {
    let run = inject(
        "vkQueueSubmit2KHR nth=2 -> VK_ERROR_OUT_OF_HOST_MEMORY\n\
         vkAllocateMemory nth=1 -> VK_ERROR_OUT_OF_DEVICE_MEMORY",
    );
    run.succeeds();
    let submits: Vec<_> = run.values("submit").collect();
    assert_eq!(
        submits[..3],
        ["1 SUCCESS", "2 ERROR_OUT_OF_HOST_MEMORY", "3 SUCCESS"],
        "{run}"
    );
    assert_eq!(run.value("buffer"), "ERROR_OUT_OF_DEVICE_MEMORY", "{run}");
    assert_eq!(run.value("last"), "SUCCESS", "{run}");
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn fences_hang_and_dawdle() {
    let run = inject("fence never nth=2\nfence late=300 nth=4");
    run.succeeds();
    let waits: Vec<_> = run.values("wait").collect();
    assert!(waits[0].starts_with("1 SUCCESS"), "{run}");
    assert_eq!(waits[1], "2 TIMEOUT slow", "{run}");
    assert!(waits[2].starts_with("3 SUCCESS"), "{run}");
    assert_eq!(waits[3], "4 SUCCESS slow", "{run}");
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn the_device_is_lost_for_good() {
    let run = inject("lost nth=3");
    run.succeeds();
    let submits: Vec<_> = run.values("submit").collect();
    assert_eq!(
        submits[1..4],
        ["2 SUCCESS", "3 ERROR_DEVICE_LOST", "4 ERROR_DEVICE_LOST"],
        "{run}"
    );
    assert_eq!(run.value("idle"), "ERROR_DEVICE_LOST", "{run}");
}

#[test]
#[ignore = "needs a Vulkan driver with VK_EXT_headless_surface"]
fn presents_come_through_and_obey_the_script() {
    let families = ("FAMILIES", "gct:1,t:1(present=no)");
    let plain = valid("window", &[families, ("SEED", "5"), ("POISON", "1")]);
    plain.succeeds();
    assert_eq!(plain.messages(), [""; 0], "{plain}");
    let support: Vec<_> = plain.values("support").collect();
    assert_eq!(support, ["0 true", "1 false"], "{plain}");
    assert_eq!(
        plain.value("order").split(',').count(),
        8,
        "eight frames: {plain}"
    );

    let file = write_script(
        "extent nth=1 0x0\n\
         image order 0,0,1\n\
         vkAcquireNextImageKHR nth=2 -> VK_SUBOPTIMAL_KHR\n\
         vkQueuePresentKHR nth=3 -> VK_ERROR_OUT_OF_DATE_KHR\n",
    );
    let run = program("window", &[("FAMILIES", "gct:1,ct:1"), ("SCRIPT", &file)]);
    run.succeeds();
    assert_eq!(run.value("extent"), "0x0", "{run}");
    assert_eq!(run.value("order"), "[0, 0, 1, 0, 0, 1, 0, 0]", "{run}");
    assert_eq!(run.value("acquire"), "2 SUBOPTIMAL_KHR", "{run}");
    assert_eq!(run.value("present"), "3 ERROR_OUT_OF_DATE_KHR", "{run}");
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn the_log_counts_calls() {
    let run = program("transfer", &[("FAMILIES", "gct:1,ct:1"), ("LOG", "")]);
    run.succeeds();
    let calls = run.log();
    let of = |name: &str| {
        calls
            .iter()
            .filter(|call| call["call"] == name)
            .collect::<Vec<_>>()
    };
    let submits = of("vkQueueSubmit2");
    assert_eq!(submits.len(), 2, "one line a call: {run}");
    assert_eq!(submits[1]["family"], 1, "on the second family: {run}");
    assert_eq!(submits[1]["waits"], 1, "with a wait: {run}");
    assert_eq!(submits[1]["result"], "SUCCESS", "{run}");
    let transfers = of("vkCmdPipelineBarrier2")
        .into_iter()
        .map(|call| call["transfers"].as_u64());
    assert_eq!(
        transfers.sum::<Option<u64>>(),
        Some(4),
        "two resources, two halves: {run}"
    );

    let single = program("wait-first", &[("FAMILIES", "gct:1"), ("LOG", "")]);
    assert!(
        single
            .log()
            .iter()
            .all(|call| call["call"] != "vkCmdPipelineBarrier2"),
        "{single}"
    );
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn bad_settings_fail_the_instance_with_one_line() {
    let script = write_script("vkFly nth=1 -> VK_SUCCESS");
    for (name, value, token) in [
        ("FAMILIES", "gxt:1", "`gxt`"),
        ("FAMILIES", "", "``"),
        ("SEED", "soon", "`soon`"),
        ("POISON", "maybe", "`maybe`"),
        ("SCRIPT", "/nowhere", "`/nowhere`"),
        ("SCRIPT", script.as_str(), "`vkFly`"),
        ("LOG", "/nowhere/log", "`/nowhere/log`"),
    ] {
        let run = program("families", &[(name, value)]);
        assert!(!run.success, "{name}={value}: {run}");
        assert!(run.stderr.contains("ERROR_INITIALIZATION_FAILED"), "{run}");
        let lines: Vec<_> = run
            .stderr
            .lines()
            .filter(|line| line.starts_with("VK_LAYER_QUADRILLE_test"))
            .collect();
        assert_eq!(lines.len(), 1, "{run}");
        assert!(
            lines[0].contains(token) && lines[0].contains("expected"),
            "{run}"
        );
    }
}
