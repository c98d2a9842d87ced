//! Runs the `Render` schedule.

use bevy_ecs::prelude::*;
use bevy_platform::collections::HashMap;

use crate::collect::mirror::PassGraph;
use crate::record::recording::Recordings;
use crate::schedule::Render;

/// Runs all systems of the schedule, after building it if it changed.
pub(crate) fn run_render(world: &mut World) {
    world.schedule_scope(Render, |world, schedule| {
        // If building fails, `run` below reports the error.
        let built = schedule.initialize(world);
        let defers = world.get_resource::<PassGraph>().is_none_or(|it| it.defers);
        // If no system has deferred commands, skipping the final apply saves a loop over all systems.
        schedule.set_apply_final_deferred(defers || built.is_err());
        schedule.run(world);
        if let Ok(Some(_)) = built {
            let order = run_order(world, schedule);
            world.resource_mut::<Recordings>().set_order(&order);
        }
    });
}

/// Returns the slots of the pass systems in single-threaded run order.
fn run_order(world: &World, schedule: &Schedule) -> Vec<u32> {
    let (Some(graph), Ok(systems)) = (world.get_resource::<PassGraph>(), schedule.systems()) else {
        return Vec::new();
    };
    let nodes = graph.passes.iter();
    let slots: HashMap<_, _> = nodes.map(|node| (node.system, node.slot)).collect();
    systems
        .filter_map(|(key, _)| slots.get(&key).copied())
        .collect()
}

#[cfg(test)]
mod tests;
