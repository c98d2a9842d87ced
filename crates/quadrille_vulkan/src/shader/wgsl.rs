//! Translation of WGSL to SPIR-V with naga.

mod depth;
mod locations;
pub(super) mod structs;
mod tables;

use ash::vk;
use naga::back::spv;
use naga::proc::BoundsCheckPolicy;
use naga::valid::{Capabilities, GlobalUse, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, ImageClass, ImageDimension, ShaderStage as NagaStage, TypeInner};

use super::compose::Joined;
use super::constants::Overrides;
use super::image::format_of_wgsl;
use super::implicit::remove_layouts;
use super::invariance::make_positions_invariant;
use super::{
    Binding, BindingKind, DataLayout, EntryPoint, ScalarKind, ShaderImage, ShaderStage,
    data_layout, nesting, spirv,
};
use crate::deep_stack;
use crate::error::ShaderError;
use locations::{locations, scalar_kind};
use tables::table_binding;

/// Language features beyond the core that all devices of the baseline support.
const CAPABILITIES: Capabilities = Capabilities::IMMEDIATES
    .union(Capabilities::EARLY_DEPTH_TEST)
    .union(Capabilities::MULTISAMPLED_SHADING)
    .union(Capabilities::CUBE_ARRAY_TEXTURES)
    .union(Capabilities::STORAGE_TEXTURE_16BIT_NORM_FORMATS)
    .union(Capabilities::CLIP_DISTANCES)
    .union(Capabilities::SUBGROUP)
    .union(Capabilities::SUBGROUP_BARRIER)
    .union(Capabilities::SHADER_INT64)
    .union(Capabilities::SHADER_FLOAT16_IN_FLOAT32)
    .union(Capabilities::TEXTURE_ATOMIC)
    .union(Capabilities::TEXTURE_AND_SAMPLER_BINDING_ARRAY)
    .union(Capabilities::TEXTURE_AND_SAMPLER_BINDING_ARRAY_NON_UNIFORM_INDEXING)
    .union(Capabilities::STORAGE_BUFFER_BINDING_ARRAY)
    .union(Capabilities::STORAGE_BUFFER_BINDING_ARRAY_NON_UNIFORM_INDEXING)
    .union(Capabilities::DRAW_INDEX)
    .union(Capabilities::MULTIVIEW)
    .union(Capabilities::MEMORY_DECORATION_COHERENT)
    .union(Capabilities::MEMORY_DECORATION_VOLATILE);

/// A translated module.
pub(super) struct Translated {
    pub words: Vec<u32>,
    pub entry_points: Vec<EntryPoint>,
    /// The constants that pipelines set, if any. In `words` they have their defaults, or an arbitrary value without a
    /// default.
    pub overrides: Option<Overrides>,
}

/// Translates a source to SPIR-V with its entry points.
pub(super) fn translate(label: &str, joined: Joined) -> Result<Translated, ShaderError> {
    check_nesting(&joined)?;
    guarded(label, || try_translate(label, joined))
}

/// Checks that a source is valid WGSL.
pub(super) fn validate(label: &str, joined: &Joined) -> Result<(), ShaderError> {
    check_nesting(joined)?;
    guarded(label, || validated(joined).map(|_| ()))
}

fn check_nesting(joined: &Joined) -> Result<(), ShaderError> {
    nesting::check(joined.text()).map_err(|spanned| {
        joined.error(&spanned.message, &[(spanned.at, String::new())], Vec::new())
    })
}

/// Calls the translator on a deep stack, and converts a panic to an error: no source may abort the program. It holds no
/// data that a panic could leave inconsistent.
pub(super) fn guarded<T: Send>(
    label: &str,
    translate: impl FnOnce() -> Result<T, ShaderError> + Send,
) -> Result<T, ShaderError> {
    deep_stack::run(translate).unwrap_or_else(|reason| {
        Err(ShaderError::Interface {
            label: label.to_owned(),
            problem: format!("its translation {reason}"),
        })
    })
}

/// Parses a source; the module is not validated.
fn parse(joined: &Joined) -> Result<naga::Module, ShaderError> {
    naga::front::wgsl::parse_str(joined.text()).map_err(|error| {
        let labels = error.labels().filter_map(|(span, text)| label(span, text));
        let notes = error.notes().map(|note| format!("note: {note}"));
        joined.error(
            error.message(),
            &labels.collect::<Vec<_>>(),
            notes.collect(),
        )
    })
}

