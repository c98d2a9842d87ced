use quadrille_sync::access::Access;
use quadrille_sync::frame::{PassIndex, Use};
use quadrille_sync::plan::Step;
use quadrille_sync::resource::ResourceIndex;

use super::{Age, CachedPass, CachedPasses, Recheck};

#[test]
fn only_changed_inputs_are_rechecked() {
    let at = |now, resources| Age { now, resources };
    let uses = [0, 1].map(|at| Use::whole(ResourceIndex(at), Access::StorageReadCompute));
    let mut kept = CachedPass::default();
    assert_eq!(kept.recheck(at(1, 1), &uses), Recheck::Resources);
    kept.checked(at(3, 2), &uses, Recheck::Resources);
    let recheck = |age, uses| kept.recheck(age, uses);
    assert_eq!(recheck(at(5, 2), &uses), Recheck::Layouts, "other plans");
    assert_eq!(
        recheck(at(5, 4), &uses),
        Recheck::Resources,
        "other resources"
    );
    let fewer = &uses[..1];
    assert_eq!(recheck(at(5, 2), fewer), Recheck::Resources, "fewer uses");
    // Resources have changed in the same frame in which the pass was checked.
    kept.checked(at(6, 6), &uses, Recheck::Resources);
    assert_eq!(kept.recheck(at(7, 6), &uses), Recheck::Layouts);
    kept.checked(at(8, 6), &uses, Recheck::Layouts);
    assert_eq!(kept.recheck(at(9, 6), &uses), Recheck::Layouts);
}

#[test]
fn passes_keep_their_places() {
    let mut passes = CachedPasses::default();
    let age = |now| Age { now, resources: 0 };
    for (now, pass) in [(7, 5), (8, 2), (9, 0)] {
        passes
            .of(PassIndex(pass))
            .checked(age(now), &[], Recheck::Resources);
    }
    assert_eq!(passes.of(PassIndex(1)).seen, 0, "nothing is kept of it");
    for (now, pass) in [(9, 0), (7, 5), (8, 2)] {
        assert_eq!(passes.of(PassIndex(pass)).seen, now);
    }
    assert_eq!(passes.kept.len(), 4);
    passes.arrange(&[2, 5].map(|pass| Step::Pass(PassIndex(pass))));
    let seen: Vec<u64> = passes.kept.iter().map(|kept| kept.seen).collect();
    assert_eq!(seen, [8, 7], "what is there is in order");
    for (now, pass) in [(0, 0), (7, 5), (8, 2)] {
        assert_eq!(passes.of(PassIndex(pass)).seen, now);
    }
}
