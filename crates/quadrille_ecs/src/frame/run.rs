//! Runs the `Render` schedule.

use bevy_ecs::prelude::*;
use bevy_platform::collections::HashMap;

use crate::collect::mirror::PassGraph;
use crate::record::recording::Recordings;
use crate::schedule::Render;

/// Runs all systems of the schedule, after building it if it changed.
pub(crate) fn run_render(world: &mut World) {
    world.schedule_scope(Render, |world, schedule| {
        // If it cannot be built, running it says why.
        let built = schedule.initialize(world);
        let defers = world.get_resource::<PassGraph>().is_none_or(|it| it.defers);
        // Where no system leaves anything to apply, bevy need not go through all once more.
        schedule.set_apply_final_deferred(defers || built.is_err());
        schedule.run(world);
        if let Ok(Some(_)) = built {
            let order = run_order(world, schedule);
            world.resource_mut::<Recordings>().set_order(&order);
        }
    });
}

/// The slots of the pass systems, in the order in which one thread runs them.
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
