use bevy_tasks::block_on;

use super::*;

/// Recursion with 64 KiB of stack per level, unless optimized out.
fn deep(level: u32) -> u64 {
    let room = std::hint::black_box([level as u8; 64 << 10]);
    let below = if level == 0 { 0 } else { deep(level - 1) };
    below + u64::from(room[level as usize])
}

/// Test threads, like those of bevy's task pools, have a 2 MiB stack.
#[test]
fn futures_run_on_large_stack() {
    let sum = block_on(poll_on_large_stack(async { deep(60) })).unwrap();
    assert_eq!(sum, (0..=60).sum::<u64>());
}

#[test]
fn pending_futures_are_polled_again() {
    let mut left = 3;
    let future = std::future::poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(thread::current().name().map(ToOwned::to_owned));
        }
        left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    });
    let name = block_on(poll_on_large_stack(future)).unwrap();
    assert_eq!(name.as_deref(), Some("glTF"));
}

#[test]
fn panics_become_errors() {
    let error = block_on(poll_on_large_stack(async { panic!("out of {}", 3) })).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the glTF loader panicked, so the file is probably invalid: out of 3"
    );
}

#[test]
fn only_handled_extensions_may_be_required() {
    let with = |name: &str| {
        let text =
            format!(r#"{{"asset": {{"version": "2.0"}}, "extensionsRequired": ["{name}"]}}"#);
        validate(&json::deserialize::from_str(&text).unwrap())
    };
    assert!(with("KHR_mesh_quantization").is_ok());
    assert!(with("KHR_draco_mesh_compression").is_err());
}
