//! Validation of embedded images by their headers.

use std::collections::HashSet;

use bevy_gltf::gltf::image::Source;
use bevy_gltf::gltf::json::Value;
use bevy_gltf::gltf::{Document, Material};
use bevy_image::ImageFormat;
use quadrille::ecs::EmbeddedImages;

use super::buffers::{Buffers, Uri};
use super::loader::CheckedGltfError;

/// Texture index, and the encoded image.
type SrgbTexture16 = (usize, Vec<u8>);

/// Checks embedded images against the limits. Returns the decoded size in bytes, counted once per texture because bevy
/// decodes an image for each, and the sRGB textures with 16 bits per channel.
pub(super) fn check(
    document: &Document,
    buffers: &Buffers<'_>,
    images: &EmbeddedImages,
) -> Result<(u64, Vec<SrgbTexture16>), CheckedGltfError> {
    let linear = linear_textures(document);
    let root = document.as_json();
    let (mut sum, mut coded) = (0_u64, Vec::new());
    for texture in document.textures() {
        let index = texture.index();
        let decoded;
        let (file, mime_type) = match texture.source().source() {
            Source::View { view, mime_type } => {
                let view = root.buffer_views.get(view.index());
                (view.and_then(|it| buffers.view(it)), mime_type.to_owned())
            }
            Source::Uri { uri, mime_type } => {
                match Uri::parse(&format!("the image of texture {index}"), uri)? {
                    // Checked by the image loader.
                    Uri::Path(_) => continue,
                    Uri::Data {
                        mime_type: of_uri,
                        bytes,
                    } => {
                        decoded = bytes;
                        (Some(&*decoded), mime_type.map_or(of_uri, ToOwned::to_owned))
                    }
                }
            }
        };
        let Some(file) = file else {
            let message = format!("the image of texture {index} is not in the file");
            return Err(CheckedGltfError::Refused(message));
        };
        let format = ImageFormat::from_mime_type(&mime_type);
        let pixels = images.check(file, format).map_err(|error| {
            let texture = index;
            CheckedGltfError::Image { texture, error }
        })?;
        sum = sum.saturating_add(pixels);
        if !linear.contains(&index) && images.is_coded_in_16_bits(file, format) {
            coded.push((index, file.to_owned()));
        }
    }
    Ok((sum, coded))
}

/// Textures with linear values, by the rules of bevy_gltf.
fn linear_textures(document: &Document) -> HashSet<usize> {
    document.materials().flat_map(|it| linear_of(&it)).collect()
}

fn linear_of(material: &Material<'_>) -> Vec<usize> {
    let pbr = material.pbr_metallic_roughness();
    let extension = |extension: &str, field: &str| {
        let info = material.extension_value(extension)?.get(field)?;
        info.get("index")
            .and_then(Value::as_u64)
            .map(|it| it as usize)
    };
    let known = [
        material.normal_texture().map(|it| it.texture().index()),
        material.occlusion_texture().map(|it| it.texture().index()),
        pbr.metallic_roughness_texture()
            .map(|it| it.texture().index()),
        material
            .volume()
            .and_then(|it| it.thickness_texture())
            .map(|it| it.texture().index()),
        extension("KHR_materials_anisotropy", "anisotropyTexture"),
        extension("KHR_materials_clearcoat", "clearcoatTexture"),
        extension("KHR_materials_clearcoat", "clearcoatRoughnessTexture"),
        extension("KHR_materials_clearcoat", "clearcoatNormalTexture"),
    ];
    known.into_iter().flatten().collect()
}
