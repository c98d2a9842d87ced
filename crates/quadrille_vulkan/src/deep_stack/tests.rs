use super::{STACK_BYTES, run};

/// Uses at least this number of bytes of the stack.
fn recurse(bytes: usize) -> usize {
    let block = [1_u8; 4096];
    let block = std::hint::black_box(&block);
    match bytes.checked_sub(block.len()) {
        Some(rest) => usize::from(block[0]) + recurse(rest),
        None => 0,
    }
}

#[test]
fn tasks_have_deep_stacks_also_within_tasks() {
    let blocks = run(|| {
        let outer = recurse(STACK_BYTES / 2);
        outer + run(|| recurse(STACK_BYTES / 4)).expect("it runs on the same stack")
    });
    assert_eq!(blocks, Ok(STACK_BYTES * 3 / 4 / 4096));
}

#[test]
fn panics_are_errors_with_their_message() {
    let panics = run(|| panic!("no {}", "type"));
    assert_eq!(panics, Err::<(), _>("panics: no type".to_owned()));
}
