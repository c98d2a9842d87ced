//! Recording of one pass.

use std::sync::Arc;

use quadrille_sync::frame::TimelineUseKind;
use quadrille_sync::resource::ResourceId;
use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::commands::CommandList;
use quadrille_vulkan::resources::{TimelineSemaphore, View};

use crate::declare::access::PassUse;
use crate::declare::bind::Bound;
use crate::declare::kind::{AccessKind, Used};
use crate::error::RecordError;
use crate::record::host::HostCall;

/// The commands of one pass, and the declarations that they imply.
///
/// Rarely used fields are stored separately, so that most runs access little memory.
#[derive(Default)]
pub(crate) struct SubRecording {
    pub(crate) list: CommandList,
    /// Required capabilities of the queue.
    pub(crate) needs: Capabilities,
    /// Kinds of pipelines that were bound.
    pub(crate) used: Used,
    /// Whether this run has written to `rare`.
    has_rare: bool,
    /// Whether the recording is one of several passes of its system.
    is_part: bool,
    rare: Box<RareState>,
}

/// Rarely used state.
#[derive(Default)]
struct RareState {
    /// The pass's name and uses, if it is one of several of its system.
    part: Option<Part>,
    /// Callback of a host pass.
    host: Option<HostCall>,
    /// Attachments whose old contents may be discarded.
    overwritten: Vec<(ResourceId, View)>,
    /// Images whose depth or stencil is resolved, and their resolve targets.
    resolved: Vec<(ResourceId, Resolved)>,
    /// Values of timelines that the pass waits for and signals.
    timelines: Vec<(TimelineSemaphore, TimelineUseKind, u64)>,
    errors: Vec<RecordError>,
}

/// Role of an image in the resolve of a depth attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// The multisampled attachment.
    From,
    /// The resolve target.
    To,
}

/// One of several passes of a system.
pub(crate) struct Part {
    pub(crate) name: Arc<str>,
    pub(crate) uses: Vec<PassUse>,
    /// See [`Recorder::pass_in_step`](crate::Recorder::pass_in_step).
    pub(crate) step: Option<u32>,
}

impl Part {
    fn declared_kind<'b>(&'b self, bound: Bound<'b>) -> &'b AccessKind {
        let used = self.uses.iter().find(|used| used.declares(bound));
        used.map_or(bound.kind, |used| &used.kind)
    }
}

