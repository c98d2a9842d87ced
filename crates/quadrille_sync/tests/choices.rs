//! Automatic sharing on the realistic frames of `frames/`, by plans of the deferred frame.

use quadrille_sync::advise::SharingTrials;
use quadrille_sync::frame::Frame;
use quadrille_sync::resource::Sharing;
use quadrille_sync::states::States;
use quadrille_sync::text::parse_topology;
use realistic::{frames, steady};

#[expect(dead_code, reason = "other tests need more of it")]
mod realistic;

/// Looks at the frames, one after the other, as an app of these frames has them looked at.
const LOOKS: usize = 60;

fn share(frames: &mut [Frame], name: &str, sharing: Sharing) {
    let resources = frames.iter_mut().flat_map(|it| &mut it.resources);
    for resource in resources.filter(|it| &*it.name == name) {
        resource.sharing = sharing;
    }
}

/// The deferred frame becomes no longer and has fewer transfers, calls and barriers, and then it is at
/// rest.
#[test]
fn deferred_frame_shares_resources_that_shorten_it() {
    for text in ["gct:1,ct:1,t:1", "gct:1,ct:4,t:2"] {
        let topology = parse_topology(text).unwrap();
        let mut frames = frames("deferred.txt", true);
        let before = steady(&frames, &topology);
        let mut trials = SharingTrials::default();
        let mut plans = Vec::new();
        for look in 0..LOOKS {
            let frame = frames[1 + look % (frames.len() - 1)].clone();
            // The first frame gives all resources their contents.
            let mut states = States::default();
            let first = quadrille_sync::solve::plan(&frames[0], &topology, &states).unwrap();
            states.commit(&frames[0], &topology, &first);
            let mut look = trials.observe(&frame, &topology, &states, |_| true, Some(4000));
            let mut count = 0;
            while !trials.step(&mut look) {
                count += 1;
            }
            plans.push(count);
            for change in trials.changes(&frame, |_| true) {
                let name = frame.resource(change.resource).name.clone();
                share(&mut frames, &name, change.sharing);
            }
        }
        let after = steady(&frames, &topology);
        let shared: Vec<_> = trials.stages().collect();
        println!("{text}: {before:?} becomes {after:?}; {plans:?}; {shared:?}");
        assert!(after[5] <= before[5], "{before:?} becomes {after:?}");
        assert!(after[4] < before[4], "{before:?} becomes {after:?}");
        assert!(!trials.are_under_way(), "{shared:?}");
    }
}
