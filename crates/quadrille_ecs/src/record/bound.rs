//! Checks of bindings against the shaders of the pipeline and the declarations, while a pass records.

use std::ops::Range;

use quadrille_vulkan::pipeline::{BindingNeeds, Needs, Variable};
use quadrille_vulkan::resources::{GpuBuffer, Sampler};
use quadrille_vulkan::shader::{Binding, BindingKind, DataLayout, TableBinding};
use quadrille_vulkan::vk;

use crate::declare::bind::{Bound, ResourceRef};
use crate::declare::exact;
use crate::declare::kind::{AccessKind, StageScope};
use crate::error::RecordError;
use crate::record::binding_key::BindingKey;
use crate::record::recording::SubRecording;

/// Range of a buffer that is bound as a whole.
pub(crate) const ALL_BYTES: (u64, u64) = (0, 0);

/// Converts a byte range to the argument of [`BoundMask::bind`]. An empty range is moved to the end of the buffer,
/// where it is an error when the pass is submitted.
pub(crate) fn part_of(buffer: &GpuBuffer, bytes: Range<u64>) -> (u64, u64) {
    if bytes == (0..buffer.bytes()) {
        return ALL_BYTES;
    }
    if bytes.is_empty() {
        return (buffer.bytes(), 0);
    }
    (bytes.start, bytes.end - bytes.start)
}

/// Set of the bindings that are bound so far.
#[derive(Default)]
pub(crate) struct BoundMask(u64);

impl BoundMask {
    /// Binds a resource after checking it against the shader and the declaration. For a buffer, `bytes` is the first
    /// byte and the size; size 0 means up to the end.
    #[inline(always)]
    pub(crate) fn bind(
        &mut self,
        recording: &mut SubRecording,
        pipeline: &impl Reflected,
        key: impl BindingKey,
        bound: Bound<'_>,
        (offset, size): (u64, u64),
    ) {
        let binding = match key.binding(pipeline) {
            Ok(binding) => binding,
            Err(error) => return self.fail_name(recording, error),
        };
        recording.check_declared(bound);
        let declared = recording.declared_kind(bound);
        // Counts as bound, so that the error of a wrong binding is not followed by one of a missing binding.
        self.0 |= BindingNeeds::bit(binding);
        if !is_plain(pipeline.needs().at(binding), &bound, declared)
            && let Some(error) = mismatch(pipeline, binding, bound, declared)
        {
            recording.fail(error);
            return;
        }
        match bound.resource {
            ResourceRef::Buffer(buffer) => {
                recording.list.bind_buffer(binding, buffer, offset, size);
            }
            ResourceRef::Image(image) if *declared == AccessKind::Sampled => {
                recording.list.bind_view_sampled(binding, image, bound.view);
            }
            ResourceRef::Image(image) => {
                recording.list.bind_view_storage(binding, image, bound.view);
            }
        }
    }

    /// Binds a sampler after checking that the shader has a sampler there.
    pub(crate) fn sampler(
        &mut self,
        recording: &mut SubRecording,
        pipeline: &impl Reflected,
        key: impl BindingKey,
        sampler: &Sampler,
    ) {
        let binding = match key.binding(pipeline) {
            Ok(binding) => binding,
            Err(error) => return self.fail_name(recording, error),
        };
        let info = find(pipeline.bindings(), binding);
        match info.map(|info| info.kind) {
            Some(BindingKind::Sampler | BindingKind::CombinedImageSampler(_)) => {
                self.0 |= BindingNeeds::bit(binding);
                recording.list.bind_sampler(binding, sampler);
            }
            Some(_) => recording.fail(RecordError::NoSampler {
                pipeline: pipeline.name().into(),
                binding,
            }),
            None => recording.fail(no_such_binding(pipeline, binding, "a sampler")),
        }
    }

