//! Saying again what a list came to before.

use std::ops::Range;

use quadrille_sync::{ResourceIndex, Use};

use super::{Encoder, Failure};
use crate::calls::Call;
use crate::commands::CommandList;

impl<'a> Encoder<'a> {
    /// Translates the list of a pass and keeps what it comes to, if that can be kept, in the place
    /// of what it came to before.
    pub(crate) fn encode_and_keep(
        &mut self,
        name: &str,
        uses: &'a [Use],
        list: &'a CommandList,
        before: &Range<u32>,
    ) -> Result<Option<Range<u32>>, (usize, Failure)> {
        self.calls.discard(before);
        self.calls.open();
        let encoded = self.encode(name, uses, list);
        if encoded.is_err() {
            self.calls.give_up();
        }
        encoded.map(|()| self.calls.close())
    }

    /// Says again what a pass came to. The list of the pass is what it was then, and so are plan
    /// and declared resources.
    pub(crate) fn repeat(&mut self, name: &str, calls: &Range<u32>) {
        self.device.names.begin(self.buffer, name);
        for at in calls.clone() {
            self.call(self.calls.at(at));
        }
        self.device.names.end(self.buffer);
    }

    #[inline]
    fn call(&mut self, call: Call) {
        let raw = &self.device.raw;
        match call {
            Call::Pipeline { point, pipeline } => self.bind_pipeline(point, pipeline),
            Call::Push {
                layout,
                template,
                first,
            } => {
                let infos = self.calls.infos(first).cast();
                let push = &self.device.push_descriptor;
                // SAFETY: the template is of this layout's set 0 and reads the infos of its
                // bindings, which were kept; they describe declared resources of the frame.
                unsafe {
                    push.cmd_push_descriptor_set_with_template(
                        self.buffer,
                        template,
                        layout,
                        0,
                        infos,
                    );
                }
            }
            Call::Constants {
                layout,
                stages,
                first,
                bytes,
            } => {
                let constants = self.calls.constants(first, bytes);
                // SAFETY: the layout has these stages and this many bytes.
                unsafe { raw.cmd_push_constants(self.buffer, layout, stages, 0, constants) };
            }
            Call::Dispatch { groups: [x, y, z] } => {
                // SAFETY: pipeline and bindings are set by the calls before; the numbers are
                // within the limits.
                unsafe { raw.cmd_dispatch(self.buffer, x, y, z) };
            }
            Call::DispatchIndirect { buffer, offset } => {
                // SAFETY: pipeline and bindings are set by the calls before; the arguments lie in
                // the buffer.
                unsafe { raw.cmd_dispatch_indirect(self.buffer, buffer, offset) };
            }
        }
    }

    /// What is not declared may be gone when the pass is repeated.
    pub(super) fn give_up_undeclared(&mut self, index: ResourceIndex) {
        if self.calls.is_open() && !self.resources.is_declared(index) {
            self.calls.give_up();
        }
    }
}
