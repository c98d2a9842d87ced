//! Resources of materials that are bound by themselves: buffers, and textures that no table holds.

use bevy_asset::{AssetId, Handle};
use bevy_image::Image;
use bevy_platform::collections::HashSet;
use quadrille::material::{
    BindingValue, BindingValues, MaterialBinding, MaterialBindingKind, SamplerBindingType,
    ShaderBuffer, TextureDimension, TextureSampleType,
};
use quadrille::prelude::{GpuBuffer, GpuImage, GpuShader, Sampler};
use quadrille::sync::resource::ResourceId;
use quadrille::vulkan::Format;
use quadrille::vulkan::resources::{Handle as GpuHandle, ImageDesc, ImageUsage};
use quadrille::vulkan::shader::{Binding, BindingKind};

use crate::images::DeviceImages;
use crate::materials::buffers::ShaderBuffers;
use crate::materials::fallback_images::FallbackImages;
use crate::materials::layout::MaterialLayout;
use crate::materials::shader::BoundBinding;

/// Shaders of all stages of a material, with the bindings of each material by itself.
pub struct BoundShaders<'a> {
    /// The bindings.
    pub bindings: &'a [BoundBinding],
    /// The shaders.
    pub shaders: Vec<&'a GpuShader>,
}

impl BoundShaders<'_> {
    /// Descriptions of the binding with this number in all stages.
    fn of_number(&self, number: u32) -> impl Iterator<Item = &Binding> {
        let entries = self.shaders.iter().flat_map(|it| it.entry_points());
        let bindings = entries.flat_map(|entry| &entry.bindings);
        bindings.filter(move |it| it.binding == number)
    }

    /// Whether a stage reads the binding with this number.
    fn reads(&self, number: u32) -> bool {
        self.of_number(number).next().is_some()
    }

    /// Format in the declaration of the storage texture with this number.
    fn format(&self, number: u32) -> Option<Format> {
        self.of_number(number).find_map(|it| match it.kind {
            BindingKind::StorageImage(image) => image.format,
            _ => None,
        })
    }

    /// Bytes that any stage reads at least of the buffer with this number.
    fn least_bytes(&self, number: u32) -> u64 {
        let bindings = self.of_number(number);
        bindings.map(|it| it.least_bytes).max().unwrap_or(0)
    }
}

/// Tables that resources are looked up in.
pub struct BoundSources<'a> {
    /// Image assets.
    pub images: &'a DeviceImages,
    /// Buffer assets.
    pub buffers: &'a ShaderBuffers,
    /// Images in place of missing ones.
    pub fallbacks: &'a FallbackImages,
    /// Sampler of comparisons.
    pub comparison_sampler: &'a Sampler,
    /// Sampler without an image.
    pub sampler: &'a Sampler,
}

/// Resources that shaders of materials may write, and images that a renderer samples by other means.
pub struct SharedResources<'a> {
    /// Resources that a shader may write.
    pub written: &'a HashSet<ResourceId>,
    /// Whether an image cannot be a storage texture, since all passes sample it.
    pub is_sampled: &'a dyn Fn(&Handle<Image>) -> bool,
}

impl SharedResources<'_> {
    fn access(&self, handle: &GpuHandle) -> BoundAccess {
        match self.written.contains(&handle.id()) {
            true => BoundAccess::Write,
            false => BoundAccess::Read,
        }
    }
}

/// Reason that a material has no resources now.
pub enum Unbound {
    /// An image or buffer is not uploaded yet.
    Waiting,
    /// A resource does not fit the shader: the message for the user.
    Wrong(String),
}

/// BoundAccess of all shaders to a resource. A pass has one access to each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundAccess {
    /// Reads alone.
    Read,
    /// Reads as well.
    Write,
}

/// A resource of a material.
pub enum BoundResource {
    /// A storage buffer.
    Buffer(GpuBuffer, BoundAccess),
    /// A texture or a storage texture.
    Image(GpuImage, BoundAccess),
    /// A sampler.
    Sampler(Sampler),
}

impl BoundResource {
    /// Identity of the buffer or image.
    pub(crate) fn id(&self) -> Option<ResourceId> {
        match self {
            Self::Buffer(buffer, _) => Some(GpuHandle::Buffer(buffer.clone()).id()),
            Self::Image(image, _) => Some(GpuHandle::Image(image.clone()).id()),
            Self::Sampler(_) => None,
        }
    }
}

