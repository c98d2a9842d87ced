//! Stand-ins for images that materials do not have.

use bevy_ecs::error::BevyError;
use quadrille::material::{MaterialBindingKind, TextureDimension, TextureSampleType};
use quadrille::prelude::{GpuDevice, GpuImage, Uploads};
use quadrille::vulkan::Format;
use quadrille::vulkan::resources::ImageDesc;

/// White images of all dimensions, for materials without an image. Clones are the same images.
///
/// Texels of integers have the largest value of 8 bits, and depths are 1. There are no multisampled ones.
#[derive(Clone)]
pub(crate) struct FallbackImages {
    /// By dimension, of floats.
    floats: Vec<(TextureDimension, GpuImage)>,
    /// Created when a material type may need them.
    others: Vec<(TextureDimension, TextureSampleType, GpuImage)>,
}

/// Dimensions with extent, layers and whether the image is a cube.
const SHAPES: [(TextureDimension, [u32; 3], u32, bool); 5] = [
    (TextureDimension::D2, [1; 3], 1, false),
    (TextureDimension::D2Array, [1; 3], 2, false),
    (TextureDimension::D3, [1, 1, 2], 1, false),
    (TextureDimension::Cube, [1; 3], 6, true),
    (TextureDimension::CubeArray, [1; 3], 12, true),
];

impl FallbackImages {
    pub(crate) fn new(gpu: &GpuDevice, uploads: &mut Uploads) -> Result<Self, BevyError> {
        let mut floats = Vec::with_capacity(SHAPES.len());
        for (dimension, ..) in SHAPES {
            let image = create((gpu, uploads), dimension, TextureSampleType::Float)?;
            floats.extend(image.map(|image| (dimension, image)));
        }
        Ok(Self {
            floats,
            others: Vec::new(),
        })
    }

    /// The image of two dimensions.
    pub(crate) fn white(&self) -> &GpuImage {
        &self.floats[0].1
    }

    /// Creates the image for a kind of binding, unless it exists or there is none of this kind.
    pub(crate) fn add(
        &mut self,
        kind: MaterialBindingKind,
        (gpu, uploads): (&GpuDevice, &mut Uploads),
    ) -> Result<(), BevyError> {
        let MaterialBindingKind::Texture {
            dimension,
            sample_type,
            multisampled: false,
        } = kind
        else {
            return Ok(());
        };
        if self.get(kind).is_none()
            && let Some(image) = create((gpu, uploads), dimension, sample_type)?
        {
            self.others.push((dimension, sample_type, image));
        }
        Ok(())
    }

    /// The image for a kind of binding.
    pub(crate) fn get(&self, kind: MaterialBindingKind) -> Option<&GpuImage> {
        let MaterialBindingKind::Texture {
            dimension,
            sample_type,
            multisampled: false,
        } = kind
        else {
            return None;
        };
        if sample_type == TextureSampleType::Float {
            let mut floats = self.floats.iter();
            return floats.find(|it| it.0 == dimension).map(|it| &it.1);
        }
        let mut others = self.others.iter();
        let found = others.find(|it| (it.0, it.1) == (dimension, sample_type));
        found.map(|it| &it.2)
    }
}

/// Creates a white image; `None` for kinds that there are no images of.
fn create(
    (gpu, uploads): (&GpuDevice, &mut Uploads),
    dimension: TextureDimension,
    sample_type: TextureSampleType,
) -> Result<Option<GpuImage>, BevyError> {
    let mut shapes = SHAPES.into_iter();
    let Some((_, extent, layers, cube)) = shapes.find(|it| it.0 == dimension) else {
        return Ok(None);
    };
    let (format, texel) = match sample_type {
        TextureSampleType::Float => (Format::R8G8B8A8_UNORM, [255; 4]),
        TextureSampleType::Uint => (Format::R8G8B8A8_UINT, [255; 4]),
        TextureSampleType::Sint => (Format::R8G8B8A8_SINT, [127; 4]),
        TextureSampleType::Depth if dimension == TextureDimension::D3 => return Ok(None),
        TextureSampleType::Depth => (Format::D32_SFLOAT, 1.0_f32.to_ne_bytes()),
    };
    let desc = ImageDesc {
        extent,
        array_layers: layers,
        cube,
        ..ImageDesc::sampled("3d white", [1; 2], format)
    };
    let image = gpu.create_image(&desc)?;
    let texels = extent[2] * layers;
    uploads.write_image(&image, &texel.repeat(texels as usize));
    Ok(Some(image))
}
