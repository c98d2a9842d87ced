//! Reflection of SPIR-V modules from other compilers, with spirq.

use ash::vk;
use spirq::ReflectConfig;
use spirq::constant::ConstantValue;
use spirq::entry_point::ExecutionModel;
use spirq::ty::{AccessType, DescriptorType, MatrixAxisOrder, ScalarType, Type};
use spirq::var::{InterfaceLocation, Variable};

use super::image::format_of_spirv;
use super::{
    Binding, BindingKind, DataLayout, EntryPoint, InputAttachment, Location, LocationType,
    ScalarKind, ShaderImage, ShaderStage, TableBinding, TableKind, data_layout, spirv,
    written_members,
};
use crate::deep_stack;
use crate::error::ShaderError;

/// Maximum alignment of a struct due to vectors of 32-bit numbers, in bytes.
const MAX_ALIGNMENT: u32 = 16;

/// Returns the entry points of a module whose stages pipelines support.
pub(super) fn entry_points(label: &str, words: &[u32]) -> Result<Vec<EntryPoint>, ShaderError> {
    spirv::check(label, words)?;
    let wrong = |problem: String| ShaderError::Spirv {
        label: label.to_owned(),
        problem,
    };
    // spirq may panic or recurse deeply on a hostile module, so it runs on a deep stack, and a panic becomes an error.
    // It holds no data that a panic could leave inconsistent.
    let read = deep_stack::run(|| {
        let reflected = ReflectConfig::new()
            .spv(words)
            .ref_all_rscs(false)
            .combine_img_samplers(false)
            .reflect()
            .map_err(|error| wrong(error.to_string()))?;
        let numbered = spirv::numbered_attachments(words);
        reflected
            .iter()
            .filter_map(|entry| reflect(label, entry, &numbered).transpose())
            .collect()
    });
    read.unwrap_or_else(|reason| Err(wrong(format!("reading it {reason}"))))
}

fn reflect(
    label: &str,
    entry: &spirq::entry_point::EntryPoint,
    numbered: &[u32],
) -> Result<Option<EntryPoint>, ShaderError> {
    let stage = match entry.exec_model {
        ExecutionModel::Vertex => ShaderStage::Vertex,
        ExecutionModel::Fragment => ShaderStage::Fragment,
        ExecutionModel::GLCompute => ShaderStage::Compute,
        _ => return Ok(None),
    };
    let mut reflected = EntryPoint {
        name: entry.name.clone(),
        stage,
        workgroup_size: workgroup_size(entry),
        bindings: Vec::new(),
        tables: Vec::new(),
        push_constant_bytes: 0,
        push_constant_padded: 0,
        push_layout: DataLayout::default(),
        inputs: Vec::new(),
        outputs: Vec::new(),
    };
    for variable in &entry.vars {
        match variable {
            Variable::Descriptor { desc_bind, .. } if desc_bind.set() != 0 => {
                reflected.tables.push(table(label, variable, stage)?);
            }
            Variable::Descriptor { .. } => {
                reflected
                    .bindings
                    .push(binding(label, variable, stage, numbered)?);
            }
            Variable::PushConstant { ty, .. } => {
                let bytes = ty.nbyte().unwrap_or(0) as u32;
                reflected.push_constant_bytes = bytes.next_multiple_of(4);
                reflected.push_constant_padded = bytes.next_multiple_of(MAX_ALIGNMENT);
                reflected.push_layout = data_layout(ty);
            }
            Variable::Input { location, ty, .. } => {
                reflected.inputs.push(self::location(location, ty));
            }
            Variable::Output { location, ty, .. } => {
                reflected.outputs.push(self::location(location, ty));
            }
            Variable::SpecConstant { .. } => {}
        }
    }
    reflected.bindings.sort_by_key(|binding| binding.binding);
    for locations in [&mut reflected.inputs, &mut reflected.outputs] {
        locations.sort_unstable();
        locations.dedup_by_key(|known| known.location);
    }
    Ok(Some(reflected))
}

fn location(at: &InterfaceLocation, ty: &Type) -> Location {
    let (scalar, components) = match ty {
        Type::Scalar(scalar) => (Some(scalar), 1),
        Type::Vector(vector) => (Some(&vector.scalar_ty), vector.nscalar),
        _ => (None, 0),
    };
    let known = scalar.and_then(number);
    // Several variables may share a location; the type of their combination is not determined.
    let whole = known.filter(|_| at.comp() == 0);
    Location {
        location: at.loc(),
        ty: whole.map(|(scalar, bits)| LocationType {
            scalar,
            bits,
            components,
        }),
    }
}

/// Returns the kind of a scalar, and its bits.
fn number(scalar: &ScalarType) -> Option<(ScalarKind, u32)> {
    match scalar {
        ScalarType::Float { bits } => Some((ScalarKind::Float, *bits)),
        ScalarType::Integer { bits, is_signed } => {
            if *is_signed {
                Some((ScalarKind::Sint, *bits))
            } else {
                Some((ScalarKind::Uint, *bits))
            }
        }
        _ => None,
    }
}

