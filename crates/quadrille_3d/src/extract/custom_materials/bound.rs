//! Resources of materials that are bound by themselves: buffers, and textures that the bindless table does not hold.

use bevy_asset::AssetId;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_platform::collections::{HashMap, HashSet};
use quadrille::material::{
    BindingValue, MaterialBinding, MaterialBindingKind, SamplerBindingType, ShaderBuffer,
    TextureDimension, TextureSampleType,
};
use quadrille::prelude::{GpuBuffer, GpuImage, Sampler};
use quadrille::sync::resource::ResourceId;
use quadrille::vulkan::Format;
use quadrille::vulkan::resources::{Handle as GpuHandle, ImageDesc, ImageUsage};
use quadrille_content::images::DeviceImages;
use quadrille_content::materials::{BoundBinding, MaterialLayout, ShaderBuffers};

use super::MaterialDesc;
use crate::pipelines::custom::MaterialShaders;
use crate::tables::fallback_images::FallbackImages;
use crate::tables::textures::TextureIndices;

/// Buffers that shaders of materials read: the passes that draw declare all of them.
#[derive(Resource, Deref, Default)]
pub struct MaterialBuffers3d(Vec<GpuBuffer>);

/// Images that materials bind by themselves: the passes that draw declare all of them.
#[derive(Resource, Deref, Default)]
pub struct MaterialImages3d(Vec<GpuImage>);

/// Buffers that shaders of materials may write: the passes that draw declare all of them.
#[derive(Resource, Deref, Default)]
pub struct WrittenMaterialBuffers3d(Vec<GpuBuffer>);

/// Images that materials bind as storage textures: the passes that draw declare all of them.
#[derive(Resource, Deref, Default)]
pub struct WrittenMaterialImages3d(Vec<GpuImage>);

/// Resource at a binding of a material.
#[derive(Clone)]
pub(crate) enum BoundResource {
    /// Index in [`MaterialBuffers3d`].
    Buffer(usize),
    /// Index in [`MaterialImages3d`].
    Image(usize),
    /// Index in [`WrittenMaterialBuffers3d`].
    WrittenBuffer(usize),
    /// Index in [`WrittenMaterialImages3d`].
    WrittenImage(usize),
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
    written_buffers: ResMut<'w, WrittenMaterialBuffers3d>,
    written_images: ResMut<'w, WrittenMaterialImages3d>,
}

/// Tables that resources are looked up in.
pub(crate) struct BoundSources<'a> {
    pub(crate) images: &'a DeviceImages,
    pub(crate) buffers: &'a ShaderBuffers,
    pub(crate) fallbacks: &'a FallbackImages,
    pub(crate) comparison_sampler: &'a Sampler,
    pub(crate) sampler: &'a Sampler,
}

/// Resources that shaders of materials may write, and those that all materials sample.
pub(crate) struct Shared<'a> {
    pub(crate) written: &'a HashSet<ResourceId>,
    pub(crate) indices: &'a TextureIndices,
}

impl Shared<'_> {
    fn access(&self, handle: &GpuHandle) -> Access {
        match self.written.contains(&handle.id()) {
            true => Access::Write,
            false => Access::Read,
        }
    }
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
        self.written_buffers.0.clear();
        self.written_images.0.clear();
    }

    /// Adds the resources of a material for shaders with a number, with this row in the table of all materials.
    pub(crate) fn add(
        &mut self,
        key: (u32, u32),
        resolved: Vec<(u32, Resolved)>,
        known: &mut HashMap<ResourceId, BoundResource>,
        in_shadows: bool,
    ) {
        let mut resources = Vec::with_capacity(resolved.len());
        for (number, resource) in resolved {
            let place = match resource.id() {
                Some(id) => known
                    .entry(id)
                    .or_insert_with(|| self.place(resource))
                    .clone(),
                None => self.place(resource),
            };
            resources.push((number, place));
        }
        self.materials.resources.insert(key, resources);
        self.materials.in_shadows |= in_shadows;
    }

    /// Adds a resource to its list.
    fn place(&mut self, resource: Resolved) -> BoundResource {
        fn push<T>(list: &mut Vec<T>, item: T) -> usize {
            list.push(item);
            list.len() - 1
        }
        match resource {
            Resolved::Buffer(buffer, Access::Read) => {
                BoundResource::Buffer(push(&mut self.buffers.0, buffer))
            }
            Resolved::Buffer(buffer, Access::Write) => {
                BoundResource::WrittenBuffer(push(&mut self.written_buffers.0, buffer))
            }
            Resolved::Image(image, Access::Read) => {
                BoundResource::Image(push(&mut self.images.0, image))
            }
            Resolved::Image(image, Access::Write) => {
                BoundResource::WrittenImage(push(&mut self.written_images.0, image))
            }
            Resolved::Sampler(sampler) => BoundResource::Sampler(sampler),
        }
    }
}

/// Access of all shaders to a resource. A pass has one access to each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// Reads as well.
    Write,
}

