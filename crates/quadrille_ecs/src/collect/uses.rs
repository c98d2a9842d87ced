//! Uses of resources by passes: declared by parameters, narrowed by what was recorded.

use bevy_ecs::prelude::*;
use quadrille_sync::access::Access;
use quadrille_sync::frame::Use;

use super::Collector;
use super::declared::{CachedUse, missing};
use crate::collect::mirror::PassNode;
use crate::declare::access::PassUse;
use crate::declare::kind::{AccessKind, StageScope, Used};
use crate::declare::view;
use crate::error::RenderError;
use crate::record::recording::{Resolved, SubRecording};

impl Collector {
    /// Adds the uses of one pass.
    pub(super) fn add_uses(
        &mut self,
        world: &World,
        at: usize,
        node: &PassNode,
        recorded: &SubRecording,
        errors: &mut Vec<RenderError>,
    ) {
        if let Some(part) = recorded.part() {
            for used in &part.uses {
                let resource = self.index(&used.handle);
                let (access, discard) = part_access(used, recorded);
                self.frame.uses.push(Use {
                    resource,
                    range: used.range,
                    access,
                    discard,
                });
            }
            return;
        }
        let resolved = std::mem::take(&mut self.resolved);
        for position in 0..self.passes[at].uses.len() {
            let CachedUse {
                binding,
                kind,
                stages,
                range,
            } = self.passes[at].uses[position];
            let Some(handles) = &resolved[binding as usize] else {
                let (resource, bound) = &self.bindings[binding as usize];
                if !self.was_without(node, *resource) {
                    errors.push(missing(world, &self.passes[at].name, bound));
                }
                continue;
            };
            for handle in handles {
                let resource = self.index(handle);
                let overwritten = view::is_overwritten(handle, &range, recorded.overwritten());
                let resolved = recorded.resolved(handle.id());
                let (access, discard) = attached(kind, resolved, overwritten)
                    .unwrap_or_else(|| (kind.access(stages, recorded.used), false));
                self.frame.uses.push(Use {
                    resource,
                    range,
                    access,
                    discard,
                });
            }
        }
        self.resolved = resolved;
    }

    /// Whether a pass system ran with `None` for this resource.
    fn was_without(&self, node: &PassNode, resource: Entity) -> bool {
        let mut parameters = node.declared.iter().filter(|it| it.resource == resource);
        let (began, ended) = (self.passes_began, self.passes_ended);
        began.is_some_and(|began| parameters.any(|it| it.absence.is_since(began, ended)))
    }
}

/// The access of a use by one of several passes of a system, and whether it discards.
pub(crate) fn part_access(used: &PassUse, recorded: &SubRecording) -> (Access, bool) {
    let overwritten = view::is_overwritten(&used.handle, &used.range, recorded.overwritten());
    let resolved = recorded.resolved(used.handle.id());
    attached(used.kind, resolved, overwritten)
        .unwrap_or_else(|| (used.kind.access(used.stages, recorded.used), false))
}

/// The access of an attachment, and whether it discards, if it differs from that of its kind: the old
/// contents are overwritten, or depth is resolved.
fn attached(
    kind: AccessKind,
    resolved: Option<Resolved>,
    overwritten: bool,
) -> Option<(Access, bool)> {
    let access = match (kind, resolved) {
        (AccessKind::DepthTarget, Some(Resolved::From)) => Access::DepthAttachmentResolvedReadWrite,
        (AccessKind::DepthTarget, Some(Resolved::To)) => Access::DepthResolveAttachmentWrite,
        (AccessKind::ColorTarget, _) if overwritten => Access::ColorAttachmentWrite,
        (AccessKind::DepthTarget, _) if overwritten => Access::DepthAttachmentWrite,
        // Local reads access only contents written by the same rendering.
        (AccessKind::ColorLocalRead | AccessKind::DepthLocalRead, _) if overwritten => {
            kind.access(StageScope::Auto, Used::default())
        }
        _ => return None,
    };
    Some((access, overwritten))
}
