use std::sync::Arc;

use crate::frame::{Frame, QueueRequest};
use crate::resource::{Resource, ResourceId};

fn names(words: &[&str]) -> Vec<Arc<str>> {
    words.iter().map(|word| Arc::from(*word)).collect()
}

/// Declares passes and resources with these names, and returns the names in the frame.
fn declare(frame: &mut Frame, names: &[Arc<str>]) -> Vec<Arc<str>> {
    frame.clear();
    for name in names {
        let pass = frame.pass_name(name);
        frame.add_pass(pass, QueueRequest::default(), &[], &[]);
        let resource = Resource {
            name: frame.resource_name(name),
            ..Resource::buffer(ResourceId(0), "", 4)
        };
        frame.add_resource(resource);
    }
    let passes = frame.passes.iter().map(|pass| pass.name.clone());
    let resources = frame.resources.iter().map(|it| it.name.clone());
    passes.chain(resources).collect()
}

/// After any earlier frames, a frame has the given names, with one reference each.
#[test]
fn names_are_those_that_were_given() {
    let all = names(&["a", "b", "c", "a"]);
    let lists = [&all[..], &all[1..], &all[..1], &[], &all[2..], &all[..2]];
    let mut frame = Frame::default();
    for list in lists.iter().chain(lists.iter().rev()) {
        let declared = declare(&mut frame, list);
        let given = list.iter().chain(*list);
        assert!(declared.iter().zip(given).all(|(a, b)| Arc::ptr_eq(a, b)));
        assert_eq!(declared.len(), 2 * list.len());
    }
    frame.clear();
    frame.clear();
    assert!(
        all.iter().all(|name| Arc::strong_count(name) == 1),
        "nothing is kept for ever"
    );
}

/// Kept names do not affect the equality of frames.
#[test]
fn names_that_are_kept_are_no_part_of_a_frame() {
    let mut frame = Frame::default();
    declare(&mut frame, &names(&["a", "b"]));
    frame.clear();
    assert_eq!(frame, Frame::default());
}