/// Adds the resources of a material that its shaders may write, as far as they are uploaded, and its storage textures.
pub fn add_written(
    values: &BindingValues,
    bindings: &[BoundBinding],
    sources: &BoundSources<'_>,
    (written, storage_textures): (&mut HashSet<ResourceId>, &mut HashSet<AssetId<Image>>),
) {
    for bound in bindings.iter().filter(|bound| bound.writes) {
        let handle = match values.get(bound.index) {
            Some(BindingValue::Buffer(buffer)) => Some(GpuHandle::Buffer(buffer.clone())),
            Some(BindingValue::BufferAsset(handle)) => {
                let id = handle.id().typed_debug_checked::<ShaderBuffer>();
                let buffer = sources.buffers.get(id);
                buffer.map(|buffer| GpuHandle::Buffer(buffer.clone()))
            }
            Some(BindingValue::Image(Some(image))) => {
                storage_textures.insert(image.id());
                let shown = sources.images.resident(image);
                shown.map(|shown| GpuHandle::Image(shown.image.clone()))
            }
            _ => None,
        };
        written.extend(handle.map(|handle| handle.id()));
    }
}

/// Finds the resources of a material's bindings, with their numbers.
///
/// # Errors
/// See [`Unbound`].
pub fn resolve(
    (layout, values): (&MaterialLayout, &BindingValues),
    shaders: &BoundShaders<'_>,
    (sources, shared): (&BoundSources<'_>, &SharedResources<'_>),
) -> Result<Vec<(u32, BoundResource)>, Unbound> {
    let mut resolved = Vec::with_capacity(shaders.bindings.len());
    for &BoundBinding { index, number, .. } in shaders.bindings {
        let least_bytes = shaders.least_bytes(number);
        let (Some(binding), Some(value)) = (layout.bindings.get(index), values.get(index)) else {
            continue;
        };
        let resource = match value {
            BindingValue::Uniform(_) => None,
            BindingValue::Buffer(buffer) => Some(storage((binding, least_bytes), buffer, shared)?),
            BindingValue::BufferAsset(handle) => {
                let id = handle.id().typed_debug_checked::<ShaderBuffer>();
                let buffer = sources.buffers.get(id).ok_or(Unbound::Waiting)?;
                Some(storage((binding, least_bytes), buffer, shared)?)
            }
            BindingValue::Image(image) => resolve_image(
                (binding, number),
                image.as_ref(),
                shaders,
                (sources, shared),
            )?,
        };
        resolved.extend(resource.map(|resource| (number, resource)));
    }
    Ok(resolved)
}

/// Finds the resource of a binding with an image; `None` for one that no shader reads.
fn resolve_image(
    (binding, number): (&MaterialBinding, u32),
    image: Option<&Handle<Image>>,
    shaders: &BoundShaders<'_>,
    (sources, shared): (&BoundSources<'_>, &SharedResources<'_>),
) -> Result<Option<BoundResource>, Unbound> {
    let shown = match image {
        Some(image) => Some(sources.images.resident(image).ok_or(Unbound::Waiting)?),
        None => None,
    };
    let resource = match binding.kind {
        MaterialBindingKind::Sampler(kind) => {
            let samplers = sources.images.samplers();
            let own = shown.and_then(|shown| samplers.get(shown.sampler));
            Ok(BoundResource::Sampler(match kind {
                SamplerBindingType::Comparison => sources.comparison_sampler.clone(),
                _ => own.unwrap_or(sources.sampler).clone(),
            }))
        }
        MaterialBindingKind::StorageTexture { .. } => match (image, shown) {
            (Some(image), Some(shown)) => {
                let is_sampled = (shared.is_sampled)(image);
                storage_texture((binding, shaders.format(number)), shown.image, is_sampled)
            }
            _ => return absent(shaders.reads(number), missing(binding)),
        },
        _ => match shown {
            Some(shown) => texture(binding, shown.image, shared),
            None => match fallback(binding, sources.fallbacks) {
                Err(why) => return absent(shaders.reads(number), why),
                found => found,
            },
        },
    };
    resource.map(Some)
}

/// A missing resource is an error only if a shader reads it.
fn absent(is_read: bool, why: Unbound) -> Result<Option<BoundResource>, Unbound> {
    match is_read {
        true => Err(why),
        false => Ok(None),
    }
}

