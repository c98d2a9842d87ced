//! Synchronization of tables: the images or buffers of tables that the frame's passes declare.
//!
//! A member that is *settled* (in the layout of tables, with its last write visible to all readers) needs no
//! declaration. This module handles whole frames;
//! [`TableMembers`](quadrille_sync::table::TableMembers) of `quadrille_sync` handles a single table.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use quadrille_sync::frame::{Frame, PassIndex, PassKind, Use};
use quadrille_sync::plan::Plan;
use quadrille_sync::states::States;
use quadrille_sync::table::{NonTableUse, TableReaders};
use quadrille_sync::topology::Topology;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::resources::{Handle, SharedTable};

use super::Collector;
use crate::collect::mirror::PassGraph;
use crate::data::internal::InternalPass;
use crate::data::upload::Uploads;
use crate::declare::registry::Registry;
use crate::error::{RecordError, RenderError};
use crate::record::recording::Recorded;

/// All tables that passes declare.
#[derive(Resource, Default)]
pub(crate) struct Tables {
    tracked: Vec<TrackedTable>,
    /// Removed tables, until their last reads are noted in the states.
    gone: Vec<SharedTable>,
    /// Tables were added or removed since the last frame was collected.
    changed: bool,
    /// The plan that the `readers` of the tables belong to.
    plan: Option<Arc<Plan>>,
    /// Uses of the members to declare, table by table. Reused allocation.
    listed: Vec<Use>,
    uses: Vec<Use>,
}

struct TrackedTable {
    /// The resource entity of the table.
    entity: Entity,
    table: SharedTable,
    /// The placeholder for empty entries has been uploaded.
    is_ready: bool,
    /// The passes of the frame that read it.
    passes: Vec<PassIndex>,
    readers: TableReaders,
}

/// State besides the collector that collection of a frame needs.
pub(crate) struct NonTableState<'a> {
    pub(crate) tables: &'a mut Tables,
    pub(crate) topology: &'a Topology,
    pub(crate) states: &'a mut States,
}

impl Tables {
    /// Updates the list of tables from their resources. Uploads the placeholder for empty entries of new tables.
    pub(crate) fn prepare(world: &mut World, gpu: &Gpu) {
        let registry = world.get_resource::<Registry>();
        if registry.is_none_or(|it| it.tables().next().is_none()) {
            return;
        }
        world.resource_scope(|world, mut tables: Mut<Self>| {
            let tables = &mut *tables;
            let mut found = std::mem::take(&mut tables.tracked);
            for (entity, binding) in world.resource::<Registry>().tables() {
                let table = (binding.resolve)(world).filter(|table| table.is_of(gpu));
                let Some(table) = table else { continue };
                let tracked = found
                    .iter()
                    .position(|it| it.entity == entity && it.table == table);
                tables.changed |= tracked.is_none();
                tables.tracked.push(match tracked {
                    Some(tracked) => found.swap_remove(tracked),
                    None => TrackedTable {
                        entity,
                        table,
                        is_ready: false,
                        passes: Vec::new(),
                        readers: TableReaders::default(),
                    },
                });
            }
            tables.changed |= !found.is_empty();
            // Matched by entity and table above, because two resource entities may hold the same table.
            tables.gone.extend(found.into_iter().map(|it| it.table));
            let mut uploads = world.resource_mut::<Uploads>();
            for tracked in tables.tracked.iter().filter(|it| !it.is_ready) {
                let contents = tracked.table.fallback_contents();
                match tracked.table.fallback() {
                    Handle::Image(image) => uploads.write_image(image, contents),
                    Handle::Buffer(buffer) => uploads.write_buffer(buffer, 0, contents),
                }
            }
        });
    }

    /// Whether no table has changed since the last frame was collected.
    pub(crate) fn are_unchanged(&self) -> bool {
        !self.changed && self.tracked.iter().all(|it| it.table.is_unchanged())
    }

    /// Whether any pass of the frame reads a table.
    pub(crate) fn are_read(&self) -> bool {
        self.tracked.iter().any(|it| !it.passes.is_empty())
    }

    /// Whether all undeclared members are settled for the queues on which the plan runs their readers. If not,
    /// the frame has to be collected and planned again.
    pub(crate) fn covers(
        &mut self,
        frame: &Frame,
        plan: &Arc<Plan>,
        topology: &Topology,
        states: &mut States,
    ) -> bool {
        let is_known = |it: &Arc<Plan>| Arc::ptr_eq(it, plan);
        if !self.plan.as_ref().is_some_and(is_known) {
            for tracked in &mut self.tracked {
                tracked.readers = TableReaders::of(&tracked.passes, frame, plan);
            }
            self.plan = Some(Arc::clone(plan));
        }
        let mut covers = true;
        for tracked in &self.tracked {
            covers &= tracked.table.covers(&tracked.readers, topology, states);
        }
        covers
    }

