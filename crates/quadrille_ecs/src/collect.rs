//! Collection of a frame from entities and recordings, for planning.

pub(crate) mod mirror;

mod check;
mod declared;
mod order;
pub(crate) mod retained;
mod same;
pub(crate) mod tables;
mod timelines;
mod undeclared_use;
mod uses;

use std::sync::Arc;

use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;
use quadrille_sync::advise::QueueChoices;
use quadrille_sync::frame::{Frame, PassDecl, PassIndex, PassKind, QueueRequest, Use};
use quadrille_sync::resource::{ResourceId, ResourceIndex};
use quadrille_vulkan::commands::CommandList;
use quadrille_vulkan::resources::{Handle, TimelineSemaphore};

use crate::collect::mirror::PassGraph;
use crate::data::internal::InternalPass;
use crate::data::upload::host_written;
use crate::declare::declaration::{Bound, QueuePreference};
use crate::error::{RecordError, RenderError};
use crate::gpu_device::GpuDevice;
use crate::record::host::HostCall;
use crate::record::recording::{PassRecording, Recorded, Recordings};
use crate::renderer::Renderer;

use declared::CachedPass;
use order::Order;
use same::Expected;
use tables::NonTableState;

pub(crate) use uses::part_access;

/// Source of a pass's commands.
#[derive(Clone, Copy)]
enum Source {
    /// The recording with this slot; `part` is the index of the pass if the system recorded several.
    Recording { slot: u32, part: Option<u32> },
    /// The renderer's internal pass with this index.
    Internal(u32),
    /// No commands: the pass runs on the host.
    Host,
}

/// Collects frames. State and allocations are reused by the next frame.
#[derive(Resource, Default)]
pub(crate) struct Collector {
    version: u64,
    submitted_frames: u64,
    passes: Vec<CachedPass>,
    bindings: Vec<(Entity, Bound)>,
    /// By binding: its handles in this frame; `None` if its resource does not exist.
    resolved: Vec<Option<Vec<Handle>>>,
    /// Reused allocation of [`Collector::resolve`].
    scratch: Vec<Handle>,
    /// Bindings that are resolved each frame: their handles can change without a change of declarations.
    followed: Vec<u32>,
    /// Passes of the graph whose declarations allow less than their parameters, so that commands are checked.
    may_exceed: Vec<u32>,
    /// The bindings whose handles were replaced while the passes of this frame ran.
    replaced: Vec<u32>,
    /// The change tick before the passes ran.
    passes_began: Option<Tick>,
    /// The change tick after the passes ran.
    passes_ended: Tick,
    /// By pass of the graph: the outcome of its system when the frame was built.
    outcomes: Vec<Expected>,
    /// Whether the stored frame is valid and has no internal passes, so that the next call may keep it.
    plain: bool,
    /// By resource id: one more than the index in the frame, 0 if it is not in it.
    index_of: Vec<u32>,
    /// By pass of the graph: its range of passes in the frame.
    span_of: Vec<std::ops::Range<u32>>,
    sources: Vec<Source>,
    /// The passes that systems recorded for the host.
    host_passes: Vec<PassIndex>,
    /// Passes whose queue is automatic.
    pub(crate) open_passes: Vec<PassIndex>,
    /// Queues chosen for these passes, and measured costs of passes.
    pub(crate) choices: QueueChoices,
    /// Buffers of the frame that the host has written outside of passes.
    pub(crate) host_written: Vec<ResourceId>,
    /// Pass and handle of resources whose id another resource has: they belong to another device.
    strangers: Vec<(usize, Handle)>,
    /// Steps of passes.
    order: Order,
    /// The frame that was collected last.
    pub(crate) frame: Frame,
    /// The timelines of users in the frame, in its order.
    pub(crate) timelines: Vec<TimelineSemaphore>,
    /// Handles by resource index, followed by resources without synchronization.
    pub(crate) handles: Vec<Handle>,
}

/// Whether there is a new frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collected {
    /// The frame is the one that was collected last, unchanged.
    Same,
    /// The frame was collected again.
    Rebuilt,
}

