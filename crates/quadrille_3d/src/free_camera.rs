//! Free camera controller by keyboard and mouse, with the names of `bevy_camera_controller`, which depends on
//! bevy's renderer.

use std::f32::consts::{FRAC_PI_2, PI};
use std::fmt;

use bevy_app::{App, Plugin, RunFixedMainLoop, RunFixedMainLoopSystems};
use bevy_camera::Camera;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_input::ButtonInput;
use bevy_input::keyboard::KeyCode;
use bevy_input::mouse::{
    AccumulatedMouseMotion, AccumulatedMouseScroll, MouseButton, MouseScrollPixelsPerLine,
    MouseScrollUnit,
};
use bevy_math::{EulerRot, Quat, StableInterpolate as _, Vec2, Vec3};
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use bevy_time::{Real, Time};
use bevy_transform::prelude::Transform;
use bevy_window::{CursorGrabMode, CursorOptions, Window};

#[cfg(test)]
mod tests;

/// Controls cameras with a [`FreeCamera`]. Add it after
/// [`QuadrillePlugins`](quadrille::prelude::QuadrillePlugins), which provide input and time.
#[derive(Clone, Copy, Debug, Default)]
pub struct FreeCameraPlugin;

impl Plugin for FreeCameraPlugin {
    fn build(&self, app: &mut App) {
        // Before fixed updates, so that they use the current transform of the camera.
        app.register_type::<FreeCamera>()
            .register_type::<FreeCameraState>();
        app.add_systems(
            RunFixedMainLoop,
            run_freecamera_controller.in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
        );
    }
}

/// Settings of a free camera, with the fields and defaults of bevy's component.
///
/// Keys move the camera along its own axes, vertically by [`Self::vertical_movement_axis`]. The mouse rotates it while
/// the cursor is grabbed, and the wheel sets the speed. [`FreeCameraState`] has the runtime state.
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
#[require(FreeCameraState)]
pub struct FreeCamera {
    /// Mouse sensitivity: 1 is a radian per 180 units of motion.
    pub sensitivity: f32,
    /// Flies forward: W.
    pub key_forward: KeyCode,
    /// Flies backward: S.
    pub key_back: KeyCode,
    /// Flies to the left: A.
    pub key_left: KeyCode,
    /// Flies to the right: D.
    pub key_right: KeyCode,
    /// Rises: E.
    pub key_up: KeyCode,
    /// Sinks: Q.
    pub key_down: KeyCode,
    /// Uses [`Self::run_speed`] while held: the left shift key.
    pub key_run: KeyCode,
    /// Grabs the cursor while held: the right button.
    pub mouse_key_cursor_grab: MouseButton,
    /// Toggles the cursor grab: M.
    pub keyboard_key_toggle_cursor_grab: KeyCode,
    /// Reverses the snap axes below while held: the left control key.
    pub key_snap_reverse: KeyCode,
    /// Snaps to up (reversed: down): numpad 7.
    pub axis_top: KeyCode,
    /// Snaps to the right, +x (reversed: left): numpad 3.
    pub axis_right: KeyCode,
    /// Snaps to the front, -z (reversed: back): numpad 1.
    pub axis_front: KeyCode,
    /// Speed in world units per second.
    pub walk_speed: f32,
    /// Speed in world units per second with [`Self::key_run`].
    pub run_speed: f32,
    /// A line of the wheel multiplies both speeds by `exp(scroll_factor)`.
    pub scroll_factor: f32,
    /// Decay rate of the velocity without input: `exp(-friction)` remains after a second.
    pub friction: f32,
    /// Speed of snapping to an axis, in radians per second.
    pub rotation_speed: f32,
    /// Axis of vertical movement.
    pub vertical_movement_axis: VerticalMovementAxis,
}

/// Vertical axis of a [`FreeCamera`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub enum VerticalMovementAxis {
    /// Along the y axis of the world.
    #[default]
    World,
    /// Along the camera's own upward axis.
    Local,
}

