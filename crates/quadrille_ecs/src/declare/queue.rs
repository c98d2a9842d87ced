//! Configuration of pass systems: `simulate.on_queue(QueuePreference::Async)` sets the preferred queue,
//! `simulate.always_run()` disables culling.

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleConfigs;
use bevy_ecs::system::ScheduleSystem;

use crate::declare::declaration::QueuePreference;

/// The system set that carries a queue preference to the schedule's build pass.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OnQueueSet(pub(crate) QueuePreference);

/// Sets the preferred queue of pass systems.
pub trait OnQueue<Marker>: IntoScheduleConfigs<ScheduleSystem, Marker> {
    /// Runs these passes on a queue of this kind if the device has one, else on the main queue.
    ///
    /// ```
    /// use bevy_app::App;
    /// use bevy_ecs::prelude::*;
    /// use quadrille_ecs::{OnQueue, QueuePreference, Recorder, Render};
    ///
    /// fn simulate(mut recorder: Recorder) {}
    ///
    /// App::new().add_systems(Render, simulate.on_queue(QueuePreference::Async));
    /// ```
    fn on_queue(self, preference: QueuePreference) -> ScheduleConfigs<ScheduleSystem> {
        self.in_set(OnQueueSet(preference))
    }
}

impl<Marker, T: IntoScheduleConfigs<ScheduleSystem, Marker>> OnQueue<Marker> for T {}

/// The system set that carries [`AlwaysRun`](crate::AlwaysRun) to the schedule's build pass.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AlwaysRunSet;

/// Keeps pass systems from being culled.
pub trait AlwaysRunExt<Marker>: IntoScheduleConfigs<ScheduleSystem, Marker> {
    /// Runs these passes even in frames where no pass reads their results: see [`AlwaysRun`](crate::AlwaysRun).
    ///
    /// ```
    /// use bevy_app::App;
    /// use bevy_ecs::prelude::*;
    /// use quadrille_ecs::{AlwaysRunExt, Recorder, Render};
    ///
    /// fn warm_up(mut recorder: Recorder) {}
    ///
    /// App::new().add_systems(Render, warm_up.always_run());
    /// ```
    fn always_run(self) -> ScheduleConfigs<ScheduleSystem> {
        self.in_set(AlwaysRunSet)
    }
}

impl<Marker, T: IntoScheduleConfigs<ScheduleSystem, Marker>> AlwaysRunExt<Marker> for T {}
