//! Checks of passes whose parameters may differ from the frame's declarations: an access entity allows less
//! than its parameter, or a resource was replaced while passes ran. Only the commands of these passes are
//! compared with the frame; other passes cannot exceed the declarations of their parameters.

use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;
use quadrille_sync::frame::{PassIndex, UndeclaredAccess};
use quadrille_sync::range::SubRange;
use quadrille_vulkan::commands::UndeclaredCommandUse;
use quadrille_vulkan::resources::Handle;

use super::Collector;
use super::declared::CachedUse;
use crate::collect::mirror::{PassGraph, PassNode};
use crate::declare::declaration::{Bound, DeclaredAccess};
use crate::declare::kind::{AccessKind, StageScope, Used};
use crate::error::{RecordError, RenderError};
use crate::record::recording::{Recorded, SubRecording};

/// Whether a declared use allows at least the access of the parameter.
pub(super) fn allows(declared: &CachedUse, parameter: &DeclaredAccess) -> bool {
    let are_stages = declared.stages == parameter.stages
        || matches!(declared.stages, StageScope::Auto | StageScope::Any);
    declared.kind.covers(&parameter.kind)
        && are_stages
        && (declared.range == SubRange::Whole || declared.range == parameter.range)
}

impl Collector {
    /// Notes the change tick before passes run: a resource that changes later may differ from the one that a
    /// pass used.
    pub(crate) fn before_passes(&mut self, now: Tick) {
        self.passes_began = Some(now);
    }

    /// Whether a binding, whose handles have changed, changed while passes ran.
    pub(super) fn is_replaced_late(&self, world: &World, bound: &Bound) -> bool {
        let changed = bound.last_changed(world);
        let times = changed.zip(self.passes_began);
        times.is_none_or(|(changed, began)| changed.is_newer_than(began, world.read_change_tick()))
    }

    /// Reports commands beyond the frame's declarations, for the passes that can have any.
    pub(super) fn check_undeclared_uses(
        &self,
        world: &World,
        recordings: Recorded<'_>,
        errors: &mut Vec<RenderError>,
    ) {
        if self.may_exceed.is_empty() && self.replaced.is_empty() {
            return;
        }
        let Some(graph) = world.get_resource::<PassGraph>() else {
            return;
        };
        for (at, node) in graph.passes.iter().enumerate() {
            let uses = &self.passes[at].uses;
            let may_exceed = self.may_exceed.contains(&(at as u32))
                || uses.iter().any(|one| self.replaced.contains(&one.binding));
            let span = &self.span_of[at];
            let recording = recordings.get(node.slot);
            if let Some(recording) = recording.filter(|_| may_exceed && !span.is_empty()) {
                // Several passes of one system are declared from their own commands, so they cannot exceed
                // their declarations.
                let own = recording.passes().iter().filter(|it| it.part().is_none());
                let pass = PassIndex(span.start);
                own.for_each(|recorded| self.check_pass(world, (node, pass), recorded, errors));
            }
        }
    }

    fn check_pass(
        &self,
        world: &World,
        (node, pass): (&PassNode, PassIndex),
        recorded: &SubRecording,
        errors: &mut Vec<RenderError>,
    ) {
        let undeclared_uses = if recorded.is_on_host() {
            self.undeclared_host_uses(world, node, pass)
        } else {
            recorded
                .list
                .undeclared_uses(&self.frame, pass, &self.handles)
        };
        errors.extend(
            undeclared_uses
                .into_iter()
                .map(|undeclared_use| RenderError::Record {
                    pass: self.frame.pass(pass).name.to_string(),
                    error: RecordError::MoreThanDeclared {
                        resource: (&*undeclared_use.access.resource).into(),
                        used_as: undeclared_use.used_as.into(),
                        access: undeclared_use.access.to_string().into(),
                    },
                }),
        );
    }

    /// Undeclared uses of a host pass. Its callback cannot be inspected, so it counts as making all accesses
    /// that the parameters of its system allow.
    fn undeclared_host_uses(
        &self,
        world: &World,
        node: &PassNode,
        pass: PassIndex,
    ) -> Vec<UndeclaredCommandUse> {
        let mut undeclared_uses = Vec::new();
        let mut handles = Vec::new();
        let parameters = node.declared.iter();
        for parameter in parameters.filter(|it| is_host(it.access.kind)) {
            let access = parameter.access;
            handles.clear();
            if let Some(bound) = world.get::<Bound>(parameter.resource) {
                bound.resolve(world, &mut handles);
            }
            let undeclared = handles.iter().filter_map(|handle| {
                let access = access.kind.access(access.stages, Used::default());
                self.check_whole(pass, handle, access).err()
            });
            undeclared_uses.extend(undeclared.map(|access| UndeclaredCommandUse {
                used_as: "memory of a host pass, by its parameter".to_owned(),
                access,
            }));
        }
        undeclared_uses
    }

    fn check_whole(
        &self,
        pass: PassIndex,
        handle: &Handle,
        access: quadrille_sync::access::Access,
    ) -> Result<(), UndeclaredAccess> {
        let range = SubRange::Whole;
        match self.known_index(handle.id()) {
            Some(index) => self.frame.check_declared(pass, index, range, access),
            None => Err(UndeclaredAccess {
                resource: handle.name().into(),
                access,
                range,
                declared: Vec::new(),
            }),
        }
    }
}

fn is_host(kind: AccessKind) -> bool {
    kind.access(StageScope::Auto, Used::default()).is_host()
}
