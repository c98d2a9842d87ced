use std::time::Duration;

use ash::vk;

use super::{FenceFault, Script};

fn canonical(name: &str) -> Option<&'static str> {
    ["vkQueueSubmit2", "vkAcquireNextImageKHR"]
        .into_iter()
        .find(|known| *known == name)
}

fn parse(text: &str) -> Script {
    Script::parse(text, canonical).unwrap()
}

#[test]
fn results_by_count() {
    let script = parse(
        "# two rules\n\
         vkQueueSubmit2 nth=3 -> VK_ERROR_OUT_OF_HOST_MEMORY # the third\n\n\
         vkAcquireNextImageKHR every=5 -> VK_SUBOPTIMAL_KHR\n",
    );
    let host = Some(vk::Result::ERROR_OUT_OF_HOST_MEMORY);
    let hits = |command| (1..=10).map(move |n| (n, script.result(command, n)));
    let hits: Vec<_> = hits("vkQueueSubmit2")
        .filter(|hit| hit.1.is_some())
        .collect();
    assert_eq!(hits, [(3, host)], "only the third");
    let script = parse("vkAcquireNextImageKHR every=5 -> VK_SUBOPTIMAL_KHR");
    let hits = (1..=10).filter(|n| script.result("vkAcquireNextImageKHR", *n).is_some());
    assert_eq!(hits.collect::<Vec<_>>(), [5, 10], "every fifth");
}

#[test]
fn other_rules() {
    let script = parse(
        "extent from=10 to=20 0x0\nimage order 0,0,1\n\
         fence never nth=2\nfence late=50 from=3\npresent fence never every=4\nlost nth=4\n\
         stuck nth=2\nimage late=20 from=3\nswapchains most=6\ncounter max from=7",
    );
    assert!(!script.is_counter_max(6, 9), "before the range");
    assert!(script.is_counter_max(7, 0), "in the range");
    assert_eq!(script.images(1), None, "as the driver likes");
    assert_eq!(script.images(2), Some(FenceFault::Never), "stuck");
    assert_eq!(
        script.images(3),
        Some(FenceFault::Late(Duration::from_millis(20))),
        "its first image is late"
    );
    assert_eq!(script.most_swapchains, Some(6), "of a surface");
    assert_eq!(script.extent(9), None, "before the range");
    assert_eq!(
        script.extent(20),
        Some(vk::Extent2D::default()),
        "the range includes its end"
    );
    assert_eq!(script.image_order, [0, 0, 1], "as written");
    assert_eq!(script.fence(2), Some(FenceFault::Never), "the second");
    assert_eq!(
        script.fence(9),
        Some(FenceFault::Late(Duration::from_millis(50))),
        "open range"
    );
    assert_eq!(script.present_fence(3), None, "of presents, counted apart");
    assert_eq!(script.present_fence(4), Some(FenceFault::Never));
    assert!(script.loses(4) && !script.loses(5), "the fourth submission");
}

#[test]
fn counters_are_wrong_from_a_wait_on() {
    let script = parse("counter max waits=3");
    assert!(!script.is_counter_max(50, 2), "before the wait");
    assert!(script.is_counter_max(1, 3), "from the wait on");
}

#[test]
fn refusals_name_line_and_token() {
    for (text, number, token) in [
        ("vkQueueSubmit3 nth=1 -> VK_TIMEOUT", 1, "`vkQueueSubmit3`"),
        ("\nvkQueueSubmit2 nth=0 -> VK_TIMEOUT", 2, "`nth=0`"),
        ("vkQueueSubmit2 sometimes -> VK_TIMEOUT", 1, "`sometimes`"),
        ("vkQueueSubmit2 nth=1 VK_TIMEOUT", 1, "`VK_TIMEOUT`"),
        ("vkQueueSubmit2 nth=1 -> VK_SUCCES", 1, "`VK_SUCCES`"),
        ("vkQueueSubmit2 nth=1 -> VK_TIMEOUT now", 1, "`now`"),
        ("vkQueueSubmit2", 1, "``"),
        ("extent from=3 to=2 0x0", 1, "`to=2`"),
        ("extent nth=3 wide", 1, "`wide`"),
        ("image order 0,x", 1, "`0,x`"),
        ("fence sometimes nth=1", 1, "`sometimes`"),
        ("lost nth=1 again", 1, "`again`"),
        ("image early=1 nth=1", 1, "`early=1`"),
        ("swapchains most=0", 1, "`most=0`"),
        ("counter max waits=0", 1, "`waits=0`"),
    ] {
        let (line, refusal) = Script::parse(text, canonical).expect_err(text);
        assert_eq!(line, number, "{text:?}");
        assert!(
            refusal.to_string().starts_with(token),
            "{text:?}: {refusal}"
        );
    }
}
