//! Replay of cached calls.

use quadrille_sync::frame::Use;
use quadrille_sync::resource::ResourceIndex;

use super::{Encoder, Failure, declared_layout};
use crate::commands::CommandList;
use crate::error::CommandError;
use crate::record::call_cache::Recheck;
use crate::record::calls::{Call, LayoutCall, Span, UsedResource};

impl<'a> Encoder<'a> {
    /// Encodes the list of a pass and caches its calls, if they can be cached.
    pub(crate) fn encode_and_cache(
        &mut self,
        name: &str,
        uses: &'a [Use],
        list: &'a CommandList,
    ) -> Result<Option<Span>, (&'static str, Failure)> {
        self.calls.open();
        let encoded = self.encode(name, uses, list);
        if encoded.is_err() {
            self.calls.give_up();
        }
        encoded.map(|()| {
            let span = self.calls.close();
            span.iter().for_each(|span| self.calls.note_use(span));
            span
        })
    }

    /// Returns whether the cached calls of a pass are valid for these declared uses: its resources and the
    /// layouts of its images are unchanged. Only the inputs in `recheck` are
    /// compared.
    #[inline]
    pub(crate) fn still_holds(&self, uses: &[Use], span: &Span, recheck: Recheck) -> bool {
        match recheck {
            Recheck::Layouts => self.layouts_hold(uses, span),
            Recheck::Resources => self.resources_hold(uses, span) && self.layouts_hold(uses, span),
        }
    }

    /// Returns whether the resources that a pass used are unchanged, and declared by these uses.
    fn resources_hold(&self, uses: &[Use], span: &Span) -> bool {
        let is_it = |it: &UsedResource| {
            let version = self.resources.version(it.resource);
            version.is_some_and(|(version, at)| version == it.version && is_used(uses, at))
        };
        self.calls.resources(span).iter().all(is_it)
    }

    /// Returns whether a pass that declares these uses has images in the same layouts.
    #[inline]
    fn layouts_hold(&self, uses: &[Use], span: &Span) -> bool {
        let layouts = self.calls.layouts(span);
        layouts.is_empty() || self.all_layouts_hold(uses, layouts)
    }

    fn all_layouts_hold(&self, uses: &[Use], layouts: &[LayoutCall]) -> bool {
        let resources = self.resources;
        let is_same = |call: &LayoutCall| {
            let index = resources.index(call.image);
            let layout =
                |index| declared_layout(uses, (index, call.aspects), call.access, call.usual);
            index.is_ok_and(|index| layout(index) == call.layout)
        };
        layouts.iter().all(is_same)
    }

    /// Replays the calls of a pass. The list of the pass, its resources with their layouts, and the capabilities of the
    /// queue must be unchanged.
    pub(crate) fn repeat<'n>(&mut self, name: impl FnOnce() -> &'n str, span: &Span) {
        self.calls.note_use(span);
        self.device.names.begin(self.buffer, name);
        for at in span.calls.clone() {
            self.call(self.calls.at(at));
        }
        self.device.names.end(self.buffer);
    }

    /// Records a call, and caches it if the pass is being cached.
    #[inline]
    pub(super) fn emit(&mut self, call: Call) {
        self.calls.add(call);
        self.call(call);
    }

    #[inline]
    fn call(&mut self, call: Call) {
        match call {
            Call::Bind(call) => call.record(self),
            Call::Dispatch(call) => call.record(self),
            Call::BeginRendering { rendering } => self.render(self.calls.rendering(rendering)),
            Call::EndRendering => {
                // SAFETY: rendering has begun in this buffer.
                unsafe { self.device.raw.cmd_end_rendering(self.buffer) };
            }
            Call::LocalRead { is_multiview } => self.local_read(is_multiview),
            Call::State(call) => call.record(self),
            Call::Draw(call) => call.record(self),
        }
    }

    /// Notes that the pass uses a resource. The pass is not cached if it uses an undeclared resource, which may be
    /// destroyed before a replay, or a swapchain image, which changes each frame.
    pub(super) fn note_use(&mut self, index: ResourceIndex) -> Result<(), CommandError> {
        self.check_declared(index)?;
        if !self.calls.is_open() {
            return Ok(());
        }
        let resource = self.resources.handle(index).id();
        match self.resources.version(resource) {
            Some((version, _)) if !self.resources.is_of_swapchain(index) => {
                self.calls.add_resource(UsedResource { resource, version });
            }
            _ => self.calls.give_up(),
        }
        Ok(())
    }

    /// Checks that the pass declares a resource. Resources without synchronization need no declaration.
    pub(super) fn check_declared(&self, index: ResourceIndex) -> Result<(), CommandError> {
        let resources = self.resources;
        if is_used(self.uses, index) || !resources.is_declared(index) {
            Ok(())
        } else {
            Err(resources.not_declared(resources.handle(index).id()))
        }
    }
}

/// Whether a resource is among the uses of a pass.
fn is_used(uses: &[Use], index: ResourceIndex) -> bool {
    uses.iter().any(|used| used.resource == index)
}
