//! The schedule build pass: finds the pass systems, mirrors them as entities, and removes order between
//! them that only the GPU has to keep.
//!
//! Order between two passes is order on the GPU, which the plan keeps. The CPU may record them in any
//! order, in parallel. So an edge between two passes is removed from the schedule, unless the systems
//! conflict in the ECS (one writes a resource that the other reads); then the user's order holds for the
//! CPU as well. Edges to and from other systems stay, and those that a removed edge implied are added.
//!
//! Commands of systems in [`RenderSystems::Declare`] are applied before passes run: if any of these
//! systems has deferred commands, a sync point is added after them.

use std::any::Any;

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::graph::{DiGraph, Direction};
use bevy_ecs::schedule::{
    ApplyDeferred, FlattenedDependencies, NodeId, ScheduleBuildError, ScheduleBuildPass,
    ScheduleGraph, SystemKey, SystemSetKey,
};
use bevy_ecs::system::SystemAccess;
use bevy_platform::collections::{HashMap, HashSet};
use bevy_platform::hash::FixedHasher;
use indexmap::IndexSet;

use crate::declare::declaration::{
    AccessOf, AccessTo, AlwaysRun, DeclarationVersion, DeclaredAccess, Pass, QueuePreference,
};
use crate::declare::queue::{AlwaysRunSet, OnQueueSet};
use crate::declare::registry::{Absence, Declared, Registry};
use crate::record::no_pass::NoPasses;
use crate::schedule::RenderSystems;

/// The passes of the schedule, in the order in which their systems were added.
#[derive(Resource, Default, Debug)]
pub(crate) struct PassGraph {
    pub(crate) passes: Vec<PassNode>,
    /// Any system of the schedule, pass or not, has commands or other deferred buffers.
    pub(crate) defers: bool,
}

/// One pass system.
#[derive(Debug)]
pub(crate) struct PassNode {
    pub(crate) entity: Entity,
    pub(crate) system: SystemKey,
    pub(crate) slot: u32,
    /// Indices of the passes that precede it by explicit order.
    pub(crate) after: Vec<u32>,
    /// Accesses that its parameters declare.
    pub(crate) declared: Vec<Parameter>,
}

/// Declaration of one parameter of a pass system.
#[derive(Debug)]
pub(crate) struct Parameter {
    /// The resource entity.
    pub(crate) resource: Entity,
    pub(crate) access: DeclaredAccess,
    pub(crate) absence: Absence,
}

/// Declarations of one system.
struct PassSystem {
    key: SystemKey,
    slot: u32,
    accesses: Vec<Parameter>,
    queue: QueuePreference,
    always_runs: bool,
    name: String,
}

/// The schedule build pass of this module.
#[derive(Debug, Default)]
pub(crate) struct MirrorPasses {
    /// The sync point after [`RenderSystems::Declare`], once one was needed.
    sync_point: Option<SystemKey>,
}

impl ScheduleBuildPass for MirrorPasses {
    type EdgeOptions = ();

    fn add_dependency(&mut self, _: NodeId, _: NodeId, _: Option<&()>) {}

    fn collapse_set(
        &mut self,
        _: SystemSetKey,
        _: &IndexSet<SystemKey, FixedHasher>,
        _: &DiGraph<NodeId>,
    ) -> impl Iterator<Item = (NodeId, NodeId)> {
        std::iter::empty()
    }

    fn build(
        &mut self,
        world: &mut World,
        graph: &mut ScheduleGraph,
        mut dependencies: FlattenedDependencies<'_>,
    ) -> Result<(), ScheduleBuildError> {
        world.get_resource_or_init::<NoPasses>();
        let systems = world.resource_scope(|world, mut no_passes: Mut<NoPasses>| {
            find_passes(world, graph, &mut no_passes)
        });
        let index_of: HashMap<SystemKey, u32> = systems
            .iter()
            .enumerate()
            .map(|(index, system)| (system.key, index as u32))
            .collect();
        let after = gpu_order(&systems, &index_of, &dependencies);
        self.declare_first(graph, &index_of, &mut dependencies);
        release_cpu_order(graph, &index_of, &mut dependencies);
        mirror(world, systems, after);
        let mut all = graph.systems.iter();
        world.resource_mut::<PassGraph>().defers = all.any(|(_, system, _)| system.has_deferred());
        Ok(())
    }
}

/// The systems with a `Recorder` parameter, with the declarations of their other parameters.
fn find_passes(world: &World, graph: &ScheduleGraph, no_passes: &mut NoPasses) -> Vec<PassSystem> {
    let Some(registry) = world.get_resource::<Registry>() else {
        return Vec::new();
    };
    let mut passes = Vec::new();
    let mut claimed = HashSet::new();
    for (key, system, _) in graph.systems.iter() {
        let Some(node) = graph.systems.get(key) else {
            continue;
        };
        let (slots, accesses) = declarations(registry, node.access());
        let name = system.name().to_string();
        let Some(&slot) = slots.first() else {
            if !accesses.is_empty() {
                no_passes.has_no_recorder(name);
            }
            continue;
        };
        if slots.len() > 1 {
            no_passes.has_several_recorders(name.clone());
        }
        claimed.extend(slots);
        let queue = queue_preference(graph, NodeId::System(key));
        let always_runs = always_runs(graph, NodeId::System(key));
        passes.push(PassSystem {
            key,
            slot,
            accesses,
            queue,
            always_runs,
            name,
        });
    }
    no_passes.claim(&claimed);
    passes
}