impl Default for FreeCamera {
    fn default() -> Self {
        Self {
            sensitivity: 0.2,
            key_forward: KeyCode::KeyW,
            key_back: KeyCode::KeyS,
            key_left: KeyCode::KeyA,
            key_right: KeyCode::KeyD,
            key_up: KeyCode::KeyE,
            key_down: KeyCode::KeyQ,
            key_run: KeyCode::ShiftLeft,
            mouse_key_cursor_grab: MouseButton::Right,
            keyboard_key_toggle_cursor_grab: KeyCode::KeyM,
            key_snap_reverse: KeyCode::ControlLeft,
            axis_top: KeyCode::Numpad7,
            axis_right: KeyCode::Numpad3,
            axis_front: KeyCode::Numpad1,
            walk_speed: 5.0,
            run_speed: 15.0,
            // ln(1.05): 5 % per line.
            scroll_factor: 0.048_790_16,
            friction: 40.0,
            rotation_speed: PI / 16.0 * 60.0,
            vertical_movement_axis: VerticalMovementAxis::World,
        }
    }
}

impl fmt::Display for FreeCamera {
    /// Help text for users, identical to bevy's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            mouse_key_cursor_grab: held,
            keyboard_key_toggle_cursor_grab: toggled,
            key_forward: forward,
            key_back: back,
            key_left: left,
            key_right: right,
            key_up: up,
            key_down: down,
            key_run: run,
            key_snap_reverse: reverse,
            axis_top: top,
            axis_right: side,
            axis_front: front,
            ..
        } = self;
        writeln!(f, "\nFreecamera Controls:")?;
        writeln!(f, "    Mouse\t- Move camera orientation")?;
        writeln!(f, "    Scroll\t- Adjust movement speed")?;
        writeln!(f, "    {held:?}\t- Hold to grab cursor")?;
        writeln!(f, "    {toggled:?}\t- Toggle cursor grab")?;
        writeln!(f, "    {forward:?} & {back:?}\t- Fly forward & backwards")?;
        writeln!(f, "    {left:?} & {right:?}\t- Fly sideways left & right")?;
        writeln!(f, "    {up:?} & {down:?}\t- Fly up & down")?;
        writeln!(f, "    {run:?}\t- Fly faster while held")?;
        writeln!(
            f,
            "    [{reverse:?} + ]{top:?}\t- Snap to Up (+Y)/Down (-Y)"
        )?;
        writeln!(
            f,
            "    [{reverse:?} + ]{side:?}\t- Snap to Right (+X)/Left (-X)"
        )?;
        write!(
            f,
            "    [{reverse:?} + ]{front:?}\t- Snap to Front (-Z)/Back (+Z)"
        )
    }
}

/// Runtime state of a [`FreeCamera`]; apps may set it.
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
pub struct FreeCameraState {
    /// Whether input is applied.
    pub enabled: bool,
    /// Pitch in radians, from -pi/2 to pi/2. Initialized from the `Transform`.
    pub pitch: f32,
    /// Yaw in radians. Initialized from the `Transform`.
    pub yaw: f32,
    /// Factor of both speeds, changed by the mouse wheel.
    pub speed_multiplier: f32,
    /// Velocity in world units per second: right, up, forward.
    pub velocity: Vec3,
    /// Whether pitch and yaw have been read from the `Transform`.
    begun: bool,
    /// Whether the grab button is held.
    held: bool,
    /// Whether the cursor grab is toggled on.
    toggled: bool,
    /// Snap in progress.
    snap: Option<Snap>,
}

/// Animated rotation to an axis.
#[derive(Clone, Copy, Debug, Reflect)]
#[reflect(Clone, Debug)]
struct Snap {
    from: Quat,
    to: Quat,
    /// Duration and elapsed time in seconds.
    duration: f32,
    passed: f32,
}

impl Default for FreeCameraState {
    fn default() -> Self {
        Self {
            enabled: true,
            pitch: 0.0,
            yaw: 0.0,
            speed_multiplier: 1.0,
            velocity: Vec3::ZERO,
            begun: false,
            held: false,
            toggled: false,
            snap: None,
        }
    }
}

