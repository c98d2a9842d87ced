use bevy_color::LinearRgba;
use bevy_math::Mat4;

use super::*;

fn view(msaa: Msaa, is_cleared: bool) -> View2d {
    View2d {
        camera: Entity::PLACEHOLDER,
        target: 0,
        clip_from_world: Mat4::IDENTITY,
        viewport: [0, 0, 8, 8],
        clear: is_cleared.then_some(LinearRgba::BLACK),
        batches: 0..0,
        msaa,
        multisampled: None,
    }
}

#[test]
fn the_camera_with_the_most_samples_decides() {
    let views = [view(Msaa::Off, true), view(Msaa::Sample4, false)];
    assert_eq!(samples(views.iter()), 4);
    assert_eq!(samples(views[..1].iter()), 1);
    assert_eq!(samples([].iter()), 1);
}

#[test]
fn what_is_kept_has_one_sample() {
    let views = [view(Msaa::Sample4, false), view(Msaa::Sample8, false)];
    assert_eq!(samples(views.iter()), 1);
}
