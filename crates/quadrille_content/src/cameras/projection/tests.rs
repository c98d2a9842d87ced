use super::*;

fn viewport(position: [u32; 2], size: [u32; 2]) -> Viewport {
    Viewport {
        physical_position: position.into(),
        physical_size: size.into(),
        ..Viewport::default()
    }
}

fn clamped(position: [u32; 2], size: [u32; 2]) -> ([u32; 2], [u32; 2]) {
    let clamped = clamp_viewport(&viewport(position, size), UVec2::new(100, 50));
    (
        clamped.physical_position.to_array(),
        clamped.physical_size.to_array(),
    )
}

#[test]
fn viewport_clamping_matches_bevy() {
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
        let requested = (
            bevys.physical_position.to_array(),
            bevys.physical_size.to_array(),
        );
        assert_eq!(clamped(position, size), requested, "{position:?}, {size:?}");
    }
}

#[test]
fn extreme_viewports_are_clamped() {
    let most = u32::MAX;
    assert_eq!(clamped([most, 7], [most, most]), ([99, 7], [1, 43]));
    let nowhere = clamp_viewport(&viewport([3, 3], [most, most]), UVec2::ZERO);
    assert_eq!(nowhere.physical_size, UVec2::ZERO);
}

#[test]
fn cameras_with_invalid_transform_are_skipped() {
    let mut world = World::new();
    world.init_resource::<InvalidCameras>();
    world.init_resource::<RateLimitedWarnings>();
    let place = |scale: Vec3| GlobalTransform::from_scale(scale);
    let camera = world.spawn((Camera::default(), place(Vec3::ONE))).id();
    let is_blind = |world: &mut World| {
        world
            .run_system_cached(find_invalid_cameras)
            .expect("it runs");
        world.resource::<InvalidCameras>().contains(camera)
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

#[test]
fn odd_transforms_are_found_when_a_camera_comes_later_or_again() {
    let mut world = World::new();
    world.init_resource::<InvalidCameras>();
    world.init_resource::<RateLimitedWarnings>();
    let entity = world.spawn((Transform::default(), GlobalTransform::from_scale(Vec3::NAN)));
    let entity = entity.id();
    let is_blind = |world: &mut World| {
        world
            .run_system_cached(find_invalid_cameras)
            .expect("it runs");
        world.resource::<InvalidCameras>().contains(entity)
    };
    assert!(!is_blind(&mut world));
    world.entity_mut(entity).insert(Camera::default());
    assert!(is_blind(&mut world), "the transform has not changed");
    world.entity_mut(entity).remove::<Camera>();
    world.entity_mut(entity).insert(Camera::default());
    assert!(is_blind(&mut world), "removed and inserted in one frame");
    world.entity_mut(entity).remove::<Camera>();
    let changed = |world: &World| {
        let transform = world.entity(entity).get_ref::<Transform>();
        transform.expect("it has one").last_changed()
    };
    let before = changed(&world);
    assert!(!is_blind(&mut world));
    assert!(
        changed(&world) != before,
        "bevy computes where it is once more"
    );
}

/// A world with a window of 100 x 50 pixels, and a camera with this viewport.
fn world_with_window(viewport: Viewport) -> (World, Entity, Entity) {
    let mut world = World::new();
    world.init_resource::<ClampedViewports>();
    world.init_resource::<RateLimitedWarnings>();
    world.init_resource::<Assets<Image>>();
    world.init_resource::<ManualTextureViews>();
    let mut window = Window::default();
    window.resolution.set_physical_resolution(100, 50);
    let window = world.spawn((window, PrimaryWindow)).id();
    let camera = Camera {
        viewport: Some(viewport),
        ..Camera::default()
    };
    let camera = world.spawn((camera, Projection::default())).id();
    (world, window, camera)
}

fn shown(world: &mut World, camera: Entity) -> ([u32; 2], [u32; 2]) {
    world.run_system_cached(update_cameras).expect("it runs");
    let camera = world.get::<Camera>(camera).expect("it is there");
    let viewport = camera.viewport.as_ref().expect("it has one");
    let size = viewport.physical_size;
    assert_eq!(camera.physical_viewport_size(), Some(size));
    (viewport.physical_position.to_array(), size.to_array())
}

fn resize(world: &mut World, window: Entity, width: u32, height: u32) {
    let mut window = world.get_mut::<Window>(window).expect("it is there");
    window.resolution.set_physical_resolution(width, height);
}

#[test]
fn viewport_returns_to_its_size_with_its_target() {
    let (mut world, window, camera) = world_with_window(viewport([60, 0], [40, 50]));
    assert_eq!(shown(&mut world, camera), ([60, 0], [40, 50]));
    for (width, height) in [(80, 30), (50, 10), (1, 1)] {
        resize(&mut world, window, width, height);
        let (position, size) = shown(&mut world, camera);
        assert!(position[0] + size[0] <= width && position[1] + size[1] <= height);
    }
    resize(&mut world, window, 100, 50);
    assert_eq!(shown(&mut world, camera), ([60, 0], [40, 50]));
    // A viewport that the program has set meanwhile takes precedence.
    resize(&mut world, window, 80, 30);
    shown(&mut world, camera);
    let mut changed = world.get_mut::<Camera>(camera).expect("it is there");
    changed.viewport = Some(viewport([0, 0], [70, 40]));
    assert_eq!(shown(&mut world, camera), ([0, 0], [70, 30]));
    resize(&mut world, window, 100, 50);
    assert_eq!(shown(&mut world, camera), ([0, 0], [70, 40]));
}

#[test]
fn viewport_follows_scale_factor_of_window() {
    let (mut world, window, camera) = world_with_window(viewport([10, 10], [40, 20]));
    assert_eq!(shown(&mut world, camera), ([10, 10], [40, 20]));
    let mut changed = world.get_mut::<Window>(window).expect("it is there");
    changed
        .resolution
        .set_scale_factor_and_apply_to_physical_size(2.0);
    assert_eq!(shown(&mut world, camera), ([20, 20], [80, 40]));
    assert_eq!(shown(&mut world, camera), ([20, 20], [80, 40]));
}

#[test]
fn scale_factor_of_image_divides_its_size() {
    let (mut world, _, camera) = world_with_window(viewport([0, 0], [40, 20]));
    let image = Image::default();
    let size = image.size();
    let image = world.resource_mut::<Assets<Image>>().add(image);
    let mut target = bevy_camera::ImageRenderTarget::from(image);
    target.scale_factor = 0.5;
    let target = RenderTarget::Image(target);
    world.entity_mut(camera).insert((Camera::default(), target));
    world.run_system_cached(update_cameras).expect("it runs");
    let camera = world.get::<Camera>(camera).expect("it is there");
    assert_eq!(camera.physical_target_size(), Some(size));
    assert_eq!(camera.logical_target_size(), Some(size.as_vec2() * 2.0));
}

/// Projection that scales by the viewport's width.
#[derive(Clone, Debug, Default)]
struct ByWidth(f32);

impl bevy_camera::CameraProjection for ByWidth {
    fn get_clip_from_view(&self) -> bevy_math::Mat4 {
        bevy_math::Mat4::from_scale(Vec3::splat(self.0))
    }

    fn get_clip_from_view_for_sub(&self, _: &bevy_camera::SubCameraView) -> bevy_math::Mat4 {
        -self.get_clip_from_view()
    }

    fn update(&mut self, width: f32, _: f32) {
        self.0 = width;
    }

    fn far(&self) -> f32 {
        1.0
    }

    fn get_frustum_corners(&self, _: f32, _: f32) -> [bevy_math::Vec3A; 8] {
        [bevy_math::Vec3A::ZERO; 8]
    }
}

#[test]
fn custom_projection_is_used() {
    let (mut world, _, camera) = world_with_window(viewport([0, 0], [40, 20]));
    let projection = Projection::custom(ByWidth::default());
    world.entity_mut(camera).insert(projection);
    shown(&mut world, camera);
    let clip = |world: &World| world.get::<Camera>(camera).map(Camera::clip_from_view);
    let scaled = bevy_math::Mat4::from_scale(Vec3::splat(40.0));
    assert_eq!(clip(&world), Some(scaled));
    let mut changed = world.get_mut::<Camera>(camera).expect("it is there");
    changed.sub_camera_view = Some(bevy_camera::SubCameraView::default());
    shown(&mut world, camera);
    assert_eq!(clip(&world), Some(-scaled));
}

#[test]
fn scale_factors_are_limited() {
    let odd = [f32::NAN, f32::INFINITY, 1e30, 0.0, -1.0, 1.5];
    let requested = [1.0, 64.0, 64.0, 1.0 / 1024.0, 1.0 / 1024.0, 1.5];
    assert_eq!(odd.map(limited_scale), requested);
}