/// Parses and validates a source.
fn validated(joined: &Joined) -> Result<(naga::Module, ModuleInfo), ShaderError> {
    let mut module = parse(joined)?;
    depth::check(joined, &module)?;
    // Entry points of imported modules belong to other shaders.
    module
        .entry_points
        .retain(|entry| !joined.own_name(&entry.name).1);
    make_positions_invariant(&mut module);
    let info = Validator::new(ValidationFlags::all(), CAPABILITIES)
        .validate(&module)
        .map_err(|error| invalid(joined, &error))?;
    Ok((module, info))
}

fn try_translate(label: &str, joined: Joined) -> Result<Translated, ShaderError> {
    let (module, info) = validated(&joined)?;
    if module.overrides.is_empty() {
        let (words, entry_points) = write(label, &joined, &module, &info)?;
        return Ok(Translated {
            words,
            entry_points,
            overrides: None,
        });
    }
    let overrides = Overrides::new(module, info, joined);
    let (words, entry_points) = overrides.with_any_values(label)?;
    Ok(Translated {
        words,
        entry_points,
        overrides: Some(overrides),
    })
}

fn label(span: naga::Span, text: &str) -> Option<(std::ops::Range<usize>, String)> {
    Some((span.to_range()?, text.to_owned()))
}

/// Returns the error of a module that fails validation.
pub(super) fn invalid(
    joined: &Joined,
    error: &naga::WithSpan<naga::valid::ValidationError>,
) -> ShaderError {
    let labels = error.spans().filter_map(|(span, text)| label(*span, text));
    let mut notes = Vec::new();
    let mut next = std::error::Error::source(error.as_inner());
    while let Some(source) = next {
        notes.push(source.to_string());
        next = source.source();
    }
    let message = chain(error.as_inner());
    joined.error(&message, &labels.collect::<Vec<_>>(), notes)
}

/// Writes a module without overrides as SPIR-V, and reflects its entry points.
pub(super) fn write(
    label: &str,
    joined: &Joined,
    module: &naga::Module,
    info: &ModuleInfo,
) -> Result<(Vec<u32>, Vec<EntryPoint>), ShaderError> {
    let problem = |problem: String| ShaderError::Interface {
        label: label.to_owned(),
        problem: joined.shown(&problem),
    };
    let mut words = spv::write_vec(module, info, &options(module), None)
        .map_err(|error| problem(error.to_string()))?;
    remove_layouts(&mut words);
    let is_runtime_array = |ty: &naga::Type| {
        let size = naga::ArraySize::Dynamic;
        matches!(ty.inner, TypeInner::BindingArray { size: found, .. } if found == size)
    };
    if module.types.iter().any(|(_, ty)| is_runtime_array(ty)) {
        spirv::declare_runtime_arrays(&mut words);
    }
    let mut layouter = naga::proc::Layouter::default();
    layouter
        .update(module.to_ctx())
        .map_err(|error| problem(error.to_string()))?;
    let context = Reflection {
        label,
        joined,
        module,
        info,
        layouter: &layouter,
    };
    let entry_points = module.entry_points.iter().enumerate();
    let entry_points = entry_points.filter_map(|(at, _)| reflect(&context, at).transpose());
    Ok((words, entry_points.collect::<Result<_, _>>()?))
}

/// Formats an error with its sources.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text = format!("{text}: {source}");
        next = source.source();
    }
    text
}

/// naga's options for writing SPIR-V.
///
/// The clip space is WGSL's (y up): viewports of negative height flip it, so shaders in other languages use the same
/// convention. Robust buffer access and image bounds are ensured by device features, so generated code only checks
/// arrays in registers. Loops are unchanged: a bound on every loop costs time, and the driver's watchdog ends endless
/// ones.
fn options(module: &naga::Module) -> spv::Options<'static> {
    use spv::ZeroInitializeWorkgroupMemoryMode as ZeroInitialize;
    let is_compute = |entry: &naga::EntryPoint| entry.stage == NagaStage::Compute;
    // An initializer belongs to the variable, and so to all entry points of the module. A draw whose fragment shader comes
    // from such a module never ends on NVIDIA (driver 580.159.04), and no later work of any process does.
    let zero_initialize_workgroup_memory = if module.entry_points.iter().all(is_compute) {
        ZeroInitialize::Native
    } else {
        ZeroInitialize::Polyfill
    };
    let mut flags = spv::WriterFlags::LABEL_VARYINGS
        | spv::WriterFlags::CLAMP_FRAG_DEPTH
        | spv::WriterFlags::FORCE_POINT_SIZE;
    flags.set(spv::WriterFlags::DEBUG, cfg!(debug_assertions));
    spv::Options {
        lang_version: (1, 3),
        flags,
        // Without a binding map, set and binding numbers are those of the source.
        fake_missing_bindings: true,
        bounds_check_policies: naga::proc::BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: BoundsCheckPolicy::Unchecked,
            image_load: BoundsCheckPolicy::Unchecked,
            // Clamped later, when the capacity of tables is known: `spirv/table_bounds.rs`.
            binding_array: BoundsCheckPolicy::Unchecked,
        },
        zero_initialize_workgroup_memory,
        force_loop_bounding: false,
        ..spv::Options::default()
    }
}

