//! Vulkan commands of users' own.

#![expect(unsafe_code, reason = "what the commands do only their author knows")]

use quadrille_sync::Capabilities;
use quadrille_vulkan::RawCommand;

use crate::record::recorder::{PassRecorder, Recorder};
use crate::record::rendering::Rendering;

impl Recorder<'_, '_> {
    /// Records Vulkan commands of your own; `needs` is what the queue must be able to do.
    ///
    /// # Safety
    /// When the commands are recorded they must obey Vulkan's rules, touch only what the pass
    /// declares, in the declared way and layout, and leave no render pass open. They may be
    /// recorded on any thread.
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
    /// As there.
    pub unsafe fn raw(&mut self, needs: Capabilities, commands: RawCommand) {
        self.recording.needs |= needs;
        // SAFETY: the caller promises what the list requires.
        unsafe { self.recording.list.raw(commands) };
    }
}

impl Rendering<'_> {
    /// Draws by Vulkan commands of your own, such as one of an extension
    /// ([`Settings::extensions`](quadrille_vulkan::Settings::extensions)): with the pipeline, bindings,
    /// constants, vertices and indices that are bound, as any draw. What is bound stays bound for draws
    /// after it.
    ///
    /// # Safety
    /// When the commands are recorded they must obey Vulkan's rules in this rendering, and touch only
    /// what the pass declares, in the declared way and layout. They leave vertex buffers, the index
    /// buffer and dynamic state as they were; the next draw binds pipeline and descriptors again. They may be
    /// recorded on any thread.
    pub unsafe fn draw_raw(&mut self, commands: RawCommand) -> &mut Self {
        if self.ready("draw_raw") {
            // SAFETY: the caller promises what the list requires.
            unsafe { self.recording.list.draw_raw(commands) };
        }
        self
    }
}