/// Collects the passes that ran, in the order in which their systems were added. Internal passes of the
/// renderer come `first` and `last`. If nothing has changed, the last frame is kept.
pub(crate) fn frame(
    world: &mut World,
    collector: &mut Collector,
    recordings: Recorded<'_>,
    (first, last): (&[InternalPass], &[InternalPass]),
    non_table: NonTableState<'_>,
) -> Result<Collected, Vec<RenderError>> {
    collector.passes_ended = world.change_tick();
    let changed = collector.refresh(world)? | collector.resolve(world);
    let plain = first.is_empty() && last.is_empty();
    let mut errors = Vec::new();
    let changed = changed || !non_table.tables.are_unchanged();
    if plain && collector.plain && !changed && collector.is_same(world, recordings) {
        collector.check_undeclared_uses(world, recordings, &mut errors);
        return if_none(errors, Collected::Same);
    }
    collector.plain = false;
    collector.begin();
    let gpu = world.get_resource::<GpuDevice>();
    collector.frame.cull = gpu.is_some_and(|gpu| gpu.culls_passes());
    for (index, pass) in first.iter().enumerate() {
        collector.add_internal(index as u32, pass);
    }
    let own_end = collector.frame.passes.len() as u32;
    world.resource_scope(|world, graph: Mut<PassGraph>| {
        collector.span_passes(&graph, recordings, own_end);
        for (at, node) in graph.passes.iter().enumerate() {
            let Some(recording) = recordings.get(node.slot) else {
                continue;
            };
            if collector.span_of[at].is_empty() {
                continue;
            }
            let name = &collector.passes[at].name;
            // The passes of one system often have the same error: report it once.
            let mut reported: Vec<&RecordError> = Vec::new();
            for error in recording.errors() {
                if !reported.contains(&error) {
                    reported.push(error);
                }
            }
            errors.extend(reported.into_iter().map(|error| RenderError::Record {
                pass: name.to_string(),
                error: error.clone(),
            }));
            collector.add_passes(world, at, &graph, recording, &mut errors);
        }
        collector.add_tables(non_table, (&graph, recordings), last, &mut errors);
    });
    for (index, pass) in last.iter().enumerate() {
        collector.add_internal((first.len() + index) as u32, pass);
    }
    collector.rebase_timelines();
    let staging = first.iter().chain(last).flat_map(|pass| &pass.undeclared);
    collector.handles.extend(staging.cloned());
    if let Some(gpu) = world.get_resource::<GpuDevice>() {
        collector.check_device(gpu, &mut errors);
    }
    collector.check_undeclared_uses(world, recordings, &mut errors);
    collector.plain = plain && errors.is_empty();
    if_none(errors, Collected::Rebuilt)
}

fn if_none<T>(errors: Vec<RenderError>, value: T) -> Result<T, Vec<RenderError>> {
    if errors.is_empty() {
        Ok(value)
    } else {
        Err(errors)
    }
}

impl Collector {
    /// Forces collection of the next frame, even if no declaration has changed.
    pub(crate) fn reset(&mut self) {
        self.plain = false;
    }

    /// Sets the queues of passes from the next frame on.
    pub(crate) fn choose_queues(&mut self, choices: QueueChoices) {
        self.choices = choices;
        self.reset();
    }

    /// Finds memory for the transient resources of the frame.
    pub(crate) fn place_transients(&mut self, renderer: &mut Renderer) -> Result<(), RenderError> {
        let Renderer { frames, states, .. } = renderer;
        let placed = frames.place_transients(&mut self.frame, &self.handles, states);
        // After a failure the frame is incomplete, and must not be reused.
        self.plain &= placed.is_ok();
        Ok(placed?)
    }