impl SubRecording {
    #[inline]
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.needs = Capabilities::empty();
        self.used = Used::default();
        if self.has_rare {
            self.clear_rare();
        }
    }

    fn clear_rare(&mut self) {
        self.has_rare = false;
        self.rare.host = None;
        self.rare.overwritten.clear();
        self.rare.resolved.clear();
        self.rare.timelines.clear();
        self.rare.errors.clear();
    }

    fn rare_mut(&mut self) -> &mut RareState {
        self.has_rare = true;
        &mut self.rare
    }

    /// Whether this run used rarely used state: it failed, overwrites or resolves attachments, or is a host pass.
    #[inline]
    pub(super) fn is_rare(&self) -> bool {
        self.has_rare
    }

    /// Whether there is no work for the device or the host.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty() && !self.is_on_host() && self.timelines().is_empty()
    }

    /// Adds an error, unless an equal one was added.
    #[cold]
    pub(crate) fn fail(&mut self, error: RecordError) {
        let errors = &mut self.rare_mut().errors;
        if !errors.contains(&error) {
            errors.push(error);
        }
    }

    /// Errors of the recording.
    #[inline]
    pub(crate) fn errors(&self) -> &[RecordError] {
        if self.has_rare {
            &self.rare.errors
        } else {
            &[]
        }
    }

    /// Marks an attachment's old contents as discardable.
    pub(crate) fn overwrite(&mut self, image: ResourceId, view: View) {
        self.rare_mut().overwritten.push((image, view));
    }

    /// Attachments whose old contents may be discarded.
    #[inline]
    pub(crate) fn overwritten(&self) -> &[(ResourceId, View)] {
        if self.has_rare {
            &self.rare.overwritten
        } else {
            &[]
        }
    }

    /// Adds a wait for a timeline value, or a signal.
    pub(crate) fn use_timeline(
        &mut self,
        timeline: &TimelineSemaphore,
        kind: TimelineUseKind,
        value: u64,
    ) {
        let one = (timeline.clone(), kind, value);
        self.rare_mut().timelines.push(one);
    }

    /// Timeline values that the pass waits for and signals.
    #[inline]
    pub(crate) fn timelines(&self) -> &[(TimelineSemaphore, TimelineUseKind, u64)] {
        if self.has_rare {
            &self.rare.timelines
        } else {
            &[]
        }
    }

    /// Notes that depth or stencil of an image is resolved to another image.
    pub(crate) fn resolve_depth(&mut self, from: ResourceId, to: ResourceId) {
        let resolved = &mut self.rare_mut().resolved;
        resolved.extend([(from, Resolved::From), (to, Resolved::To)]);
    }

    /// Images whose depth or stencil is resolved, and their resolve targets.
    #[inline]
    pub(crate) fn all_resolved(&self) -> &[(ResourceId, Resolved)] {
        if self.has_rare {
            &self.rare.resolved
        } else {
            &[]
        }
    }

    /// Returns the role of an image in the resolve of a depth attachment.
    #[inline]
    pub(crate) fn resolved(&self, image: ResourceId) -> Option<Resolved> {
        let mut all = self.all_resolved().iter();
        all.find_map(|(id, resolved)| (*id == image).then_some(*resolved))
    }

    /// Sets the host callback.
    pub(crate) fn set_host(&mut self, call: HostCall) {
        if self.rare_mut().host.replace(call).is_some() {
            self.fail(RecordError::TwoHostCalls);
        }
    }

    /// Whether this is a host pass.
    #[inline]
    pub(crate) fn is_on_host(&self) -> bool {
        self.has_rare && self.rare.host.is_some()
    }

    /// Takes the host callback.
    pub(super) fn take_host(&mut self) -> Option<HostCall> {
        self.rare.host.take()
    }

    /// The pass's name and uses, if it is one of several of its system.
    #[inline]
    pub(crate) fn part(&self) -> Option<&Part> {
        if self.is_part {
            self.rare.part.as_ref()
        } else {
            None
        }
    }

    /// Makes this one of several passes of its system. Memory is reused from the previous frame, and the name if
    /// unchanged.
    pub(super) fn begin_part(&mut self, name: &str, uses: &[PassUse], step: Option<u32>) {
        self.is_part = true;
        match &mut self.rare.part {
            Some(part) => {
                if part.name.as_ref() != name {
                    part.name = name.into();
                }
                part.uses.clear();
                part.uses.extend_from_slice(uses);
                part.step = step;
            }
            None => {
                self.rare.part = Some(Part {
                    name: name.into(),
                    uses: uses.to_vec(),
                    step,
                });
            }
        }
        for used in uses.iter().filter(|used| !used.declared.covers(&used.kind)) {
            self.fail(RecordError::PartNotDeclared {
                part: name.into(),
                resource: used.handle.name().into(),
                used: used.kind.name(),
                declared: used.declared.name(),
            });
        }
    }

    /// Checks that this pass declares a bound or attached resource, if it is one of several.
    #[inline]
    pub(crate) fn check_declared(&mut self, bound: Bound<'_>) {
        if self.is_part {
            self.check_part(bound);
        }
    }

    fn check_part(&mut self, bound: Bound<'_>) {
        let Some(part) = self.part() else { return };
        if !part.uses.iter().any(|used| used.declares(bound)) {
            let error = RecordError::NotDeclared {
                part: part.name.clone(),
                resource: bound.words().into(),
                access: bound.kind.name(),
            };
            self.fail(error);
        }
    }

    /// Returns the kind that this pass, or else the parameter, declares for a bound resource.
    #[inline]
    pub(crate) fn declared_kind<'b>(&'b self, bound: Bound<'b>) -> &'b AccessKind {
        match self.part() {
            Some(part) => part.declared_kind(bound),
            None => bound.kind,
        }
    }
}
