//! Resources of materials that are bound by themselves: buffers, and textures that the bindless table does not hold.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_platform::collections::HashMap;
use quadrille::material::{
    BindingValue, MaterialBinding, MaterialBindingKind, SamplerBindingType, ShaderBuffer,
    TextureDimension, TextureSampleType,
};
use quadrille::prelude::{GpuBuffer, GpuImage, Sampler};
use quadrille::sync::resource::ResourceId;
use quadrille::vulkan::resources::{Handle as GpuHandle, ImageDesc, ImageUsage};
use quadrille_content::images::DeviceImages;
use quadrille_content::materials::{BoundBinding, MaterialLayout, ShaderBuffers};

use super::MaterialDesc;
use crate::pipelines::custom::MaterialShaders;
use crate::tables::fallback_images::FallbackImages;

/// Buffers that shaders of materials read: the passes that draw declare all of them.
#[derive(Resource, Deref, Default)]
pub struct MaterialBuffers3d(Vec<GpuBuffer>);

/// Images that materials bind by themselves: the passes that draw declare all of them.
#[derive(Resource, Deref, Default)]
pub struct MaterialImages3d(Vec<GpuImage>);

/// Resource at a binding of a material.
pub(crate) enum BoundResource {
    /// Index in [`MaterialBuffers3d`].
    Buffer(usize),
    /// Index in [`MaterialImages3d`].
    Image(usize),
    Sampler(Sampler),
}

/// Resources of materials, by the numbers of their shaders and their rows in the table of all materials, with their numbers
/// in group 0.
#[derive(Resource, Default)]
pub(crate) struct BoundMaterials {
    resources: HashMap<(u32, u32), Vec<(u32, BoundResource)>>,
    /// Whether shaders of shadow maps read any.
    pub(crate) in_shadows: bool,
}

impl BoundMaterials {
    /// Resources of a material for the shaders with a number.
    pub(crate) fn get(&self, shader: u32, material: u32) -> &[(u32, BoundResource)] {
        self.resources
            .get(&(shader, material))
            .map_or(&[], Vec::as_slice)
    }
}

/// Resources of all materials while they are collected.
#[derive(bevy_ecs::system::SystemParam)]
pub(crate) struct BoundLists<'w> {
    materials: ResMut<'w, BoundMaterials>,
    buffers: ResMut<'w, MaterialBuffers3d>,
    images: ResMut<'w, MaterialImages3d>,
}

/// Tables that resources are looked up in.
pub(crate) struct BoundSources<'a> {
    pub(crate) images: &'a DeviceImages,
    pub(crate) buffers: &'a ShaderBuffers,
    pub(crate) fallbacks: &'a FallbackImages,
    pub(crate) comparison_sampler: &'a Sampler,
    pub(crate) sampler: &'a Sampler,
}

/// Reason that a material has no resources now.
pub(crate) enum Unbound {
    /// An image or buffer is not uploaded yet.
    Waiting,
    /// A resource does not fit the shader: the message for the user.
    Wrong(String),
}

impl BoundLists<'_> {
    /// Begins with no material.
    pub(crate) fn clear(&mut self) {
        self.materials.resources.clear();
        self.materials.in_shadows = false;
        self.buffers.0.clear();
        self.images.0.clear();
    }

    /// Adds the resources of a material for shaders with a number, with this row in the table of all materials.
    pub(crate) fn add(
        &mut self,
        key: (u32, u32),
        resolved: Vec<(u32, Resolved)>,
        known: &mut HashMap<ResourceId, usize>,
        in_shadows: bool,
    ) {
        let mut resources = Vec::with_capacity(resolved.len());
        for (number, resource) in resolved {
            let resource = match resource {
                Resolved::Buffer(buffer) => {
                    let id = GpuHandle::Buffer(buffer.clone()).id();
                    let list = &mut self.buffers.0;
                    BoundResource::Buffer(*known.entry(id).or_insert_with(|| {
                        list.push(buffer);
                        list.len() - 1
                    }))
                }
                Resolved::Image(image) => {
                    let id = GpuHandle::Image(image.clone()).id();
                    let list = &mut self.images.0;
                    BoundResource::Image(*known.entry(id).or_insert_with(|| {
                        list.push(image);
                        list.len() - 1
                    }))
                }
                Resolved::Sampler(sampler) => BoundResource::Sampler(sampler),
            };
            resources.push((number, resource));
        }
        self.materials.resources.insert(key, resources);
        self.materials.in_shadows |= in_shadows;
    }
}

/// A resource of a material.
pub(crate) enum Resolved {
    Buffer(GpuBuffer),
    Image(GpuImage),
    Sampler(Sampler),
}