    /// The command list of each pass of the frame.
    pub(crate) fn lists<'a>(
        &self,
        recordings: Recorded<'a>,
        first: &'a [InternalPass],
        last: &'a [InternalPass],
    ) -> Vec<Option<&'a CommandList>> {
        let list = |source: &Source| match *source {
            Source::Recording { slot, part } => recordings.get(slot)?.list(part),
            Source::Internal(index) => {
                let index = index as usize;
                let pass = first.get(index).or_else(|| last.get(index - first.len()))?;
                Some(&pass.list)
            }
            Source::Host => None,
        };
        self.sources.iter().map(list).collect()
    }

    /// Takes the callbacks of the frame's host passes.
    pub(crate) fn host_calls(
        &self,
        recordings: &mut Recordings,
    ) -> impl Iterator<Item = (PassIndex, Arc<str>, HostCall)> {
        self.host_passes.iter().filter_map(|&pass| {
            let Source::Recording { slot, part } = self.sources[pass.0 as usize] else {
                return None;
            };
            let call = recordings.change(slot, |it| it.take_host(part))??;
            Some((pass, self.frame.pass(pass).name.clone(), call))
        })
    }

    /// Whether a pass of the frame accesses this resource.
    pub(crate) fn uses(&self, id: ResourceId) -> bool {
        self.index_of
            .get(id.0 as usize)
            .is_some_and(|&index| index > 0)
    }

    fn begin(&mut self) {
        for handle in &self.handles[..self.frame.resources.len()] {
            self.index_of[handle.id().0 as usize] = 0;
        }
        self.handles.clear();
        self.frame.clear();
        self.sources.clear();
        self.host_passes.clear();
        self.open_passes.clear();
        self.host_written.clear();
        self.strangers.clear();
        self.timelines.clear();
    }

    /// Assigns each pass of the graph its range of passes in the frame; empty if it did not run.
    fn span_passes(&mut self, graph: &PassGraph, recordings: Recorded<'_>, mut next: u32) {
        self.span_of.clear();
        for (node, cached) in graph.passes.iter().zip(&self.passes) {
            let recording = recordings.get(node.slot).filter(|_| !cached.disabled);
            let count = recording.map_or(0, |recording| recording.passes().len() as u32);
            self.span_of.push(next..next + count);
            next += count;
        }
        self.find_steps(graph, recordings);
        self.expect(graph, recordings);
    }

    /// Adds the passes that one system recorded.
    fn add_passes(
        &mut self,
        world: &World,
        at: usize,
        graph: &PassGraph,
        recording: &PassRecording,
        errors: &mut Vec<RenderError>,
    ) {
        let slot = graph.passes[at].slot;
        for (part, recorded) in recording.passes().iter().enumerate() {
            let uses_start = self.frame.uses.len() as u32;
            self.add_uses(world, at, &graph.passes[at], recorded, errors);
            if recorded.is_on_host() {
                self.check_host_memory(at, uses_start, errors);
            }
            let after_start = self.frame.after.len() as u32;
            self.add_order(at, part, graph);
            let cached = &self.passes[at];
            let (preference, mut fixed) = cached.queue.preference();
            let name = recorded.part().map_or(&cached.name, |part| &part.name);
            let (on_host, pass) = (recorded.is_on_host(), self.frame.passes.len() as u32);
            if on_host {
                self.host_passes.push(PassIndex(pass));
            } else if cached.queue == QueuePreference::Auto {
                self.open_passes.push(PassIndex(pass));
                fixed = self.choices.queue(name);
            }
            let cost_us = self.choices.cost_us(name);
            let name = self.frame.pass_name(name);
            self.frame.passes.push(PassDecl {
                name,
                kind: if on_host {
                    PassKind::Host
                } else {
                    PassKind::Device
                },
                queue: QueueRequest {
                    required: recorded.needs,
                    preference,
                    fixed,
                },
                side_effect: self.passes[at].always_runs,
                prologue: false,
                cost_us,
                uses: uses_start..self.frame.uses.len() as u32,
                after: after_start..self.frame.after.len() as u32,
            });
            self.add_timelines(PassIndex(pass), recorded);
            self.sources.push(Source::Recording {
                slot,
                part: recorded.part().map(|_| part as u32),
            });
        }
    }

    /// Adds an internal pass of the renderer, after all earlier passes that share its resources.
    fn add_internal(&mut self, index: u32, pass: &InternalPass) {
        let uses_start = self.frame.uses.len();
        for used in &pass.uses {
            let resource = self.index(&used.handle);
            self.frame.uses.push(Use {
                resource,
                range: used.range,
                access: used.access,
                discard: used.discard,
            });
        }
        let after_start = self.frame.after.len() as u32;
        for earlier in 0..self.frame.passes.len() {
            let range = self.frame.passes[earlier].uses.clone();
            let theirs = &self.frame.uses[range.start as usize..range.end as usize];
            let ours = &self.frame.uses[uses_start..];
            if theirs
                .iter()
                .any(|a| ours.iter().any(|b| a.resource == b.resource))
            {
                self.frame.after.push(PassIndex(earlier as u32));
            }
        }
        self.frame.passes.push(PassDecl {
            name: pass.name.clone(),
            kind: pass.kind,
            queue: pass.queue,
            side_effect: true,
            prologue: pass.prologue,
            cost_us: 0,
            uses: uses_start as u32..self.frame.uses.len() as u32,
            after: after_start..self.frame.after.len() as u32,
        });
        self.add_exchange(pass);
        self.sources.push(match pass.kind {
            PassKind::Device => Source::Internal(index),
            PassKind::Host => Source::Host,
        });
    }

    /// The index of a resource in the frame, if a pass declares it.
    fn known_index(&self, id: ResourceId) -> Option<ResourceIndex> {
        let index = self.index_of.get(id.0 as usize)?.checked_sub(1)?;
        Some(ResourceIndex(index))
    }

    /// The index of a resource in the frame; adds the resource if it is new.
    fn index(&mut self, handle: &Handle) -> ResourceIndex {
        let id = handle.id().0 as usize;
        if id >= self.index_of.len() {
            self.index_of.resize(id + 1, 0);
        }
        if self.index_of[id] == 0 {
            handle.declare_in(&mut self.frame);
            self.handles.push(handle.clone());
            self.host_written.extend(host_written(handle));
            self.index_of[id] = self.frame.resources.len() as u32;
        } else if self.handles[self.index_of[id] as usize - 1] != *handle {
            // Ids are unique per device, so one of the two resources is of another device.
            let pass = self.frame.passes.len();
            self.strangers.push((pass, handle.clone()));
        }
        ResourceIndex(self.index_of[id] - 1)
    }
}