fn storage(
    (binding, least_bytes): (&MaterialBinding, u64),
    buffer: &GpuBuffer,
    shared: &SharedResources<'_>,
) -> Result<BoundResource, Unbound> {
    let MaterialBinding { binding, field, .. } = binding;
    let bytes = buffer.bytes();
    if bytes < least_bytes {
        return Err(Unbound::Wrong(format!(
            "the buffer at binding {binding} (`{field}`) has {bytes} bytes, and the shader reads {least_bytes} at least. Make it \
             larger"
        )));
    }
    let access = shared.access(&GpuHandle::Buffer(buffer.clone()));
    Ok(BoundResource::Buffer(buffer.clone(), access))
}

/// `format` is that of the shader's declaration.
fn storage_texture(
    (binding, format): (&MaterialBinding, Option<Format>),
    image: &GpuImage,
    is_sampled: bool,
) -> Result<BoundResource, Unbound> {
    let desc = image.desc();
    let why = match binding.kind {
        MaterialBindingKind::StorageTexture { dimension, .. } => misfit_of_shape(dimension, desc),
        _ => None,
    };
    let why = why.or_else(|| {
        if !desc.usage.contains(ImageUsage::STORAGE) {
            return Some("lacks the usage `TextureUsages::STORAGE_BINDING`".to_owned());
        }
        if let Some(format) = format.filter(|format| *format != desc.format) {
            let found = desc.format;
            return Some(format!(
                "has the format {found:?}, and the shader declares {format:?}"
            ));
        }
        is_sampled.then(|| {
            "is a texture of another material as well, and a pass has one access to each image"
                .to_owned()
        })
    });
    match why {
        Some(why) => Err(wrong_image(binding, image, &why)),
        None => Ok(BoundResource::Image(image.clone(), BoundAccess::Write)),
    }
}

fn wrong_image(binding: &MaterialBinding, image: &GpuImage, why: &str) -> Unbound {
    let MaterialBinding { binding, field, .. } = binding;
    let name = &image.desc().name;
    Unbound::Wrong(format!(
        "the image `{name}` at binding {binding} (`{field}`) {why}. Use another image, or another attribute"
    ))
}

fn texture(
    binding: &MaterialBinding,
    image: &GpuImage,
    shared: &SharedResources<'_>,
) -> Result<BoundResource, Unbound> {
    let access = shared.access(&GpuHandle::Image(image.clone()));
    let why = misfit(binding.kind, image.desc()).or_else(|| {
        (access == BoundAccess::Write).then(|| {
            "is a storage texture of another material, and a pass has one access to each image"
                .to_owned()
        })
    });
    match why {
        Some(why) => Err(wrong_image(binding, image, &why)),
        None => Ok(BoundResource::Image(image.clone(), access)),
    }
}

/// Reason that an image has another dimension.
fn misfit_of_shape(dimension: TextureDimension, desc: &ImageDesc) -> Option<String> {
    let [width, height, depth] = desc.extent;
    let (layers, is_1d) = (desc.array_layers, desc.one_dimensional);
    let fits = match dimension {
        TextureDimension::D1 => is_1d && layers == 1,
        TextureDimension::D2 => !is_1d && depth == 1 && layers == 1,
        TextureDimension::D2Array => !is_1d && depth == 1,
        TextureDimension::D3 => depth > 1,
        TextureDimension::Cube => desc.cube && layers == 6,
        TextureDimension::CubeArray => desc.cube && layers.is_multiple_of(6),
    };
    (!fits).then(|| {
        format!("has {width} x {height} x {depth} texels in {layers} layers, which are not `{dimension:?}`")
    })
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
    if let Some(why) = misfit_of_shape(dimension, desc) {
        return Some(why);
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
fn fallback(
    binding: &MaterialBinding,
    fallbacks: &FallbackImages,
) -> Result<BoundResource, Unbound> {
    let image = fallbacks
        .get(binding.kind)
        .ok_or_else(|| missing(binding))?;
    Ok(BoundResource::Image(image.clone(), BoundAccess::Read))
}

fn missing(binding: &MaterialBinding) -> Unbound {
    let MaterialBinding { binding, field, .. } = binding;
    Unbound::Wrong(format!(
        "there is no image at binding {binding} (`{field}`), and no fallback of this kind. Give the material an image"
    ))
}