    /// Records the error of an unknown name. The binding meant is unknown, so errors about missing bindings are
    /// suppressed.
    #[cold]
    fn fail_name(&mut self, recording: &mut SubRecording, error: RecordError) {
        self.0 = u64::MAX;
        recording.fail(error);
    }

    /// Checks that everything the shader reads or writes is bound.
    #[inline]
    pub(crate) fn check_complete(&self, recording: &mut SubRecording, pipeline: &impl Reflected) {
        let missing = pipeline.needs().numbers() & !self.0;
        if missing != 0 {
            fail_incomplete(recording, pipeline, missing);
        }
    }
}

/// Records an error for the first missing binding.
#[cold]
fn fail_incomplete(recording: &mut SubRecording, pipeline: &impl Reflected, missing: u64) {
    let mut bindings = pipeline.bindings().iter();
    if let Some(info) = bindings.find(|info| missing & BindingNeeds::bit(info.binding) != 0) {
        recording.fail(RecordError::MissingBinding {
            pipeline: pipeline.name().into(),
            binding: info.binding,
            variable: info.name.as_str().into(),
        });
    }
}

/// Fast path of [`mismatch`]: whether a declared access covers a shader's use, in the common cases by one comparison.
/// False means undecided.
#[inline]
fn is_plain(needs: Needs, bound: &Bound<'_>, declared: &AccessKind) -> bool {
    let image = match bound.resource {
        ResourceRef::Buffer(_) => Needs::empty(),
        ResourceRef::Image(_) => Needs::IMAGE,
    };
    let (of_interest, wanted) = match declared {
        AccessKind::Uniform => (Needs::UNIFORM, Needs::UNIFORM),
        AccessKind::Sampled => (Needs::SAMPLED, Needs::SAMPLED),
        AccessKind::StorageRead => (Needs::STORAGE.union(Needs::WRITES), Needs::STORAGE),
        AccessKind::StorageWrite => {
            let both = Needs::STORAGE.union(Needs::WRITES);
            (both, both)
        }
        AccessKind::StorageReadWrite => (Needs::STORAGE, Needs::STORAGE),
        // Other kinds have no fast path: no binding has all needs.
        _ => (Needs::all(), Needs::all()),
    };
    let elsewhere = match bound.stages {
        StageScope::Auto | StageScope::Any => Needs::empty(),
        StageScope::Vertex => Needs::FRAGMENT.union(Needs::COMPUTE),
        StageScope::Fragment => Needs::VERTEX.union(Needs::COMPUTE),
        StageScope::Graphics => Needs::COMPUTE,
        StageScope::Compute => Needs::VERTEX.union(Needs::FRAGMENT),
    };
    needs & (of_interest | Needs::IMAGE | elsewhere) == wanted | image
}

/// Finds a binding by number. Bindings are sorted by number, mostly without gaps.
#[inline]
fn find(bindings: &[Binding], binding: u32) -> Option<&Binding> {
    let is_it = |info: &&Binding| info.binding == binding;
    let guess = bindings.get(binding as usize).filter(is_it);
    guess.or_else(|| bindings.iter().find(is_it))
}

/// A pipeline with reflected shaders.
pub(crate) trait Reflected {
    fn name(&self) -> &str;
    fn bindings(&self) -> &[Binding];
    fn tables(&self) -> &[TableBinding];
    fn variables(&self, names: &'static [&'static str]) -> &[Variable];
    fn needs(&self) -> &BindingNeeds;
    fn push_layouts(&self) -> &[DataLayout];
}

macro_rules! implement_reflected {
    ($($pipeline:ident),*) => {$(
        impl Reflected for quadrille_vulkan::pipeline::$pipeline {
            fn name(&self) -> &str {
                self.name()
            }

            fn bindings(&self) -> &[Binding] {
                self.bindings()
            }

            fn tables(&self) -> &[TableBinding] {
                self.tables()
            }

            #[inline]
            fn variables(&self, names: &'static [&'static str]) -> &[Variable] {
                self.variables(names)
            }

            #[inline]
            fn needs(&self) -> &BindingNeeds {
                self.needs()
            }

            #[inline]
            fn push_layouts(&self) -> &[DataLayout] {
                self.push_layouts()
            }
        }
    )*};
}