/// Context of reflection.
struct Reflection<'a> {
    label: &'a str,
    joined: &'a Joined,
    module: &'a naga::Module,
    info: &'a ModuleInfo,
    layouter: &'a naga::proc::Layouter,
}

impl Reflection<'_> {
    /// Returns an error about the shader's interface.
    fn problem(&self, problem: String) -> ShaderError {
        ShaderError::Interface {
            label: self.label.to_owned(),
            problem,
        }
    }
}

/// Reflects an entry point; `None` for stages without pipelines in this crate.
fn reflect(context: &Reflection<'_>, at: usize) -> Result<Option<EntryPoint>, ShaderError> {
    let &Reflection {
        joined,
        module,
        info,
        layouter,
        ..
    } = context;
    let entry = &module.entry_points[at];
    let stage = match entry.stage {
        NagaStage::Vertex => ShaderStage::Vertex,
        NagaStage::Fragment => ShaderStage::Fragment,
        NagaStage::Compute => ShaderStage::Compute,
        _ => return Ok(None),
    };
    let uses = info.get_entry_point(at);
    let arguments = entry.function.arguments.iter();
    let result = entry.function.result.iter();
    let mut reflected = EntryPoint {
        name: entry.name.clone(),
        stage,
        workgroup_size: entry.workgroup_size,
        bindings: Vec::new(),
        tables: Vec::new(),
        push_constant_bytes: 0,
        push_constant_padded: 0,
        push_layout: DataLayout::default(),
        inputs: locations(module, arguments.map(|it| (it.ty, &it.binding))),
        outputs: locations(module, result.map(|it| (it.ty, &it.binding))),
    };
    for (handle, variable) in module.global_variables.iter() {
        let used = uses[handle];
        if used.is_empty() {
            continue;
        }
        if variable.space == AddressSpace::Immediate {
            reflected.push_constant_bytes = layouter[variable.ty].size;
            reflected.push_constant_padded = reflected.push_constant_bytes;
            reflected.push_layout = data_layout(joined, module, variable);
        }
        let Some(number) = &variable.binding else {
            continue;
        };
        let name = variable.name.as_deref().unwrap_or_default();
        let name = joined.own_name(name).0.to_owned();
        if number.group == 0 {
            let binding = binding(context, variable, (number.binding, name), (used, stage))?;
            reflected.bindings.push(binding);
        } else {
            let table = table_binding(context, variable, (number, name), stage)?;
            reflected.tables.push(table);
        }
    }
    reflected.bindings.sort_by_key(|binding| binding.binding);
    Ok(Some(reflected))
}

/// Reflects a resource of group 0 that a stage uses.
fn binding(
    context: &Reflection<'_>,
    variable: &naga::GlobalVariable,
    (binding, name): (u32, String),
    (used, stage): (GlobalUse, ShaderStage),
) -> Result<Binding, ShaderError> {
    let inner = &context.module.types[variable.ty].inner;
    let kind = kind(inner, variable.space).ok_or_else(|| {
        context.problem(match inner {
            TypeInner::BindingArray { .. } => format!(
                "{name} is an array of resources in @group(0); tables, which are arrays of \
                 images or storage buffers, belong in groups from 1 on"
            ),
            _ => format!("{name} has a type that bindings cannot have"),
        })
    })?;
    Ok(Binding {
        binding,
        name,
        kind,
        reads: used.intersects(GlobalUse::READ | GlobalUse::ATOMIC),
        writes: used.intersects(GlobalUse::WRITE | GlobalUse::ATOMIC),
        stages: stage.to_vk(),
        least_bytes: if kind.is_buffer() {
            least_bytes(context.module, context.layouter, variable.ty)
        } else {
            0
        },
        layout: if kind.is_buffer() {
            data_layout(context.joined, context.module, variable)
        } else {
            DataLayout::default()
        },
    })
}

/// Returns the size of a type up to the end of its last member or element, without trailing padding, in bytes.
fn least_bytes(
    module: &naga::Module,
    layouter: &naga::proc::Layouter,
    ty: naga::Handle<naga::Type>,
) -> u64 {
    match &module.types[ty].inner {
        &TypeInner::Array { base, size, stride } => {
            let last = match size {
                naga::ArraySize::Constant(count) => u64::from(count.get()) - 1,
                naga::ArraySize::Pending(_) | naga::ArraySize::Dynamic => 0,
            };
            last * u64::from(stride) + least_bytes(module, layouter, base)
        }
        TypeInner::Struct { members, .. } => members.last().map_or(0, |last| {
            u64::from(last.offset) + least_bytes(module, layouter, last.ty)
        }),
        _ => layouter[ty].size.into(),
    }
}