/// The slots of a system's recorders, and its declared accesses.
fn declarations(registry: &Registry, access: &SystemAccess) -> (Vec<u32>, Vec<Parameter>) {
    let (mut slots, mut accesses) = (Vec::new(), Vec::new());
    let declared = access.to_filtered_access_set();
    for id in declared.combined_access().archetypal().iter() {
        match registry.get(id) {
            Some(Declared::Recorder(slot)) => slots.push(slot),
            Some(Declared::Access {
                resource,
                access,
                absence,
            }) => accesses.push(Parameter {
                resource,
                access,
                absence,
            }),
            None => {}
        }
    }
    (slots, accesses)
}

/// The value of the innermost system set for which `value` returns one.
fn in_sets<T>(
    graph: &ScheduleGraph,
    node: NodeId,
    value: impl Fn(&dyn Any) -> Option<T>,
) -> Option<T> {
    let mut open: Vec<NodeId> = vec![node];
    while let Some(node) = open.pop() {
        for parent in graph
            .hierarchy()
            .graph()
            .neighbors_directed(node, Direction::Incoming)
        {
            let NodeId::Set(key) = parent else { continue };
            let set = graph.system_sets.get(key).map(|set| set as &dyn Any);
            if let Some(found) = set.and_then(&value) {
                return Some(found);
            }
            open.push(parent);
        }
    }
    None
}

/// The queue preference of a system's sets.
fn queue_preference(graph: &ScheduleGraph, node: NodeId) -> QueuePreference {
    let preference = |set: &dyn Any| set.downcast_ref().map(|OnQueueSet(it)| *it);
    in_sets(graph, node, preference).unwrap_or_default()
}

/// Whether one of a system's sets keeps it from being culled.
fn always_runs(graph: &ScheduleGraph, node: NodeId) -> bool {
    let keeps = |set: &dyn Any| set.is::<AlwaysRunSet>().then_some(());
    in_sets(graph, node, keeps).is_some()
}

/// For each pass, the passes before it, directly or through systems that are no passes.
fn gpu_order(
    systems: &[PassSystem],
    index_of: &HashMap<SystemKey, u32>,
    dependencies: &FlattenedDependencies<'_>,
) -> Vec<Vec<u32>> {
    let before = |key| {
        dependencies
            .graph()
            .neighbors_directed(key, Direction::Incoming)
    };
    let mut all = Vec::with_capacity(systems.len());
    for system in systems {
        let mut after = Vec::new();
        let mut seen = HashSet::new();
        let mut open: Vec<SystemKey> = before(system.key).collect();
        while let Some(key) = open.pop() {
            if !seen.insert(key) {
                continue;
            }
            match index_of.get(&key) {
                Some(&index) => after.push(index),
                None => open.extend(before(key)),
            }
        }
        after.sort_unstable();
        all.push(after);
    }
    all
}

impl MirrorPasses {
    /// Orders the systems of [`RenderSystems::Declare`] before all passes, with a sync point in between
    /// if one of them has deferred commands.
    fn declare_first(
        &mut self,
        graph: &mut ScheduleGraph,
        passes: &HashMap<SystemKey, u32>,
        dependencies: &mut FlattenedDependencies<'_>,
    ) {
        let declaring = systems_of(graph, RenderSystems::Declare);
        let defers = |key: &SystemKey| {
            let system = graph.systems.get(*key);
            !passes.contains_key(key) && system.is_some_and(|system| system.has_deferred())
        };
        if declaring.iter().any(defers) {
            let sync_point = *self.sync_point.get_or_insert_with(|| add_sync_point(graph));
            for &declares in declaring.iter().filter(|key| !passes.contains_key(*key)) {
                dependencies.add_edge(declares, sync_point);
            }
            for &pass in passes.keys() {
                dependencies.add_edge(sync_point, pass);
            }
        }
        for declares in declaring {
            for &pass in passes.keys().filter(|pass| **pass != declares) {
                dependencies.add_edge(declares, pass);
            }
        }
    }
}

/// The systems of a set and its nested sets.
fn systems_of(graph: &ScheduleGraph, set: impl SystemSet) -> Vec<SystemKey> {
    let mut systems = Vec::new();
    let set = graph.system_sets.get_key(set.intern());
    let mut open: Vec<NodeId> = set.map(NodeId::Set).into_iter().collect();
    while let Some(node) = open.pop() {
        if let NodeId::System(system) = node {
            systems.push(system);
        }
        let hierarchy = graph.hierarchy().graph();
        open.extend(hierarchy.neighbors_directed(node, Direction::Outgoing));
    }
    systems
}