implement_reflected!(ComputePipeline, GraphicsPipeline);

/// Returns the reason why a resource with this declared access cannot be bound; `None` if it can.
#[cold]
fn mismatch(
    pipeline: &impl Reflected,
    binding: u32,
    bound: Bound<'_>,
    declared: &AccessKind,
) -> Option<RecordError> {
    let Some(info) = find(pipeline.bindings(), binding) else {
        return Some(no_such_binding(pipeline, binding, bound.name()));
    };
    let is_image = matches!(bound.resource, ResourceRef::Image(_));
    let needs = match info.kind {
        BindingKind::UniformBuffer => AccessKind::Uniform,
        BindingKind::SampledImage(_) | BindingKind::CombinedImageSampler(_) => AccessKind::Sampled,
        BindingKind::StorageBuffer | BindingKind::StorageImage(_) => {
            match (info.reads, info.writes) {
                (_, false) => AccessKind::StorageRead,
                (false, true) => AccessKind::StorageWrite,
                (true, true) => AccessKind::StorageReadWrite,
            }
        }
        BindingKind::Sampler | BindingKind::InputAttachment(_) => {
            return Some(wrong_kind(pipeline, info, bound));
        }
    };
    let wants_image = matches!(
        info.kind,
        BindingKind::SampledImage(_)
            | BindingKind::CombinedImageSampler(_)
            | BindingKind::StorageImage(_)
    );
    if wants_image != is_image {
        return Some(wrong_kind(pipeline, info, bound));
    }
    // WGSL has no write-only storage buffers: pure writes use `read_write` too, so a declared write is accepted for it.
    let pure_write = *declared == AccessKind::StorageWrite && needs == AccessKind::StorageReadWrite;
    let exactly = match declared {
        AccessKind::Exactly(access) => exact::allows(*access, info),
        _ => false,
    };
    if declared.covers(&needs) || pure_write || exactly {
        return (!bound.stages.covers(info.stages)).then(|| RecordError::OtherStages {
            pipeline: pipeline.name().into(),
            binding,
            variable: info.name.as_str().into(),
            resource: bound.name().into(),
            declared: bound.stages.name(),
            needed: stage_words(info.stages),
        });
    }
    Some(RecordError::AccessTooWeak {
        pipeline: pipeline.name().into(),
        binding,
        variable: info.name.as_str().into(),
        resource: bound.name().into(),
        declared: declared.name(),
        needed: needs.name(),
    })
}

/// Names shader stages in messages.
fn stage_words(stages: vk::ShaderStageFlags) -> &'static str {
    match stages {
        vk::ShaderStageFlags::VERTEX => "the vertex shader",
        vk::ShaderStageFlags::FRAGMENT => "the fragment shader",
        vk::ShaderStageFlags::COMPUTE => "the compute shader",
        _ => "the vertex and the fragment shader",
    }
}

fn no_such_binding(pipeline: &impl Reflected, binding: u32, resource: &str) -> RecordError {
    let one = |it: &Binding| format!("{} (`{}`)", it.binding, it.name);
    let available: Vec<String> = pipeline.bindings().iter().map(one).collect();
    RecordError::NoSuchBinding {
        pipeline: pipeline.name().into(),
        binding,
        resource: resource.into(),
        available: if available.is_empty() {
            "none".into()
        } else {
            available.join(", ").into()
        },
    }
}

fn wrong_kind(pipeline: &impl Reflected, info: &Binding, bound: Bound<'_>) -> RecordError {
    RecordError::WrongKind {
        pipeline: pipeline.name().into(),
        binding: info.binding,
        variable: info.name.as_str().into(),
        resource: bound.name().into(),
    }
}
