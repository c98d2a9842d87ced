//! Shadow map images: all maps are tiles of two depth images, each drawn by one rendering.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_light::{DirectionalLightShadowMap, PointLightShadowMap};
use quadrille::prelude::{GpuDevice, GpuImage, ImageDesc};
use quadrille::vulkan::{Error, Format};
use quadrille_content::warnings::RateLimitedWarnings;

use crate::scene::formats::SHADOW_FORMATS;
use crate::scene::lists::{ShadowList, ShadowMapDraw, ShadowMapKind};

/// Shadow atlas of cascades and spot lights: a depth image of square tiles with the side in [`DirectionalLightShadowMap`].
///
/// The map of a spot light that is seen from afar takes a corner of its tile. Depth is reversed: 1 is near the light. Its
/// format is `D16_UNORM` as long as it has cascades alone whose depth steps are at most half of the light's
/// `shadow_depth_bias`, else `D32_SFLOAT`.
#[derive(Resource, Deref)]
pub struct ShadowAtlas(GpuImage);

/// Shadow maps of point lights: six tiles each with the side in [`PointLightShadowMap`], in the order of bevy's
/// `CUBE_MAP_FACES`.
///
/// The maps of a light that is seen from afar take corners of their tiles.
#[derive(Resource, Deref)]
pub struct PointShadowFaces(GpuImage);

/// State of the shadow map images.
#[derive(Resource, Default)]
pub struct ShadowMaps {
    /// Required tiles of this frame: shadow atlas, point light faces.
    pub(crate) needed: [u32; 2],
    /// Format that the atlas of this frame needs; a more precise one remains.
    pub(crate) atlas_format: Format,
    flat: TiledImage,
    faces: TiledImage,
}

/// Tile layout of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TileGrid {
    /// Side of a tile in texels.
    pub(crate) side: u32,
    columns: u32,
    rows: u32,
}

/// Tiled image, and a minimal placeholder for frames without shadows.
#[derive(Debug, Default)]
struct TiledImage {
    tiles: TileGrid,
    format: Format,
    image: Option<GpuImage>,
    placeholder: Option<GpuImage>,
}

/// Format of maps with perspective.
const FLOATS: Format = SHADOW_FORMATS[1];

/// Range of tile sides, to which the app's settings are clamped.
const TILE_SIZE_LIMITS: [usize; 2] = [1, 8192];

impl ShadowMaps {
    pub(crate) fn tiles(&self, kind: ShadowMapKind) -> TileGrid {
        match kind {
            ShadowMapKind::Atlas => self.flat.tiles,
            ShadowMapKind::PointFaces => self.faces.tiles,
        }
    }
}

impl TileGrid {
    /// Left, top, width and height of a map in texels, in the corner of its tile; `None` if the image has no such tile.
    pub(crate) fn rect(self, shadow: &ShadowMapDraw) -> Option<[u32; 4]> {
        let is_in = shadow.tile < self.columns * self.rows;
        let side = shadow.side.min(self.side);
        is_in.then(|| {
            let (column, row) = (shadow.tile % self.columns, shadow.tile / self.columns);
            [column * self.side, row * self.side, side, side]
        })
    }

    /// Map in texture coordinates; zeros if the image has no such tile.
    fn uv_rect(self, shadow: &ShadowMapDraw) -> [f32; 4] {
        let Some([left, top, width, height]) = self.rect(shadow) else {
            return [0.0; 4];
        };
        let size = [self.columns * self.side, self.rows * self.side].map(|side| side as f32);
        [
            left as f32 / size[0],
            top as f32 / size[1],
            width as f32 / size[0],
            height as f32 / size[1],
        ]
    }
}