/// Finds the resources of a material's bindings, with their numbers.
pub(super) fn resolve(
    (layout, desc): (&MaterialLayout, &MaterialDesc),
    shaders: &MaterialShaders,
    sources: &BoundSources<'_>,
) -> Result<Vec<(u32, Resolved)>, Unbound> {
    let mut resolved = Vec::with_capacity(shaders.bound.len());
    for &BoundBinding { index, number } in &shaders.bound {
        let least_bytes = shaders.least_bytes(number);
        let (Some(binding), Some(value)) = (layout.bindings.get(index), desc.values.get(index))
        else {
            continue;
        };
        let resource = match value {
            BindingValue::Uniform(_) => continue,
            BindingValue::Buffer(buffer) => storage(binding, buffer, least_bytes)?,
            BindingValue::BufferAsset(handle) => {
                let id = handle.id().typed_debug_checked::<ShaderBuffer>();
                let buffer = sources.buffers.get(id).ok_or(Unbound::Waiting)?;
                storage(binding, buffer, least_bytes)?
            }
            BindingValue::Image(image) => {
                let shown = match image {
                    Some(image) => Some(sources.images.resident(image).ok_or(Unbound::Waiting)?),
                    None => None,
                };
                match binding.kind {
                    MaterialBindingKind::Sampler(kind) => {
                        let samplers = sources.images.samplers();
                        let own = shown.and_then(|shown| samplers.get(shown.sampler));
                        Resolved::Sampler(match kind {
                            SamplerBindingType::Comparison => sources.comparison_sampler.clone(),
                            _ => own.unwrap_or(sources.sampler).clone(),
                        })
                    }
                    _ => match shown {
                        Some(shown) => texture(binding, shown.image)?,
                        None => match fallback(binding, sources.fallbacks) {
                            Err(_) if !shaders.reads(number) => continue,
                            resolved => resolved?,
                        },
                    },
                }
            }
        };
        resolved.push((number, resource));
    }
    Ok(resolved)
}

fn storage(
    binding: &MaterialBinding,
    buffer: &GpuBuffer,
    least_bytes: u64,
) -> Result<Resolved, Unbound> {
    let MaterialBinding { binding, field, .. } = binding;
    let bytes = buffer.bytes();
    if bytes < least_bytes {
        return Err(Unbound::Wrong(format!(
            "the buffer at binding {binding} (`{field}`) has {bytes} bytes, and the shader reads {least_bytes} at least. Make it \
             larger"
        )));
    }
    Ok(Resolved::Buffer(buffer.clone()))
}

fn texture(binding: &MaterialBinding, image: &GpuImage) -> Result<Resolved, Unbound> {
    let MaterialBinding {
        binding,
        field,
        kind,
    } = binding;
    if let Some(why) = misfit(*kind, image.desc()) {
        let name = &image.desc().name;
        return Err(Unbound::Wrong(format!(
            "the image `{name}` at binding {binding} (`{field}`) {why}. Use another image, or another `#[texture]`"
        )));
    }
    Ok(Resolved::Image(image.clone()))
}

/// Reason that an image cannot be read as a kind of texture.
fn misfit(kind: MaterialBindingKind, desc: &ImageDesc) -> Option<String> {
    let MaterialBindingKind::Texture {
        dimension,
        sample_type,
        multisampled,
    } = kind
    else {
        return Some("is no texture".to_owned());
    };
    let [width, height, depth] = desc.extent;
    let layers = desc.array_layers;
    let fits = match dimension {
        TextureDimension::D1 => false,
        TextureDimension::D2 => depth == 1 && layers == 1,
        TextureDimension::D2Array => depth == 1,
        TextureDimension::D3 => depth > 1,
        TextureDimension::Cube => desc.cube && layers == 6,
        TextureDimension::CubeArray => desc.cube && layers.is_multiple_of(6),
    };
    if !fits {
        return Some(format!(
            "has {width} x {height} x {depth} texels in {layers} layers, which are not `{dimension:?}`"
        ));
    }
    if (desc.samples > 1) != multisampled {
        return Some(format!(
            "has {} samples, and the material says `multisampled = {multisampled}`",
            desc.samples
        ));
    }
    if !desc.usage.contains(ImageUsage::SAMPLED) {
        return Some("was created without `ImageUsage::SAMPLED`".to_owned());
    }
    let found = texels(desc);
    (found != sample_type)
        .then(|| format!("has `{found:?}` texels, and the material reads `{sample_type:?}`"))
}

/// Type of an image's texels in shaders.
fn texels(desc: &ImageDesc) -> TextureSampleType {
    let format = format!("{:?}", desc.format);
    match () {
        () if format.starts_with('D') => TextureSampleType::Depth,
        () if format.ends_with("_UINT") => TextureSampleType::Uint,
        () if format.ends_with("_SINT") => TextureSampleType::Sint,
        () => TextureSampleType::Float,
    }
}

/// Image in place of one that a material does not have: white, as in bevy.
fn fallback(binding: &MaterialBinding, fallbacks: &FallbackImages) -> Result<Resolved, Unbound> {
    let image = fallbacks.get(binding.kind).ok_or_else(|| {
        let MaterialBinding { binding, field, .. } = binding;
        Unbound::Wrong(format!(
            "there is no image at binding {binding} (`{field}`), and no fallback of this kind. Give the material an image"
        ))
    })?;
    Ok(Resolved::Image(image.clone()))
}
