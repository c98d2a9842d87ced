use bevy_math::Mat4;
use quadrille_content::Msaa;

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
fn only_what_is_drawn_needs_samples() {
    assert!(has_samples(&view(Msaa::default(), 0..1)));
    assert!(!has_samples(&view(Msaa::default(), 1..1)));
    assert!(!has_samples(&view(Msaa::Off, 0..1)));
}