/// Time, mouse and keyboard input.
#[derive(SystemParam)]
pub struct FreeCameraInput<'w> {
    time: Res<'w, Time<Real>>,
    motion: Res<'w, AccumulatedMouseMotion>,
    scroll: Res<'w, AccumulatedMouseScroll>,
    pixels_per_line: Res<'w, MouseScrollPixelsPerLine>,
    buttons: Res<'w, ButtonInput<MouseButton>>,
    keys: Res<'w, ButtonInput<KeyCode>>,
}

/// Updates all cameras with an enabled [`FreeCamera`], and grabs the cursor of the focused window while any camera is
/// rotated by the mouse.
pub fn run_freecamera_controller(
    input: FreeCameraInput,
    mut cameras: Query<(&mut Transform, &mut FreeCameraState, &FreeCamera), With<Camera>>,
    mut windows: Query<(&Window, &mut CursorOptions)>,
    mut grabbed: Local<bool>,
) {
    let mut grabs = false;
    for (mut transform, mut state, camera) in &mut cameras {
        begin(&transform, &mut state);
        if !state.enabled {
            if state.held || state.toggled {
                (state.held, state.toggled) = (false, false);
            }
            continue;
        }
        grab(&input, &mut state, camera);
        fly(&input, &mut transform, &mut state, camera);
        if state.held || state.toggled {
            turn(&input, &mut transform, &mut state, camera);
            grabs = true;
        }
        begin_snap(&input, &transform, &mut state, camera);
        snap(&input, &mut transform, &mut state);
    }
    if grabs == *grabbed {
        return;
    }
    *grabbed = grabs;
    for (window, mut cursor) in &mut windows {
        // Release in all windows, since the focus may have changed.
        if window.focused || !grabs {
            cursor.visible = !grabs;
            cursor.grab_mode = match grabs {
                true => CursorGrabMode::Locked,
                false => CursorGrabMode::None,
            };
        }
    }
}

fn begin(transform: &Transform, state: &mut Mut<FreeCameraState>) {
    if !state.begun {
        let (yaw, pitch, _) = usable(transform.rotation).to_euler(EulerRot::YXZ);
        (state.yaw, state.pitch, state.begun) = (yaw, pitch, true);
    }
}

/// Updates the grab state of a camera from its button and key.
fn grab(input: &FreeCameraInput, state: &mut Mut<FreeCameraState>, camera: &FreeCamera) {
    if input
        .keys
        .just_pressed(camera.keyboard_key_toggle_cursor_grab)
    {
        state.toggled = !state.toggled;
    }
    let held = input.buttons.pressed(camera.mouse_key_cursor_grab);
    if state.held != held {
        state.held = held;
    }
}

/// Updates the speed, and moves the camera. Without motion the `Transform` is not marked as changed.
fn fly(
    input: &FreeCameraInput,
    transform: &mut Mut<Transform>,
    state: &mut Mut<FreeCameraState>,
    camera: &FreeCamera,
) {
    let lines = match input.scroll.unit {
        MouseScrollUnit::Line => input.scroll.delta.y,
        MouseScrollUnit::Pixel => input.scroll.delta.y / **input.pixels_per_line,
    };
    if lines != 0.0 {
        let times = state.speed_multiplier * (camera.scroll_factor * lines).exp();
        // Neither zero nor infinite, so that the wheel can always change it back.
        state.speed_multiplier = times.clamp(f32::EPSILON, f32::MAX);
    }
    let axis = |plus, minus| {
        let held = |key| f32::from(u8::from(input.keys.pressed(key)));
        held(plus) - held(minus)
    };
    let direction = Vec3::new(
        axis(camera.key_right, camera.key_left),
        axis(camera.key_up, camera.key_down),
        axis(camera.key_forward, camera.key_back),
    );
    let seconds = input.time.delta_secs();
    if direction != Vec3::ZERO {
        let speed = match input.keys.pressed(camera.key_run) {
            true => camera.run_speed,
            false => camera.walk_speed,
        };
        state.velocity = direction.normalize() * (speed * state.speed_multiplier);
    } else if state.velocity != Vec3::ZERO {
        let friction = camera.friction.max(0.0);
        state.velocity.smooth_nudge(&Vec3::ZERO, friction, seconds);
        if state.velocity.length() < 1e-3 {
            state.velocity = Vec3::ZERO;
        }
    }
    if state.velocity != Vec3::ZERO {
        let Vec3 { x, y, z } = state.velocity * seconds;
        let rotation = usable(transform.rotation);
        let up = match camera.vertical_movement_axis {
            VerticalMovementAxis::World => Vec3::Y,
            VerticalMovementAxis::Local => rotation * Vec3::Y,
        };
        let moved = rotation * Vec3::new(x, 0.0, -z) + up * y;
        // Apps may set infinite speeds.
        let translation = transform.translation + moved;
        if translation.is_finite() {
            transform.translation = translation;
        } else {
            state.velocity = Vec3::ZERO;
        }
    }
}

