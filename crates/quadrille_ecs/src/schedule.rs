//! The schedule that passes live in.

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;

/// The schedule of a frame's pass systems; it runs once per frame, after `PostUpdate`.
///
/// Systems that take a [`Recorder`](crate::Recorder) are passes. Others may be added as well; they
/// run before or after passes as ordered.
#[derive(ScheduleLabel, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Render;

/// The schedule for what is made from the device: buffers, images, pipelines and their contents.
///
/// This schedule runs after `Startup`, and again whenever the device was lost and another one took its place
/// ([`RenderErrorPolicy::Recover`](crate::RenderErrorPolicy::Recover)): what systems insert here
/// then replaces what was lost.
///
/// An error or a panic of a system goes to the [`RenderErrorHandler`](crate::RenderErrorHandler), by
/// default one message and an exit code, unless the app has a handler of its own for all systems
/// (`App::set_error_handler`): then it goes there. Errors of another severity than bevy's default are
/// logged, as elsewhere.
#[derive(ScheduleLabel, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RenderStartup;

/// The sets of [`Render`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RenderSystems {
    /// Systems that change declarations: accesses of passes, handles in named resources. All
    /// passes come after them, and after their commands: a buffer or image that one inserts here
    /// (`commands.insert_resource(..)`) is there for the passes of this frame. Among themselves they
    /// see no commands of each other, unless an `ApplyDeferred` stands between.
    ///
    /// Commands of any other system in [`Render`] are applied after the passes.
    Declare,
}