fn add_sync_point(graph: &mut ScheduleGraph) -> SystemKey {
    let system = Box::new(IntoSystem::into_system(ApplyDeferred));
    let key = graph.systems.insert(system, Vec::new());
    graph.ambiguous_with_all.insert(NodeId::System(key));
    key
}

/// Removes the edges between passes that do not conflict on the CPU, and adds the edges that these implied
/// for other systems.
fn release_cpu_order(
    graph: &ScheduleGraph,
    index_of: &HashMap<SystemKey, u32>,
    dependencies: &mut FlattenedDependencies<'_>,
) {
    let compatible = |a: SystemKey, b: SystemKey| {
        let (a, b) = (graph.systems.get(a), graph.systems.get(b));
        a.zip(b)
            .is_some_and(|(a, b)| a.access().is_compatible(b.access()))
    };
    let edges: Vec<(SystemKey, SystemKey)> = dependencies.graph().all_edges().collect();
    let is_pass = |key: &SystemKey| index_of.contains_key(key);
    let mut forward: HashMap<SystemKey, Vec<SystemKey>> = HashMap::new();
    let mut backward: HashMap<SystemKey, Vec<SystemKey>> = HashMap::new();
    for &(a, b) in edges.iter().filter(|(a, b)| is_pass(a) && is_pass(b)) {
        forward.entry(a).or_default().push(b);
        backward.entry(b).or_default().push(a);
        dependencies.remove_edge(a, b);
    }
    for &key in forward.keys() {
        reach(&forward, key, |later| {
            if !compatible(key, later) {
                dependencies.add_edge(key, later);
            }
        });
    }
    for &(a, b) in &edges {
        match (is_pass(&a), is_pass(&b)) {
            (false, true) => reach(&forward, b, |pass| dependencies.add_edge(a, pass)),
            (true, false) => reach(&backward, a, |pass| dependencies.add_edge(pass, b)),
            _ => {}
        }
    }
}

/// Visits all nodes that are reachable from a node, except the node itself.
fn reach(
    edges: &HashMap<SystemKey, Vec<SystemKey>>,
    from: SystemKey,
    mut visit: impl FnMut(SystemKey),
) {
    let mut seen = HashSet::new();
    let mut open = edges.get(&from).cloned().unwrap_or_default();
    while let Some(key) = open.pop() {
        if seen.insert(key) {
            visit(key);
            open.extend(edges.get(&key).into_iter().flatten());
        }
    }
}

/// Spawns entities of new passes and despawns those of removed ones. Keeps the entities of other passes,
/// whose components may have been changed at run time.
fn mirror(world: &mut World, systems: Vec<PassSystem>, after: Vec<Vec<u32>>) {
    let old = std::mem::take(&mut world.get_resource_or_init::<PassGraph>().passes);
    let mut entity_of: HashMap<u32, Entity> = old
        .into_iter()
        .map(|node| (node.slot, node.entity))
        .collect();
    let names = pass_names(&systems);
    let mut passes = Vec::with_capacity(systems.len());
    for ((system, after), name) in systems.into_iter().zip(after).zip(names) {
        let slot = system.slot;
        let entity = entity_of
            .remove(&slot)
            .unwrap_or_else(|| spawn_pass(world, &system, name));
        passes.push(PassNode {
            entity,
            system: system.key,
            slot,
            after,
            declared: system.accesses,
        });
    }
    for (_, entity) in entity_of {
        world.despawn(entity);
    }
    world.get_resource_or_init::<PassGraph>().passes = passes;
    world.get_resource_or_init::<DeclarationVersion>().0 += 1;
}

fn spawn_pass(world: &mut World, system: &PassSystem, name: String) -> Entity {
    let entity = world.spawn((Name::new(name), Pass, system.queue)).id();
    if system.always_runs {
        world.entity_mut(entity).insert(AlwaysRun);
    }
    for &Parameter {
        resource, access, ..
    } in &system.accesses
    {
        world.spawn((AccessOf(entity), AccessTo(resource), access));
    }
    entity
}

/// Names of passes: the last segment of each system's path, or the whole path if that is ambiguous.
fn pass_names(systems: &[PassSystem]) -> Vec<String> {
    let short = |name: &str| {
        let plain = name
            .split(['<', '{'])
            .next()
            .unwrap_or(name)
            .trim_end_matches(':');
        plain.rsplit("::").next().unwrap_or(plain).to_owned()
    };
    let mut paths: HashMap<String, Option<&str>> = HashMap::new();
    for system in systems {
        let path = paths
            .entry(short(&system.name))
            .or_insert(Some(&system.name));
        *path = path.filter(|path| *path == system.name);
    }
    let name = |system: &PassSystem| {
        let short = short(&system.name);
        match paths[&short] {
            Some(_) => short,
            None => system.name.clone(),
        }
    };
    systems.iter().map(name).collect()
}

#[cfg(test)]
#[path = "mirror_tests.rs"]
mod tests;
