//! Descriptions of tables.

use ash::vk;

use crate::error::Error;
use crate::instance::sharing::Sharing;
use crate::resources::buffer::{BufferDesc, BufferUsage};
use crate::resources::image::{ImageDesc, ImageUsage};
use crate::resources::sampler::Sampler;
use crate::shader::{ScalarKind, ShaderImage};

/// Description of a table of storage buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferTableDesc {
    /// Name in errors and debuggers.
    pub name: String,
    /// Maximum number of buffers; at least 1.
    pub capacity: u32,
}

impl BufferTableDesc {
    /// Describes a table of storage buffers with this capacity: `var<storage, read> ..: binding_array<..>`.
    pub fn new(name: impl Into<String>, capacity: u32) -> Self {
        let name = name.into();
        Self { name, capacity }
    }

    /// Size of the fallback in bytes.
    const FALLBACK: u64 = 256;

    /// Describes the buffer of empty entries: zeros, which reads beyond its end return as well.
    pub(super) fn fallback(&self) -> BufferDesc {
        let name = format!("fallback of {}", self.name);
        let usage = BufferUsage::STORAGE | BufferUsage::TRANSFER_DST;
        BufferDesc::new(name, Self::FALLBACK, usage).with_sharing(Sharing::Concurrent)
    }
}

/// Description of a table of images.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageTableDesc {
    /// Name in errors and debuggers.
    pub name: String,
    /// Maximum number of images; at least 1.
    pub capacity: u32,
    /// The element type of its shaders' array; all its images must have a matching type.
    pub image: ShaderImage,
    /// Its first samplers, in the order of the shader's array; at most 64. [`ImageTable::insert_sampler`] adds others.
    ///
    /// [`ImageTable::insert_sampler`]: super::ImageTable::insert_sampler
    pub samplers: Vec<Sampler>,
}

impl ImageTableDesc {
    fn new(name: impl Into<String>, capacity: u32, view: vk::ImageViewType) -> Self {
        Self {
            name: name.into(),
            capacity,
            image: ShaderImage {
                view,
                texels: Some(ScalarKind::Float),
                format: None,
                multisampled: false,
            },
            samplers: Vec::new(),
        }
    }

    /// Describes a table of 2D images: `binding_array<texture_2d<f32>>`.
    pub fn d2(name: impl Into<String>, capacity: u32) -> Self {
        Self::new(name, capacity, vk::ImageViewType::TYPE_2D)
    }

    /// Describes a table of 2D images with array layers: `binding_array<texture_2d_array<f32>>`.
    pub fn d2_array(name: impl Into<String>, capacity: u32) -> Self {
        Self::new(name, capacity, vk::ImageViewType::TYPE_2D_ARRAY)
    }

    /// Describes a table of cube maps: `binding_array<texture_cube<f32>>`.
    pub fn cube(name: impl Into<String>, capacity: u32) -> Self {
        Self::new(name, capacity, vk::ImageViewType::CUBE)
    }

    /// Describes a table of 3D images: `binding_array<texture_3d<f32>>`.
    pub fn d3(name: impl Into<String>, capacity: u32) -> Self {
        Self::new(name, capacity, vk::ImageViewType::TYPE_3D)
    }

    /// Sets the scalar kind of texels, as for integer images: `binding_array<texture_2d<u32>>`.
    pub fn with_texels(mut self, texels: ScalarKind) -> Self {
        self.image.texels = Some(texels);
        self
    }

    /// Adds a sampler.
    pub fn with_sampler(mut self, sampler: &Sampler) -> Self {
        self.samplers.push(sampler.clone());
        self
    }

    /// Checks the fields that only tables of images have.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.image.multisampled || self.image.format.is_some() {
            return Err(Error::Invalid {
                name: self.name.clone(),
                problem: "its images are multisampled or storage images, and a table's are sampled"
                    .to_owned(),
            });
        }
        Ok(())
    }

    /// Width and height of the fallback in texels.
    const FALLBACK: u32 = 8;

    /// Describes the image of empty entries.
    pub(super) fn fallback(&self) -> ImageDesc {
        use vk::ImageViewType as Kind;
        let format = match self.image.texels {
            Some(ScalarKind::Uint) => vk::Format::R8G8B8A8_UINT,
            Some(ScalarKind::Sint) => vk::Format::R8G8B8A8_SINT,
            Some(ScalarKind::Float) | None => vk::Format::R8G8B8A8_UNORM,
        };
        let name = format!("fallback of {}", self.name);
        let size = Self::FALLBACK;
        let mut desc = ImageDesc::new(name, [size, size], format, ImageUsage::SAMPLED);
        desc.usage |= ImageUsage::TRANSFER_DST;
        desc.sharing = Sharing::Concurrent;
        match self.image.view {
            Kind::TYPE_1D => {
                desc.extent[1] = 1;
                desc.one_dimensional = true;
            }
            Kind::TYPE_3D => desc.extent[2] = 2,
            Kind::CUBE | Kind::CUBE_ARRAY => {
                desc.array_layers = 6;
                desc.cube = true;
            }
            _ => {}
        }
        desc
    }

    /// A checker of magenta and black, magenta first.
    pub(super) fn fallback_texels(&self) -> Vec<u8> {
        let desc = self.fallback();
        let most = match self.image.texels {
            Some(ScalarKind::Sint) => i8::MAX.cast_unsigned(),
            _ => u8::MAX,
        };
        let [width, height, depth] = desc.extent;
        let slices = 0..depth * desc.array_layers;
        let places = slices.flat_map(|_| (0..height).flat_map(|y| (0..width).map(move |x| [x, y])));
        let texel = |[x, y]: [u32; 2]| {
            if (x + y).is_multiple_of(2) {
                [most, 0, most, most]
            } else {
                [0, 0, 0, most]
            }
        };
        places.flat_map(texel).collect()
    }
}