/// Returns the tiles and the format of another image if one is needed. Tiles of one size become neither fewer nor less
/// precise, so that lights that come and go do not replace the image each time.
fn resized(
    old: TileGrid,
    old_format: Format,
    (needed, side, format): (u32, u32, Format),
) -> Option<(TileGrid, Format)> {
    let is_same_size = old.side == side;
    let format = match is_same_size && old_format == FLOATS {
        true => FLOATS,
        false => format,
    };
    let old_count = old.columns * old.rows;
    if needed == 0 || (is_same_size && needed <= old_count && format == old_format) {
        return None;
    }
    let count = match is_same_size {
        true => needed.max(old_count),
        false => needed,
    };
    let columns = (f64::from(count).sqrt().ceil() as u32).next_power_of_two();
    let rows = count.div_ceil(columns).next_power_of_two();
    let tiles = TileGrid {
        side,
        columns,
        rows,
    };
    Some((tiles, format))
}

impl TiledImage {
    /// Resizes the image to a number of tiles. If that fails, the old image remains, and tiles that do not fit are not
    /// drawn.
    fn resize(
        &mut self,
        gpu: &GpuDevice,
        bound: &mut GpuImage,
        (needed, format): (u32, Format),
        side: usize,
        warnings: &RateLimitedWarnings,
    ) {
        let side = tile_side(side);
        if let Some((tiles, format)) = resized(self.tiles, self.format, (needed, side, format)) {
            let size = [tiles.columns * side, tiles.rows * side];
            match create_depth_image(gpu, bound.name(), size, format) {
                Ok(image) => {
                    self.image = Some(image);
                    (self.tiles, self.format) = (tiles, format);
                }
                Err(error) => warnings.warn_message(|| {
                    format!("some shadow maps are not drawn, or imprecise: {error}")
                }),
            }
        }
        let image = match needed {
            0 => &self.placeholder,
            _ => &self.image,
        };
        if let Some(image) = image.as_ref().or(self.placeholder.as_ref())
            && image != bound
        {
            *bound = image.clone();
        }
    }
}

/// Side of a tile in texels by the app's setting.
pub(crate) fn tile_side(setting: usize) -> u32 {
    let [least, most] = TILE_SIZE_LIMITS;
    setting.clamp(least, most) as u32
}

/// Resizes the images for this frame, and writes the tiles of shadow maps to their rows.
pub(crate) fn prepare_shadow_maps(
    mut shadows: ResMut<ShadowList>,
    mut maps: ResMut<ShadowMaps>,
    mut images: (ResMut<ShadowAtlas>, ResMut<PointShadowFaces>),
    sizes: (Res<DirectionalLightShadowMap>, Res<PointLightShadowMap>),
    gpu: Res<GpuDevice>,
    warnings: Res<RateLimitedWarnings>,
) {
    let [flat, faces] = maps.needed;
    let image = &mut images.0.0;
    let flat = (flat, maps.atlas_format);
    maps.flat.resize(&gpu, image, flat, sizes.0.size, &warnings);
    let image = &mut images.1.0;
    let faces = (faces, FLOATS);
    maps.faces
        .resize(&gpu, image, faces, sizes.1.size, &warnings);
    let ShadowList { draws, rows } = &mut *shadows;
    for (row, shadow) in rows.iter_mut().zip(draws.iter()) {
        row.tile = maps.tiles(shadow.kind).uv_rect(shadow);
    }
}

/// Creates the placeholder images.
pub(crate) fn images(gpu: &GpuDevice) -> Result<(ShadowAtlas, PointShadowFaces), Error> {
    Ok((
        ShadowAtlas(create_depth_image(gpu, "3d shadow atlas", [1, 1], FLOATS)?),
        PointShadowFaces(create_depth_image(
            gpu,
            "3d point shadow faces",
            [1, 1],
            FLOATS,
        )?),
    ))
}

impl ShadowMaps {
    /// Resets to the placeholder images of a new device.
    pub(crate) fn mark_all_dirty(&mut self, flat: &ShadowAtlas, faces: &PointShadowFaces) {
        let only = |image: &GpuImage| TiledImage {
            placeholder: Some(image.clone()),
            ..TiledImage::default()
        };
        (self.flat, self.faces) = (only(flat), only(faces));
    }
}

fn create_depth_image(
    gpu: &GpuDevice,
    name: &str,
    size: [u32; 2],
    format: Format,
) -> Result<GpuImage, Error> {
    gpu.create_image(&ImageDesc::depth(name, size, format))
}

#[cfg(test)]
mod tests;
