use quadrille_sync::access::{Access, CustomAccess};

use super::access;
use crate::declare::kind::{AccessKind, StageScope};

#[test]
fn each_kind_is_there_once() {
    let custom = |writes| {
        AccessKind::Exactly(Access::Custom(CustomAccess {
            writes,
            ..CustomAccess::default()
        }))
    };
    let named = AccessKind::Exactly(Access::TransferRead);
    for kind in [AccessKind::Sampled, named, custom(false), custom(true)] {
        let (first, again) = (access(kind), access(kind));
        assert_eq!((first.kind, first.stages), (kind, StageScope::Auto));
        assert!(std::ptr::eq(first, again), "{kind:?} is there twice");
    }
}