/// Normalizes a rotation; the identity if that is impossible. Methods of `Transform` and `Quat` assert unit length in
/// debug builds, which an app's rotation may violate.
fn usable(rotation: Quat) -> Quat {
    let length = rotation.length();
    if length.is_finite() && length > 0.0 {
        rotation / length
    } else {
        Quat::IDENTITY
    }
}

/// Rotates the camera by the motion of the mouse.
fn turn(
    input: &FreeCameraInput,
    transform: &mut Mut<Transform>,
    state: &mut Mut<FreeCameraState>,
    camera: &FreeCamera,
) {
    let turned = input.motion.delta * (camera.sensitivity / 180.0);
    if turned == Vec2::ZERO || !turned.is_finite() {
        return;
    }
    state.pitch = (state.pitch - turned.y).clamp(-FRAC_PI_2, FRAC_PI_2);
    state.yaw -= turned.x;
    transform.rotation = Quat::from_euler(EulerRot::YXZ, state.yaw, state.pitch, 0.0);
}

/// Begins a snap to an axis whose key was pressed.
fn begin_snap(
    input: &FreeCameraInput,
    transform: &Transform,
    state: &mut Mut<FreeCameraState>,
    camera: &FreeCamera,
) {
    let sign = match input.keys.pressed(camera.key_snap_reverse) {
        true => -1.0,
        false => 1.0,
    };
    let axes = [
        (camera.axis_front, Vec3::NEG_Z, Vec3::Y),
        (camera.axis_right, Vec3::X, Vec3::Y),
        (camera.axis_top, Vec3::Y, Vec3::Z * sign),
    ];
    // The last of several pressed keys wins.
    let pressed = axes
        .into_iter()
        .rfind(|(key, ..)| input.keys.just_pressed(*key));
    if let Some((_, axis, up)) = pressed {
        let from = usable(transform.rotation);
        let to = Transform::IDENTITY.looking_to(axis * sign, up).rotation;
        let duration = from.angle_between(to) / camera.rotation_speed;
        // As in bevy, zero speed does not snap.
        state.snap = (duration >= 0.0 && duration.is_finite()).then_some(Snap {
            from,
            to,
            duration,
            passed: 0.0,
        });
    }
}

/// Advances a snap to an axis.
fn snap(input: &FreeCameraInput, transform: &mut Mut<Transform>, state: &mut Mut<FreeCameraState>) {
    let Some(mut snap) = state.snap else {
        return;
    };
    snap.passed += input.time.delta_secs();
    let is_over = snap.passed >= snap.duration;
    transform.rotation = match is_over {
        true => snap.to,
        false => snap.from.slerp(snap.to, snap.passed / snap.duration),
    };
    let (yaw, pitch, _) = transform.rotation.to_euler(EulerRot::YXZ);
    (state.yaw, state.pitch) = (yaw, pitch);
    state.snap = (!is_over).then_some(snap);
}
