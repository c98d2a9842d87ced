//! Vulkan commands of the program.

#![expect(unsafe_code, reason = "what the commands do only their author knows")]

use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::commands::RawCommand;

use crate::record::recorder::{PassRecorder, Recorder};
use crate::record::rendering::Rendering;

impl Recorder<'_, '_> {
    /// Records Vulkan commands of your own. `needs` are the required capabilities of the queue.
    ///
    /// # Safety
    /// When recorded, the commands must obey Vulkan's rules. They must access only resources that the pass declares, by
    /// the declared accesses and in the declared layouts, and leave no render pass open. They may be recorded on any
    /// thread.
    pub unsafe fn raw(&mut self, needs: Capabilities, commands: RawCommand) {
        let recording = self.recording.main();
        recording.needs |= needs;
        // SAFETY: the caller promises what the list requires.
        unsafe { recording.list.raw(commands) };
    }
}

impl PassRecorder<'_> {
    /// See [`Recorder::raw`].
    ///
    /// # Safety
    /// As for [`Recorder::raw`].
    pub unsafe fn raw(&mut self, needs: Capabilities, commands: RawCommand) {
        self.recording.needs |= needs;
        // SAFETY: the caller promises what the list requires.
        unsafe { self.recording.list.raw(commands) };
    }
}

impl Rendering<'_> {
    /// Draws by Vulkan commands of your own, such as a command of an extension
    /// ([`Settings::extensions`](quadrille_vulkan::instance::Settings::extensions)), with the currently bound pipeline, bindings,
    /// push constants, vertices and indices. These stay bound for later draws.
    ///
    /// # Safety
    /// When recorded, the commands must obey Vulkan's rules within this rendering. They must access only resources that
    /// the pass declares, by the declared accesses and in the declared layouts. They must leave vertex buffers, the
    /// index buffer and dynamic state unchanged; the next draw binds pipeline and descriptors again. They may be
    /// recorded on any thread.
    pub unsafe fn draw_raw(&mut self, commands: RawCommand) -> &mut Self {
        if self.ready("draw_raw") {
            // SAFETY: the caller promises what the list requires.
            unsafe { self.recording.list.draw_raw(commands) };
        }
        self
    }
}
