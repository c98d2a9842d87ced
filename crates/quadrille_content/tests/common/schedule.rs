//! Systems without an order to each other.

use std::collections::HashMap;

use bevy_app::{App, PostUpdate};
use bevy_ecs::schedule::{LogLevel, ScheduleBuildSettings, ScheduleBuildWarning};

/// Pairs of systems of `PostUpdate`, one of this project, as `first | second | components`, that access the same data in no order.
pub(crate) fn ambiguous_pairs(app: &mut App) -> Vec<String> {
    let mut pairs = Vec::new();
    app.edit_schedule(PostUpdate, |schedule| {
        // A changed schedule is built again.
        schedule.add_systems(|| ());
        schedule.set_build_settings(ScheduleBuildSettings {
            ambiguity_detection: LogLevel::Warn,
            ..ScheduleBuildSettings::default()
        });
    });
    app.world_mut()
        .schedule_scope(PostUpdate, |world, schedule| {
            let built = schedule.initialize(world).expect("the schedule is valid");
            let built = built.expect("it is built again");
            for warning in &built.warnings {
                let ScheduleBuildWarning::Ambiguity(conflicts) = warning else {
                    continue;
                };
                let systems = schedule.systems().expect("it is built");
                let names: HashMap<_, _> =
                    systems.map(|(key, system)| (key, system.name())).collect();
                for (a, b, data) in conflicts.0.iter() {
                    // Exclusive systems conflict with all, without data of their own.
                    if data.is_empty() {
                        continue;
                    }
                    let data = data.iter().map(|id| world.components().get_name(*id));
                    let data: Vec<_> = data.collect();
                    pairs.push(format!("{} | {} | {data:?}", names[a], names[b]));
                }
            }
        });
    pairs.retain(|pair| pair.contains("quadrille"));
    pairs.sort();
    pairs
}
