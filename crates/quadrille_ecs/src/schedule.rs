//! Schedules for passes and for device objects.

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;

/// The schedule of a frame's pass systems; it runs once per frame, after `PostUpdate`.
///
/// Systems that take a [`Recorder`](crate::Recorder) are passes. Others may be added as well; they
/// run before or after passes as ordered.
#[derive(ScheduleLabel, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Render;

/// The schedule for creating device objects: buffers, images, pipelines and their contents.
///
/// This schedule runs after `Startup`, and again whenever a lost device was replaced
/// ([`RenderErrorPolicy::Recover`](crate::RenderErrorPolicy::Recover)): the objects that systems insert here
/// then replace the lost ones.
///
/// An error or a panic of a system goes to the [`RenderErrorHandler`](crate::RenderErrorHandler), by default one
/// message and an exit code. If the app has its own handler for all systems (`App::set_error_handler`), errors go to
/// that one. Errors with a severity other than bevy's default are logged, as elsewhere.
#[derive(ScheduleLabel, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RenderStartup;

/// The sets of [`Render`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RenderSystems {
    /// Systems that change declarations: accesses of passes, handles in named resources. All
    /// passes run after them and after their commands: a buffer or image inserted here
    /// (`commands.insert_resource(..)`) is available to the passes of this frame. Commands of one such
    /// system are not visible to the others without an `ApplyDeferred` between them.
    ///
    /// Commands of any other system in [`Render`] are applied after the passes.
    Declare,
}
