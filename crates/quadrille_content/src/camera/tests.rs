use super::*;

fn viewport(position: [u32; 2], size: [u32; 2]) -> Viewport {
    Viewport {
        physical_position: position.into(),
        physical_size: size.into(),
        ..Viewport::default()
    }
}

fn limited(position: [u32; 2], size: [u32; 2]) -> ([u32; 2], [u32; 2]) {
    let limited = limit(&viewport(position, size), UVec2::new(100, 50));
    (
        limited.physical_position.to_array(),
        limited.physical_size.to_array(),
    )
}

#[test]
fn viewports_are_limited_as_bevy_does_it() {
    let cases = [
        ([0, 0], [100, 50]),
        ([10, 20], [30, 30]),
        ([90, 0], [30, 60]),
        ([100, 60], [5, 5]),
        ([99, 49], [1, 1]),
    ];
    for (position, size) in cases {
        let mut bevys = viewport(position, size);
        bevys.clamp_to_size(UVec2::new(100, 50));
        let wanted = (
            bevys.physical_position.to_array(),
            bevys.physical_size.to_array(),
        );
        assert_eq!(limited(position, size), wanted, "{position:?}, {size:?}");
    }
}

#[test]
fn viewports_may_say_any_number() {
    let most = u32::MAX;
    assert_eq!(limited([most, 7], [most, most]), ([99, 7], [1, 43]));
    let nowhere = limit(&viewport([3, 3], [most, most]), UVec2::ZERO);
    assert_eq!(nowhere.physical_size, UVec2::ZERO);
}

#[test]
fn cameras_without_a_direction_are_blind_until_they_have_one() {
    let mut world = World::new();
    world.init_resource::<Blind>();
    world.init_resource::<Complaints>();
    let place = |scale: Vec3| GlobalTransform::from_scale(scale);
    let camera = world.spawn((Camera::default(), place(Vec3::ONE))).id();
    let is_blind = |world: &mut World| {
        world.run_system_cached(find_blind).expect("it runs");
        world.resource::<Blind>().contains(camera)
    };
    assert!(!is_blind(&mut world));
    for odd in [Vec3::ZERO, Vec3::NAN, Vec3::new(1.0, f32::INFINITY, 1.0)] {
        world.entity_mut(camera).insert(place(odd));
        assert!(is_blind(&mut world), "{odd}");
        assert!(is_blind(&mut world), "{odd} in the next frame");
        let transform = world.get::<GlobalTransform>(camera);
        assert_eq!(transform, Some(&GlobalTransform::IDENTITY));
    }
    world.entity_mut(camera).insert(place(Vec3::splat(2.0)));
    assert!(!is_blind(&mut world));
    world.entity_mut(camera).insert(place(Vec3::ZERO));
    assert!(is_blind(&mut world));
    world.despawn(camera);
    assert!(!is_blind(&mut world));
}
