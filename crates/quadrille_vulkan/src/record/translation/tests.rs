use quadrille_sync::{Access, PassIndex, ResourceIndex, Step, Use};

use super::{Age, Doubt, Kept, KeptPasses};

#[test]
fn only_what_has_changed_since_is_doubted() {
    let at = |now, resources| Age { now, resources };
    let uses = [0, 1].map(|at| Use::whole(ResourceIndex(at), Access::StorageReadCompute));
    let mut kept = Kept::default();
    assert_eq!(kept.doubt(at(1, 1), &uses), Doubt::Resources);
    kept.see(at(3, 2), &uses, Doubt::Resources);
    let doubt = |age, uses| kept.doubt(age, uses);
    assert_eq!(doubt(at(5, 2), &uses), Doubt::Layouts, "other plans");
    assert_eq!(doubt(at(5, 4), &uses), Doubt::Resources, "other resources");
    let fewer = &uses[..1];
    assert_eq!(doubt(at(5, 2), fewer), Doubt::Resources, "fewer uses");
    // Resources have changed in the very frame in which it was seen.
    kept.see(at(6, 6), &uses, Doubt::Resources);
    assert_eq!(kept.doubt(at(7, 6), &uses), Doubt::Layouts);
    kept.see(at(8, 6), &uses, Doubt::Layouts);
    assert_eq!(kept.doubt(at(9, 6), &uses), Doubt::Layouts);
}

#[test]
fn passes_keep_their_places() {
    let mut passes = KeptPasses::default();
    let age = |now| Age { now, resources: 0 };
    for (now, pass) in [(7, 5), (8, 2), (9, 0)] {
        passes
            .of(PassIndex(pass))
            .see(age(now), &[], Doubt::Resources);
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
