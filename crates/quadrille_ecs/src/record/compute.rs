//! Recording of dispatches.

use std::ops::Range;

use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::pipeline::ComputePipeline;
use quadrille_vulkan::resources::{GpuBuffer, Sampler};

use crate::declare::access::{Access, kind, stage};
use crate::declare::bind::Declared;
use crate::declare::kind::AccessKind;
use crate::declare::named::Named;
use crate::declare::table::DeclaredTable;
use crate::record::binding_key::BindingKey;
use crate::record::bound::{ALL_BYTES, BoundMask, part_of};
use crate::record::layout::{self, ShaderValue};
use crate::record::recording::SubRecording;

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

    /// Returns the recording of the dispatches.
    pub(crate) fn own_recording(&mut self) -> &mut SubRecording {
        self.recording
    }

    /// Binds a declared resource to a variable of `@group(0)`: by its number, `bind(2, &heights)`, or by
    /// its name, `bind("heights", &heights)`.
    #[inline]
    pub fn bind(&mut self, binding: impl BindingKey, resource: &impl Declared) -> &mut Self {
        self.bound.bind(
            self.recording,
            self.pipeline,
            binding,
            resource.bound(),
            ALL_BYTES,
        );
        self
    }

    /// Binds a byte range of a declared buffer, for instance to access a buffer beyond the device's
    /// `maxStorageBufferRange` (at least 128 MiB) in several ranges. The shader's variable begins at the start of the
    /// range, which must be a multiple of `minStorageBufferOffsetAlignment`, or of `minUniformBufferOffsetAlignment`
    /// for a uniform buffer. Multiples of 256 are valid on all devices.
    ///
    /// Synchronization is by the declared access, which is the whole buffer unless
    /// [`PassUse::range`](crate::PassUse::range) restricts it.
    pub fn bind_bytes<T, K, S>(
        &mut self,
        binding: impl BindingKey,
        buffer: &Access<'_, T, K, S>,
        bytes: Range<u64>,
    ) -> &mut Self
    where
        T: Named<Handle = GpuBuffer>,
        K: kind::Kind,
        S: stage::Stage,
    {
        let bytes = part_of(buffer, bytes);
        self.bound.bind(
            self.recording,
            self.pipeline,
            binding,
            buffer.bound(),
            bytes,
        );
        self
    }

    /// Binds a sampler to a variable of `@group(0)`, by number or by name.
    pub fn sampler(&mut self, binding: impl BindingKey, sampler: &Sampler) -> &mut Self {
        self.bound
            .sampler(self.recording, self.pipeline, binding, sampler);
        self
    }

    /// Binds a declared table to `@group(group)`, from group 1 on: by the
    /// group's number, or by the name of its array.
    pub fn table(&mut self, group: impl BindingKey, table: &impl DeclaredTable) -> &mut Self {
        let table = table.declared_table();
        match group.group(Some(self.pipeline)) {
            Ok(group) => self.recording.list.bind_table(group, table),
            Err(error) => self.recording.fail(error),
        }
        self
    }

    /// Sets the push constants, `var<immediate>` in WGSL: a number, a vector or matrix of
    /// [`glam`](crate::glam), an array of them, or a struct that derives
    /// [`ShaderType`](crate::encase::ShaderType), which implements WGSL's memory layout. The size must be that of the
    /// shader's variable, at most 128 bytes. Different member offsets are an
    /// error: `[f32; 3]`, for instance, does not match `vec3f`, which has an alignment of 16 bytes.
    ///
    /// ```
    /// # extern crate quadrille_ecs as quadrille;
    /// # use quadrille_ecs::{Compute, encase::ShaderType, glam::Vec3};
    /// /// `struct Wind { direction: vec3f, place: vec3f, strength: f32 }` of a shader: WGSL pads
    /// /// the first vector, and not the second.
    /// #[derive(ShaderType)]
    /// struct Wind {
    ///     direction: Vec3,
    ///     place: Vec3,
    ///     strength: f32,
    /// }
    ///
    /// fn blow(compute: &mut Compute<'_>, wind: &Wind) {
    ///     compute.push(wind).dispatch([64, 1, 1]);
    /// }
    /// ```
    pub fn push<T: ShaderValue>(&mut self, constants: &T) -> &mut Self {
        layout::push(self.recording, self.pipeline, constants);
        self
    }

    /// Sets the push constants to bytes, for instance of a struct by [`bytemuck`](crate::bytemuck). Size and memory
    /// layout must be those of the shader's variable; [`Self::push`] takes care of the layout.
    pub fn push_bytes(&mut self, constants: &[u8]) -> &mut Self {
        self.recording.list.push_constants(constants);
        self
    }

    /// Dispatches `groups` workgroups in x, y and z: an array, or a `UVec3`.
    #[inline]
    pub fn dispatch(&mut self, groups: impl Into<[u32; 3]>) -> &mut Self {
        self.bound.check_complete(self.recording, self.pipeline);
        self.recording.list.dispatch(groups.into());
        self
    }

    /// Dispatches enough workgroups for this number of invocations in x, y and z, by the shader's `@workgroup_size`.
    /// The last workgroups may have invocations beyond it, which the shader must ignore.
    ///
    /// ```
    /// # use quadrille_ecs::Compute;
    /// # use quadrille_vulkan::resources::GpuImage;
    /// fn fill(compute: &mut Compute<'_>, image: &GpuImage) {
    ///     // @workgroup_size(8, 8), and one invocation per texel.
    ///     compute.dispatch_invocations(image.extent());
    /// }
    /// ```
    pub fn dispatch_invocations(&mut self, invocations: impl Into<[u32; 3]>) -> &mut Self {
        let (invocations, size) = (invocations.into(), self.pipeline.workgroup_size());
        self.dispatch(std::array::from_fn::<u32, 3, _>(|axis| {
            invocations[axis].div_ceil(size[axis])
        }))
    }

    /// Dispatches workgroups with arguments from a buffer: three `u32`s at byte `offset`.
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