    /// Notes the reads of tables in the states, before the frame is committed.
    pub(crate) fn note_reads(&self, topology: &Topology, states: &States) {
        for tracked in &self.tracked {
            tracked.table.note_reads(&tracked.readers, topology, states);
        }
    }

    /// Updates which members are settled, after the frame was committed.
    pub(crate) fn settle(&mut self, topology: &Topology, states: &States) {
        for tracked in &mut self.tracked {
            tracked.is_ready = true;
            tracked.table.settle(topology, states);
        }
    }
}

impl Collector {
    /// Declares the members that are not settled, for each pass that reads their table.
    pub(super) fn add_tables(
        &mut self,
        NonTableState {
            tables,
            topology,
            states,
        }: NonTableState<'_>,
        (graph, recordings): (&PassGraph, Recorded<'_>),
        last: &[InternalPass],
        errors: &mut Vec<RenderError>,
    ) {
        tables.changed = false;
        for table in tables.gone.drain(..) {
            table.close(states);
        }
        if tables.tracked.is_empty() {
            return;
        }
        tables.plan = None;
        for tracked in &mut tables.tracked {
            self.find_readers(tracked, graph);
        }
        self.check_tables(tables, (graph, recordings), errors);
        let Tables {
            tracked,
            listed,
            uses,
            ..
        } = tables;
        // By table: the end of its uses in `listed`.
        let mut ends = smallvec::SmallVec::<[usize; 4]>::new();
        listed.clear();
        for TrackedTable { table, .. } in &*tracked {
            let later = last.iter().flat_map(|pass| &pass.uses).map(|used| {
                let resource = used.handle.declare();
                NonTableUse {
                    resource: resource.id,
                    kind: resource.kind,
                    range: used.range,
                    access: used.access,
                }
            });
            table.open(NonTableUse::of(&self.frame).chain(later), topology, states);
        }
        for TrackedTable { table, .. } in &*tracked {
            let access = table.access();
            table.for_each_listed(|member| {
                let resource = self.index(member);
                listed.push(Use::whole(resource, access));
            });
            ends.push(listed.len());
        }
        if listed.is_empty() {
            return;
        }
        uses.clear();
        for at in 0..self.frame.passes.len() {
            let pass = PassIndex(at as u32);
            let start = uses.len() as u32;
            uses.extend_from_slice(self.frame.uses_of(pass));
            let own = uses.len();
            let mut from = 0;
            for (tracked, end) in tracked.iter().zip(&ends) {
                let of_table = &listed[from..*end];
                from = *end;
                if tracked.passes.binary_search(&pass).is_err() {
                    continue;
                }
                match uses.len() == own {
                    true => uses.extend_from_slice(of_table),
                    // Two tables may have the same member.
                    false => {
                        let others = own..uses.len();
                        for used in of_table {
                            if !uses[others.clone()].contains(used) {
                                uses.push(*used);
                            }
                        }
                    }
                }
            }
            self.frame.passes[at].uses = start..uses.len() as u32;
        }
        std::mem::swap(&mut self.frame.uses, uses);
    }

    /// The passes of the frame that read a table: all device passes whose system declares it.
    fn find_readers(&self, tracked: &mut TrackedTable, graph: &PassGraph) {
        tracked.passes.clear();
        let reads = |at: usize| {
            let mut uses = self.passes[at].uses.iter();
            uses.any(|used| self.bindings[used.binding as usize].0 == tracked.entity)
        };
        for at in (0..graph.passes.len()).filter(|at| reads(*at)) {
            let span = self.span_of[at].clone().map(PassIndex);
            let on_device = span.filter(|it| self.frame.pass(*it).kind == PassKind::Device);
            tracked.passes.extend(on_device);
        }
        tracked.passes.sort_unstable();
    }

    /// Checks that the tables that passes have bound still exist.
    fn check_tables(
        &self,
        tables: &Tables,
        (graph, recordings): (&PassGraph, Recorded<'_>),
        errors: &mut Vec<RenderError>,
    ) {
        for (at, node) in graph.passes.iter().enumerate() {
            let recording = recordings
                .get(node.slot)
                .filter(|_| !self.span_of[at].is_empty());
            let passes = recording.into_iter().flat_map(|it| it.passes());
            for table in passes.flat_map(|pass| pass.list.tables()) {
                if !tables.tracked.iter().any(|tracked| tracked.table == *table) {
                    errors.push(RenderError::Record {
                        pass: self.passes[at].name.to_string(),
                        error: RecordError::TableReplaced {
                            table: table.name().into(),
                        },
                    });
                }
            }
        }
    }
}