/// Reflects a variable of a set other than 0, a part of a table.
fn table(
    label: &str,
    variable: &Variable,
    stage: ShaderStage,
) -> Result<TableBinding, ShaderError> {
    let problem = |problem: String| ShaderError::Interface {
        label: label.to_owned(),
        problem,
    };
    let Variable::Descriptor {
        name,
        desc_bind,
        desc_ty,
        ty,
        nbind,
    } = variable
    else {
        return Err(problem("a variable is no descriptor".to_owned()));
    };
    let name = name.clone().unwrap_or_default();
    let set = desc_bind.set();
    // spirq reports 0 elements for a runtime-sized array.
    let is_array = *nbind != 1;
    let kind = match desc_ty {
        DescriptorType::Sampler() => Some(TableKind::Samplers((*nbind).max(1))),
        DescriptorType::SampledImage() if is_array => image(ty).map(TableKind::Images),
        // Synchronization of members relies on tables being read-only.
        DescriptorType::StorageBuffer(AccessType::ReadOnly) if is_array => Some(TableKind::Buffers),
        _ => None,
    };
    let kind = kind.ok_or_else(|| {
        problem(match desc_ty {
            DescriptorType::StorageBuffer(_) if is_array => written_members(&name),
            _ => format!(
                "{name} is in set {set}; resources are in set 0, and arrays of images (without \
             samplers), or of storage buffers that are read, in sets of their own"
            ),
        })
    })?;
    let binding = TableBinding {
        group: set,
        binding: desc_bind.bind(),
        name,
        kind,
        stages: stage.to_vk(),
    };
    binding.check(label)
}

/// Reflects a variable of set 0. `numbered` are the bindings of input attachments with an index.
fn binding(
    label: &str,
    variable: &Variable,
    stage: ShaderStage,
    numbered: &[u32],
) -> Result<Binding, ShaderError> {
    let problem = |problem: String| ShaderError::Interface {
        label: label.to_owned(),
        problem,
    };
    let Variable::Descriptor {
        name,
        desc_bind,
        desc_ty,
        ty,
        nbind,
    } = variable
    else {
        return Err(problem("a variable is no descriptor".to_owned()));
    };
    let name = name.clone().unwrap_or_default();
    if *nbind != 1 {
        return Err(problem(format!(
            "{name} is an array of {nbind} resources, not one"
        )));
    }
    let (kind, access) = match desc_ty {
        DescriptorType::Sampler() => (Some(BindingKind::Sampler), AccessType::ReadOnly),
        DescriptorType::UniformBuffer() => (Some(BindingKind::UniformBuffer), AccessType::ReadOnly),
        DescriptorType::StorageBuffer(access) => (Some(BindingKind::StorageBuffer), *access),
        DescriptorType::SampledImage() => (
            image(ty).map(BindingKind::SampledImage),
            AccessType::ReadOnly,
        ),
        DescriptorType::CombinedImageSampler() => (
            image(ty).map(BindingKind::CombinedImageSampler),
            AccessType::ReadOnly,
        ),
        DescriptorType::StorageImage(access) => (image(ty).map(BindingKind::StorageImage), *access),
        DescriptorType::InputAttachment(index) => {
            let index = numbered.contains(&desc_bind.bind()).then_some(*index);
            (input_attachment(ty, index), AccessType::ReadOnly)
        }
        _ => (None, AccessType::ReadOnly),
    };
    let kind = kind.ok_or_else(|| problem(format!("{name} has a type that is not supported")))?;
    Ok(Binding {
        binding: desc_bind.bind(),
        name,
        kind,
        reads: access != AccessType::WriteOnly,
        writes: access != AccessType::ReadOnly,
        stages: stage.to_vk(),
        least_bytes: if kind.is_buffer() { least_bytes(ty) } else { 0 },
        layout: if kind.is_buffer() {
            data_layout(ty)
        } else {
            DataLayout::default()
        },
    })
}

/// Returns the size of a type up to the end of its last member or element, without trailing padding, in bytes.
fn least_bytes(ty: &Type) -> u64 {
    match ty {
        Type::Array(array) => {
            let last = u64::from(array.nelement.unwrap_or(1).max(1)) - 1;
            let start = last.saturating_mul(array.stride.unwrap_or(0) as u64);
            start.saturating_add(least_bytes(&array.element_ty))
        }
        Type::Struct(structure) => {
            let ends = structure.members.iter().map(|member| {
                let start = member.offset.unwrap_or(0) as u64;
                start.saturating_add(least_bytes(&member.ty))
            });
            ends.max().unwrap_or(0)
        }
        _ => ty.nbyte().unwrap_or(0) as u64,
    }
}

