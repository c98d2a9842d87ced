//! Stand-ins for images that materials do not have.

use bevy_ecs::error::BevyError;
use quadrille::material::{MaterialBindingKind, TextureDimension, TextureSampleType};
use quadrille::prelude::{GpuDevice, GpuImage, Uploads};
use quadrille::vulkan::Format;
use quadrille::vulkan::resources::ImageDesc;

/// White images of all dimensions, for materials without an image. Clones are the same images.
///
/// Created when a material type may need them. Texels of integers have the largest value of 8 bits, and depths are 1. There are no multisampled ones.
#[derive(Clone, Default)]
pub struct FallbackImages(Vec<(TextureDimension, TextureSampleType, GpuImage)>);

/// Dimensions with extent, layers and whether the image is a cube.
const SHAPES: [(TextureDimension, [u32; 3], u32, bool); 6] = [
    (TextureDimension::D1, [1; 3], 1, false),
    (TextureDimension::D2, [1; 3], 1, false),
    (TextureDimension::D2Array, [1; 3], 2, false),
    (TextureDimension::D3, [1, 1, 2], 1, false),
    (TextureDimension::Cube, [1; 3], 6, true),
    (TextureDimension::CubeArray, [1; 3], 12, true),
];

impl FallbackImages {
    /// Returns the image for a kind of binding, which is created unless it exists; `None` if there is none of this kind.
    ///
    /// # Errors
    /// The image cannot be created.
    pub fn add(
        &mut self,
        kind: MaterialBindingKind,
        (gpu, uploads): (&GpuDevice, &mut Uploads),
    ) -> Result<Option<GpuImage>, BevyError> {
        let MaterialBindingKind::Texture {
            dimension,
            sample_type,
            multisampled: false,
        } = kind
        else {
            return Ok(None);
        };
        if let Some(image) = self.get(kind) {
            return Ok(Some(image.clone()));
        }
        let image = create((gpu, uploads), dimension, sample_type)?;
        self.0
            .extend(image.clone().map(|image| (dimension, sample_type, image)));
        Ok(image)
    }

    /// The image for a kind of binding.
    pub fn get(&self, kind: MaterialBindingKind) -> Option<&GpuImage> {
        let MaterialBindingKind::Texture {
            dimension,
            sample_type,
            multisampled: false,
        } = kind
        else {
            return None;
        };
        let mut images = self.0.iter();
        let found = images.find(|it| (it.0, it.1) == (dimension, sample_type));
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
        TextureSampleType::Depth
            if matches!(dimension, TextureDimension::D1 | TextureDimension::D3) =>
        {
            return Ok(None);
        }
        TextureSampleType::Depth => (Format::D32_SFLOAT, 1.0_f32.to_ne_bytes()),
    };
    let desc = ImageDesc {
        extent,
        array_layers: layers,
        cube,
        one_dimensional: dimension == TextureDimension::D1,
        ..ImageDesc::sampled("white", [1; 2], format)
    };
    let image = gpu.create_image(&desc)?;
    let texels = extent[2] * layers;
    uploads.write_image(&image, &texel.repeat(texels as usize));
    Ok(Some(image))
}
