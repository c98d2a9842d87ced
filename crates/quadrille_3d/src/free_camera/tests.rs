use std::time::Duration;

use super::*;

/// App with a resting camera at the origin, facing -z, a focused window, and frames of 0.1 s.
fn app() -> (App, Entity) {
    let mut app = App::new();
    app.add_plugins(FreeCameraPlugin)
        .init_resource::<Time<Real>>()
        .init_resource::<AccumulatedMouseMotion>()
        .init_resource::<AccumulatedMouseScroll>()
        .init_resource::<MouseScrollPixelsPerLine>()
        .init_resource::<ButtonInput<MouseButton>>()
        .init_resource::<ButtonInput<KeyCode>>();
    app.world_mut()
        .spawn((Window::default(), CursorOptions::default()));
    let camera = (
        Camera::default(),
        FreeCamera::default(),
        Transform::default(),
    );
    let camera = app.world_mut().spawn(camera).id();
    (app, camera)
}

fn frame(app: &mut App) {
    let mut time = app.world_mut().resource_mut::<Time<Real>>();
    time.advance_by(Duration::from_millis(100));
    app.world_mut().run_schedule(RunFixedMainLoop);
    let mut keys = app.world_mut().resource_mut::<ButtonInput<KeyCode>>();
    keys.clear();
}

fn press(app: &mut App, key: KeyCode) {
    app.world_mut()
        .resource_mut::<ButtonInput<KeyCode>>()
        .press(key);
}

fn release(app: &mut App, key: KeyCode) {
    app.world_mut()
        .resource_mut::<ButtonInput<KeyCode>>()
        .release(key);
}

fn position(app: &App, camera: Entity) -> Vec3 {
    app.world().get::<Transform>(camera).unwrap().translation
}

fn cursor(app: &mut App) -> (CursorGrabMode, bool) {
    let world = app.world_mut();
    let cursor = world
        .query::<&CursorOptions>()
        .single(world)
        .unwrap()
        .clone();
    (cursor.grab_mode, cursor.visible)
}

#[test]
fn keys_move_camera_and_friction_stops_it() {
    let (mut app, camera) = app();
    press(&mut app, KeyCode::KeyW);
    frame(&mut app);
    assert!(position(&app, camera).abs_diff_eq(Vec3::new(0.0, 0.0, -0.5), 1e-6));
    press(&mut app, KeyCode::ShiftLeft);
    frame(&mut app);
    assert!(position(&app, camera).abs_diff_eq(Vec3::new(0.0, 0.0, -2.0), 1e-6));
    release(&mut app, KeyCode::KeyW);
    frame(&mut app);
    // 15 units per second, decayed by exp(-4), for 0.1 s.
    let slid = 1.5 * (-4.0_f32).exp();
    assert!(position(&app, camera).abs_diff_eq(Vec3::new(0.0, 0.0, -2.0 - slid), 1e-5));
    for _ in 0..3 {
        frame(&mut app);
    }
    assert_eq!(
        app.world().get::<FreeCameraState>(camera).unwrap().velocity,
        Vec3::ZERO
    );
    press(&mut app, KeyCode::KeyE);
    let before = position(&app, camera);
    frame(&mut app);
    let rose = position(&app, camera) - before;
    assert!(rose.abs_diff_eq(Vec3::Y * 1.5, 1e-5), "{rose}");
}

#[test]
fn local_vertical_axis_applies() {
    let (mut app, camera) = app();
    // Looking down, the camera's upward axis is -z.
    let mut entity = app.world_mut().entity_mut(camera);
    entity.insert(Transform::from_rotation(Quat::from_rotation_x(-FRAC_PI_2)));
    let mut settings = entity.get_mut::<FreeCamera>().unwrap();
    settings.vertical_movement_axis = VerticalMovementAxis::Local;
    press(&mut app, KeyCode::KeyE);
    frame(&mut app);
    let at = position(&app, camera);
    assert!(at.abs_diff_eq(Vec3::new(0.0, 0.0, -0.5), 1e-5), "{at}");
}

#[test]
fn mouse_wheel_sets_speed() {
    let (mut app, camera) = app();
    for (unit, delta) in [
        (MouseScrollUnit::Line, 2.0),
        (MouseScrollUnit::Pixel, 200.0),
    ] {
        let delta = Vec2::new(0.0, delta);
        app.insert_resource(AccumulatedMouseScroll { unit, delta });
        frame(&mut app);
    }
    let times = app
        .world()
        .get::<FreeCameraState>(camera)
        .unwrap()
        .speed_multiplier;
    // Two lines, and 200 pixels, which equal two more lines.
    assert!((times - 1.05_f32.powi(4)).abs() < 1e-5, "{times}");
}

#[test]
fn mouse_rotates_only_while_grabbed() {
    let (mut app, camera) = app();
    let delta = Vec2::new(90.0, -4500.0);
    app.insert_resource(AccumulatedMouseMotion { delta });
    frame(&mut app);
    let still = app.world().get::<Transform>(camera).unwrap().rotation;
    assert_eq!(still, Quat::IDENTITY);
    assert_eq!(cursor(&mut app), (CursorGrabMode::None, true));

    press(&mut app, KeyCode::KeyM);
    frame(&mut app);
    assert_eq!(cursor(&mut app), (CursorGrabMode::Locked, false));
    let state = app.world().get::<FreeCameraState>(camera).unwrap().clone();
    assert!((state.yaw + 0.1).abs() < 1e-6, "{}", state.yaw);
    assert_eq!(state.pitch, FRAC_PI_2, "no further than straight up");
    let forward = *app.world().get::<Transform>(camera).unwrap().forward();
    assert!(forward.abs_diff_eq(Vec3::Y, 1e-5), "{forward}");

    let mut state = app.world_mut().get_mut::<FreeCameraState>(camera).unwrap();
    state.enabled = false;
    frame(&mut app);
    assert_eq!(cursor(&mut app), (CursorGrabMode::None, true));
}

