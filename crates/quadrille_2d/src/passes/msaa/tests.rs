use bevy_math::Mat4;
use quadrille_content::cameras::Msaa;

use super::*;

fn view(msaa: Msaa, batches: std::ops::Range<u32>) -> View2d {
    View2d {
        camera: Entity::PLACEHOLDER,
        target: 0,
        step: 0,
        clip_from_world: Mat4::IDENTITY,
        viewport: [0, 0, 8, 8],
        clear: None,
        batches,
        msaa,
        multisampled: None,
    }
}

#[test]
fn views_without_batches_are_not_multisampled() {
    assert!(is_multisampled(&view(Msaa::default(), 0..1)));
    assert!(!is_multisampled(&view(Msaa::default(), 1..1)));
    assert!(!is_multisampled(&view(Msaa::Off, 0..1)));
}
