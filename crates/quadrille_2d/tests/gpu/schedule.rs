//! Order of the systems of `PostUpdate`.

#[path = "../../../quadrille_content/tests/common/schedule.rs"]
mod ambiguity;

use crate::common::Rig;
use ambiguity::ambiguous_pairs;

#[test]
#[ignore = "needs a device"]
fn systems_have_an_order_to_those_of_bevy() {
    let mut rig = Rig::new(8, 8);
    rig.start();
    let pairs = ambiguous_pairs(&mut rig.app);
    assert!(pairs.is_empty(), "{pairs:#?}");
}