#[test]
fn initial_rotation_comes_from_transform() {
    let (mut app, camera) = app();
    let looks = Transform::default().looking_to(Vec3::new(1.0, 1.0, 0.0), Vec3::Y);
    app.world_mut().entity_mut(camera).insert(looks);
    frame(&mut app);
    let state = app.world().get::<FreeCameraState>(camera).unwrap();
    assert!((state.yaw + FRAC_PI_2).abs() < 1e-5, "{}", state.yaw);
    assert!(
        (state.pitch - FRAC_PI_2 / 2.0).abs() < 1e-5,
        "{}",
        state.pitch
    );
}

#[test]
fn help_text_matches_bevy() {
    let help = [
        "",
        "Freecamera Controls:",
        "    Mouse\t- Move camera orientation",
        "    Scroll\t- Adjust movement speed",
        "    Right\t- Hold to grab cursor",
        "    KeyM\t- Toggle cursor grab",
        "    KeyW & KeyS\t- Fly forward & backwards",
        "    KeyA & KeyD\t- Fly sideways left & right",
        "    KeyE & KeyQ\t- Fly up & down",
        "    ShiftLeft\t- Fly faster while held",
        "    [ControlLeft + ]Numpad7\t- Snap to Up (+Y)/Down (-Y)",
        "    [ControlLeft + ]Numpad3\t- Snap to Right (+X)/Left (-X)",
        "    [ControlLeft + ]Numpad1\t- Snap to Front (-Z)/Back (+Z)",
    ];
    assert_eq!(FreeCamera::default().to_string(), help.join("\n"));
}

#[test]
fn axis_keys_snap_at_rotation_speed() {
    let (mut app, camera) = app();
    app.world_mut()
        .get_mut::<FreeCamera>(camera)
        .unwrap()
        .rotation_speed = 10.0 * FRAC_PI_2 / 2.0;
    let forward = |app: &App| *app.world().get::<Transform>(camera).unwrap().forward();
    press(&mut app, KeyCode::Numpad3);
    // A quarter turn takes two frames.
    frame(&mut app);
    let half_way = Vec3::new(1.0, 0.0, -1.0).normalize();
    assert!(
        (forward(&app) - half_way).length() < 1e-3,
        "{}",
        forward(&app)
    );
    frame(&mut app);
    assert!(
        (forward(&app) - Vec3::X).length() < 1e-5,
        "{}",
        forward(&app)
    );
    release(&mut app, KeyCode::Numpad3);
    frame(&mut app);
    assert!(
        (forward(&app) - Vec3::X).length() < 1e-5,
        "{}",
        forward(&app)
    );
    let state = app.world().get::<FreeCameraState>(camera).unwrap();
    assert!((state.yaw + FRAC_PI_2).abs() < 1e-3, "{}", state.yaw);
    press(&mut app, KeyCode::ControlLeft);
    press(&mut app, KeyCode::Numpad1);
    for _ in 0..3 {
        frame(&mut app);
    }
    assert!(
        (forward(&app) - Vec3::Z).length() < 1e-5,
        "{}",
        forward(&app)
    );
}

/// Flies, rises along the local axis and snaps a camera with an arbitrary quaternion as rotation.
fn flown(rotation: Quat, change: impl FnOnce(&mut FreeCamera)) -> Transform {
    let (mut app, camera) = app();
    let mut entity = app.world_mut().entity_mut(camera);
    entity.insert(Transform::from_rotation(rotation).with_scale(Vec3::ZERO));
    let mut settings = entity.get_mut::<FreeCamera>().unwrap();
    settings.vertical_movement_axis = VerticalMovementAxis::Local;
    change(&mut settings);
    let delta = Vec2::new(90.0, 45.0);
    app.insert_resource(AccumulatedMouseMotion { delta });
    for key in [KeyCode::KeyW, KeyCode::KeyE, KeyCode::Numpad3] {
        press(&mut app, key);
    }
    frame(&mut app);
    press(&mut app, KeyCode::KeyM);
    frame(&mut app);
    *app.world().get::<Transform>(camera).unwrap()
}

#[test]
fn odd_rotations_end_no_frame() {
    let wanted = flown(Quat::IDENTITY, |_| {});
    assert!(wanted.translation.length() > 0.5);
    let odd = [0.0, f32::NAN, f32::INFINITY, 1e30];
    for rotation in odd.map(|number| Quat::from_xyzw(number, 0.0, 0.0, number)) {
        let found = flown(rotation, |_| {});
        assert_eq!(found.translation, wanted.translation, "{rotation}");
        assert!(found.rotation.is_finite(), "{rotation}");
    }
    let twice = flown(Quat::IDENTITY * 2.0, |_| {});
    assert_eq!(twice.translation, wanted.translation);
}

#[test]
fn odd_speeds_leave_a_camera_where_it_is() {
    for number in [f32::NAN, f32::INFINITY, -f32::INFINITY] {
        let found = flown(Quat::IDENTITY, |camera| {
            camera.walk_speed = number;
            camera.sensitivity = number;
            camera.friction = number;
            camera.rotation_speed = number;
        });
        assert_eq!(found.translation, Vec3::ZERO, "{number}");
        assert!(found.rotation.is_normalized(), "{number}");
    }
}