/// Returns the memory layout of a variable.
fn data_layout(
    joined: &Joined,
    module: &naga::Module,
    variable: &naga::GlobalVariable,
) -> DataLayout {
    let mut layout = DataLayout::default();
    let inner = &module.types[variable.ty].inner;
    let of = match inner {
        &TypeInner::Array { base, stride, .. } => {
            layout.set_stride(stride.into());
            &module.types[base].inner
        }
        _ => inner,
    };
    match of {
        TypeInner::Struct { members, .. } => members.iter().for_each(|member| {
            let name = member.name.as_deref().unwrap_or_default();
            layout.add_member(name, member.offset.into());
        }),
        _ => {
            let name = variable.name.as_deref().unwrap_or_default();
            layout.add_member(joined.own_name(name).0, 0);
        }
    }
    add_values(module, variable.ty, 0, &mut layout);
    layout
}

/// Adds the scalars, vectors and matrix columns of a type at a byte offset.
fn add_values(
    module: &naga::Module,
    ty: naga::Handle<naga::Type>,
    at: u64,
    layout: &mut DataLayout,
) {
    let mut add = |ty, offset: u64| {
        if at + offset < data_layout::BYTES {
            add_values(module, ty, at + offset, layout);
        }
    };
    match &module.types[ty].inner {
        TypeInner::Struct { members, .. } => members
            .iter()
            .for_each(|member| add(member.ty, member.offset.into())),
        &TypeInner::Array { base, size, stride } => {
            let count = match size {
                naga::ArraySize::Constant(count) => count.get(),
                naga::ArraySize::Pending(_) | naga::ArraySize::Dynamic => u32::MAX,
            };
            let most = (data_layout::BYTES as u32).div_ceil(stride.max(1));
            (0..count.min(most)).for_each(|at| add(base, (at * stride).into()));
        }
        &TypeInner::Matrix {
            columns,
            rows,
            scalar,
        } => {
            let stride = naga::proc::Alignment::from(rows) * u32::from(scalar.width);
            (0..columns as u32)
                .for_each(|column| layout.add_value(at + u64::from(column * stride)));
        }
        _ => layout.add_value(at),
    }
}

fn kind(inner: &TypeInner, space: AddressSpace) -> Option<BindingKind> {
    match (space, inner) {
        (AddressSpace::Uniform, _) => Some(BindingKind::UniformBuffer),
        (AddressSpace::Storage { .. }, _) => Some(BindingKind::StorageBuffer),
        (_, TypeInner::Sampler { .. }) => Some(BindingKind::Sampler),
        (
            _,
            &TypeInner::Image {
                dim,
                arrayed,
                class,
            },
        ) => {
            let image = ShaderImage {
                view: view_kind(dim, arrayed),
                texels: None,
                format: None,
                multisampled: false,
            };
            match class {
                ImageClass::Sampled { kind, multi } => {
                    Some(BindingKind::SampledImage(ShaderImage {
                        texels: scalar_kind(kind),
                        multisampled: multi,
                        ..image
                    }))
                }
                ImageClass::Depth { multi } => Some(BindingKind::SampledImage(ShaderImage {
                    texels: Some(ScalarKind::Float),
                    multisampled: multi,
                    ..image
                })),
                ImageClass::Storage { format, .. } => {
                    Some(BindingKind::StorageImage(ShaderImage {
                        format: Some(format_of_wgsl(format)),
                        ..image
                    }))
                }
                ImageClass::External => None,
            }
        }
        _ => None,
    }
}

fn view_kind(dimension: ImageDimension, arrayed: bool) -> vk::ImageViewType {
    match (dimension, arrayed) {
        (ImageDimension::D1, false) => vk::ImageViewType::TYPE_1D,
        (ImageDimension::D1, true) => vk::ImageViewType::TYPE_1D_ARRAY,
        (ImageDimension::D2, false) => vk::ImageViewType::TYPE_2D,
        (ImageDimension::D2, true) => vk::ImageViewType::TYPE_2D_ARRAY,
        (ImageDimension::D3, _) => vk::ImageViewType::TYPE_3D,
        (ImageDimension::Cube, false) => vk::ImageViewType::CUBE,
        (ImageDimension::Cube, true) => vk::ImageViewType::CUBE_ARRAY,
    }
}