/// A resource of a material.
pub(crate) enum Resolved {
    Buffer(GpuBuffer, Access),
    Image(GpuImage, Access),
    Sampler(Sampler),
}

impl Resolved {
    fn id(&self) -> Option<ResourceId> {
        match self {
            Self::Buffer(buffer, _) => Some(GpuHandle::Buffer(buffer.clone()).id()),
            Self::Image(image, _) => Some(GpuHandle::Image(image.clone()).id()),
            Self::Sampler(_) => None,
        }
    }
}

/// Adds the resources of a material that its shaders may write, as far as they are uploaded, and its storage textures.
pub(super) fn add_written(
    desc: &MaterialDesc,
    shaders: &MaterialShaders,
    sources: &BoundSources<'_>,
    (written, storage_textures): (&mut HashSet<ResourceId>, &mut HashSet<AssetId<Image>>),
) {
    for bound in shaders.bound.iter().filter(|bound| bound.writes) {
        let handle = match desc.values.get(bound.index) {
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
pub(super) fn resolve(
    (layout, desc): (&MaterialLayout, &MaterialDesc),
    shaders: &MaterialShaders,
    (sources, shared): (&BoundSources<'_>, &Shared<'_>),
) -> Result<Vec<(u32, Resolved)>, Unbound> {
    let mut resolved = Vec::with_capacity(shaders.bound.len());
    for &BoundBinding { index, number, .. } in &shaders.bound {
        let least_bytes = shaders.least_bytes(number);
        let (Some(binding), Some(value)) = (layout.bindings.get(index), desc.values.get(index))
        else {
            continue;
        };
        let resource = match value {
            BindingValue::Uniform(_) => continue,
            BindingValue::Buffer(buffer) => storage((binding, least_bytes), buffer, shared)?,
            BindingValue::BufferAsset(handle) => {
                let id = handle.id().typed_debug_checked::<ShaderBuffer>();
                let buffer = sources.buffers.get(id).ok_or(Unbound::Waiting)?;
                storage((binding, least_bytes), buffer, shared)?
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
                    MaterialBindingKind::StorageTexture { .. } => match (image, shown) {
                        (Some(image), Some(shown)) => {
                            let in_table = shared.indices.contains(image);
                            storage_texture(
                                (binding, shaders.format(number)),
                                shown.image,
                                in_table,
                            )?
                        }
                        _ if !shaders.reads(number) => continue,
                        _ => return Err(missing(binding)),
                    },
                    _ => match shown {
                        Some(shown) => texture(binding, shown.image, shared)?,
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
    (binding, least_bytes): (&MaterialBinding, u64),
    buffer: &GpuBuffer,
    shared: &Shared<'_>,
) -> Result<Resolved, Unbound> {
    let MaterialBinding { binding, field, .. } = binding;
    let bytes = buffer.bytes();
    if bytes < least_bytes {
        return Err(Unbound::Wrong(format!(
            "the buffer at binding {binding} (`{field}`) has {bytes} bytes, and the shader reads {least_bytes} at least. Make it \
             larger"
        )));
    }
    let access = shared.access(&GpuHandle::Buffer(buffer.clone()));
    Ok(Resolved::Buffer(buffer.clone(), access))
}

/// `format` is that of the shader's declaration.
fn storage_texture(
    (binding, format): (&MaterialBinding, Option<Format>),
    image: &GpuImage,
    in_table: bool,
) -> Result<Resolved, Unbound> {
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
        in_table.then(|| {
            "is a texture of another material as well, and a pass has one access to each image"
                .to_owned()
        })
    });
    match why {
        Some(why) => Err(wrong_image(binding, image, &why)),
        None => Ok(Resolved::Image(image.clone(), Access::Write)),
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
    shared: &Shared<'_>,
) -> Result<Resolved, Unbound> {
    let access = shared.access(&GpuHandle::Image(image.clone()));
    let why = misfit(binding.kind, image.desc()).or_else(|| {
        (access == Access::Write).then(|| {
            "is a storage texture of another material, and a pass has one access to each image"
                .to_owned()
        })
    });
    match why {
        Some(why) => Err(wrong_image(binding, image, &why)),
        None => Ok(Resolved::Image(image.clone(), access)),
    }
}

/// Reason that an image has another dimension.
fn misfit_of_shape(dimension: TextureDimension, desc: &ImageDesc) -> Option<String> {
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
fn fallback(binding: &MaterialBinding, fallbacks: &FallbackImages) -> Result<Resolved, Unbound> {
    let image = fallbacks
        .get(binding.kind)
        .ok_or_else(|| missing(binding))?;
    Ok(Resolved::Image(image.clone(), Access::Read))
}

fn missing(binding: &MaterialBinding) -> Unbound {
    let MaterialBinding { binding, field, .. } = binding;
    Unbound::Wrong(format!(
        "there is no image at binding {binding} (`{field}`), and no fallback of this kind. Give the material an image"
    ))
}