/// Returns the memory layout of a block.
pub(super) fn data_layout(block: &Type) -> DataLayout {
    let mut layout = DataLayout::default();
    if let Type::Struct(structure) = block {
        // naga wraps a pushed struct in a block with one member.
        if let [only] = structure.members.as_slice()
            && let Type::Struct(_) = only.ty
        {
            return data_layout(&only.ty);
        }
        let mut members = &structure.members;
        // Likewise for an array, whose elements are compared.
        if let [only] = structure.members.as_slice()
            && let Type::Array(array) = &only.ty
        {
            layout.set_stride(array.stride.unwrap_or(0) as u64);
            if let Type::Struct(element) = &*array.element_ty {
                members = &element.members;
            }
        }
        for member in members {
            let name = member.name.as_deref().unwrap_or_default();
            layout.add_member(name, member.offset.unwrap_or(0) as u64);
        }
        add_values(block, 0, &mut layout);
    }
    layout
}

/// Adds the scalars, vectors, and matrix columns or rows of a type at a byte offset. Returns an end offset of the type.
/// Overlapping elements, as in hostile modules, are treated as adjacent: otherwise nested arrays of them would take
/// exponential time.
fn add_values(ty: &Type, at: u64, layout: &mut DataLayout) -> u64 {
    let mut end = at.saturating_add(4);
    if at >= data_layout::BYTES {
        return end;
    }
    match ty {
        Type::Struct(structure) => structure.members.iter().for_each(|member| {
            let start = at.saturating_add(member.offset.unwrap_or(0) as u64);
            end = end.max(add_values(&member.ty, start, layout));
        }),
        Type::Array(array) => {
            let stride = array.stride.unwrap_or(0) as u64;
            let mut start = at;
            for _ in 0..array.nelement.unwrap_or(u32::MAX) {
                if start >= data_layout::BYTES {
                    break;
                }
                end = add_values(&array.element_ty, start, layout);
                start = start.saturating_add(stride).max(end);
            }
        }
        Type::Matrix(matrix) => {
            let vectors = match matrix.axis_order {
                Some(MatrixAxisOrder::RowMajor) => matrix.vector_ty.nscalar,
                _ => matrix.nvector,
            };
            let stride = matrix.stride.unwrap_or(0) as u64;
            for vector in 0..u64::from(vectors.min(4)) {
                let start = at.saturating_add(vector.saturating_mul(stride));
                layout.add_value(start);
                end = end.max(start.saturating_add(4));
            }
        }
        _ => layout.add_value(at),
    }
    end
}

/// Converts an image type.
fn image(ty: &Type) -> Option<ShaderImage> {
    let (dim, is_array, multisampled, scalar, format) = match ty {
        Type::SampledImage(image) => (
            image.dim,
            image.is_array,
            image.is_multisampled,
            Some(&image.scalar_ty),
            None,
        ),
        Type::StorageImage(image) => (
            image.dim,
            image.is_array,
            image.is_multisampled,
            None,
            format_of_spirv(image.fmt),
        ),
        Type::CombinedImageSampler(both) => {
            return image(&Type::SampledImage(both.sampled_image_ty.clone()));
        }
        _ => return None,
    };
    Some(ShaderImage {
        view: view_kind(dim, is_array)?,
        texels: scalar.and_then(number).map(|(kind, _)| kind),
        format,
        multisampled,
    })
}

/// Converts the type of an input attachment.
fn input_attachment(ty: &Type, index: Option<u32>) -> Option<BindingKind> {
    let Type::SubpassData(of) = ty else {
        return None;
    };
    Some(BindingKind::InputAttachment(InputAttachment {
        index,
        texels: number(&of.scalar_ty).map(|(kind, _)| kind),
        multisampled: of.is_multisampled,
    }))
}

/// Returns the view type of a dimension.
fn view_kind(dim: spirq::spirv::Dim, is_array: bool) -> Option<vk::ImageViewType> {
    use spirq::spirv::Dim;
    Some(match (dim, is_array) {
        (Dim::Dim1D, false) => vk::ImageViewType::TYPE_1D,
        (Dim::Dim1D, true) => vk::ImageViewType::TYPE_1D_ARRAY,
        (Dim::Dim2D, false) => vk::ImageViewType::TYPE_2D,
        (Dim::Dim2D, true) => vk::ImageViewType::TYPE_2D_ARRAY,
        (Dim::Dim3D, _) => vk::ImageViewType::TYPE_3D,
        (Dim::DimCube, false) => vk::ImageViewType::CUBE,
        (Dim::DimCube, true) => vk::ImageViewType::CUBE_ARRAY,
        _ => return None,
    })
}

fn workgroup_size(entry: &spirq::entry_point::EntryPoint) -> [u32; 3] {
    let mode = entry
        .exec_modes
        .iter()
        .find(|mode| mode.exec_mode == spirq::spirv::ExecutionMode::LocalSize);
    let mut size = [0; 3];
    for (slot, operand) in size
        .iter_mut()
        .zip(mode.iter().flat_map(|mode| &mode.operands))
    {
        *slot = match operand.value {
            ConstantValue::U32(length) => length,
            ConstantValue::S32(length) => length.cast_unsigned(),
            _ => 0,
        };
    }
    size
}
