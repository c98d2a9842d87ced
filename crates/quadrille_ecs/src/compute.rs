//! Recording dispatches.

use bytemuck::NoUninit;
use quadrille_sync::Capabilities;
use quadrille_vulkan::{ComputePipeline, Sampler};

use crate::bind::{BoundMask, Declared};
use crate::kind::AccessKind;
use crate::recording::SubRecording;

/// A bound compute pipeline: bind resources, push constants, dispatch.
pub struct Compute<'a> {
    recording: &'a mut SubRecording,
    pipeline: &'a ComputePipeline,
    bound: BoundMask,
}

impl<'a> Compute<'a> {
    #[inline]
    pub(crate) fn begin(recording: &'a mut SubRecording, pipeline: &'a ComputePipeline) -> Self {
        recording.used.compute = true;
        recording.needs |= Capabilities::COMPUTE;
        recording.list.bind_compute(pipeline);
        Self {
            recording,
            pipeline,
            bound: BoundMask::default(),
        }
    }

    /// Binds a declared resource to `@group(0) @binding(binding)`.
    #[inline]
    pub fn bind(&mut self, binding: u32, resource: &impl Declared) -> &mut Self {
        self.bound
            .bind(self.recording, self.pipeline, binding, resource.bound());
        self
    }

    /// Binds a sampler to `@group(0) @binding(binding)`.
    pub fn sampler(&mut self, binding: u32, sampler: &Sampler) -> &mut Self {
        self.bound
            .sampler(self.recording, self.pipeline, binding, sampler);
        self
    }

    /// Sets the push constants, `var<immediate>` in WGSL: at most 128 bytes, laid out as the
    /// shader's variable. Less than the shader has is an error. More is not: pipelines that begin
    /// alike can share one struct, and a shader that is edited while the program runs may need less
    /// than before.
    pub fn push<T: NoUninit>(&mut self, constants: &T) -> &mut Self {
        self.recording
            .list
            .push_constants(bytemuck::bytes_of(constants));
        self
    }

    /// Runs `groups` workgroups in x, y and z.
    #[inline]
    pub fn dispatch(&mut self, groups: [u32; 3]) -> &mut Self {
        self.bound.check_complete(self.recording, self.pipeline);
        self.recording.list.dispatch(groups);
        self
    }

    /// Runs as many workgroups as the three `u32`s at `offset` bytes in the buffer say.
    pub fn dispatch_indirect(&mut self, arguments: &impl Declared, offset: u64) -> &mut Self {
        self.bound.check_complete(self.recording, self.pipeline);
        let (needed, command) = (AccessKind::Indirect, "dispatch_indirect");
        let arguments = arguments.bound();
        if let Some(buffer) = self.recording.used_buffer(arguments, needed, command) {
            self.recording.list.dispatch_indirect(buffer, offset);
        }
        self
    }
}
