//! The images of shadow maps: each map is a tile of one of two, so that one rendering draws all
//! maps of an image.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_light::{DirectionalLightShadowMap, PointLightShadowMap};
use quadrille::prelude::{Format, GpuDevice, GpuImage, ImageDesc};
use quadrille::vulkan::Error;
use quadrille_content::Complaints;

use crate::scene::{AtlasKind, Scene3d};

/// Of all shadow maps.
pub(crate) const FORMAT: Format = Format::D32_SFLOAT;

/// The shadow maps of cascades and of spot lights: a depth image of square tiles. Depth is
/// reversed: 1 is near the light.
#[derive(Resource, Deref)]
pub struct FlatShadows3d(GpuImage);

/// The shadow maps of point lights, six tiles each in the order of bevy's `CUBE_MAP_FACES`.
#[derive(Resource, Deref)]
pub struct FaceShadows3d(GpuImage);

/// What is known of the images of shadow maps.
#[derive(Resource, Default)]
pub struct ShadowMaps {
    /// Tiles that the frame needs, of flat ones and of faces.
    pub(crate) wanted: [u32; 2],
    flat: Atlas,
    faces: Atlas,
}

/// The tiles of an image.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tiles {
    /// Of a tile, in texels.
    pub(crate) side: u32,
    columns: u32,
    rows: u32,
}

/// An image that is kept while there are shadows, and the smallest one for while there are none:
/// passes sample either, and a pass clears it in each frame.
#[derive(Debug, Default)]
struct Atlas {
    tiles: Tiles,
    image: Option<GpuImage>,
    smallest: Option<GpuImage>,
}

/// More flat shadow maps there are not: 16 MiB each at bevy's size.
pub(crate) const MOST_FLAT: u32 = 64;
/// More faces there are not: 4 MiB each at bevy's size.
pub(crate) const MOST_FACES: u32 = 96;

/// A tile's side is between these, whatever the app says.
const SIDES: [usize; 2] = [1, 8192];

impl ShadowMaps {
    pub(crate) fn tiles(&self, kind: AtlasKind) -> Tiles {
        match kind {
            AtlasKind::Flat => self.flat.tiles,
            AtlasKind::Face => self.faces.tiles,
        }
    }
}

impl Tiles {
    /// Left and top of a tile, in texels; none if the image is too small for it.
    pub(crate) fn corner(self, tile: u32) -> Option<[u32; 2]> {
        let is_in = tile < self.columns * self.rows;
        is_in.then(|| {
            [
                tile % self.columns * self.side,
                tile / self.columns * self.side,
            ]
        })
    }

    /// The tile in fractions of the image; zeros if the image is too small for it.
    fn fraction(self, tile: u32) -> [f32; 4] {
        let Some([left, top]) = self.corner(tile) else {
            return [0.0; 4];
        };
        let size = [self.columns * self.side, self.rows * self.side].map(|side| side as f32);
        let side = self.side as f32;
        [
            left as f32 / size[0],
            top as f32 / size[1],
            side / size[0],
            side / size[1],
        ]
    }
}

impl Atlas {
    /// Makes the image large enough for so many tiles. One that cannot be made leaves the old one:
    /// tiles that it has no room for are not drawn.
    fn fit(
        &mut self,
        gpu: &GpuDevice,
        shown: &mut GpuImage,
        wanted: u32,
        side: usize,
        complaints: &Complaints,
    ) {
        let [least, most] = SIDES;
        let side = side.clamp(least, most) as u32;
        let Tiles {
            side: old_side,
            columns,
            rows,
        } = self.tiles;
        if wanted > 0 && (old_side != side || columns * rows < wanted) {
            let columns = (f64::from(wanted).sqrt().ceil() as u32).next_power_of_two();
            let rows = wanted.div_ceil(columns).next_power_of_two();
            match image_of(gpu, shown.name(), columns * side, rows * side) {
                Ok(image) => {
                    self.image = Some(image);
                    self.tiles = Tiles {
                        side,
                        columns,
                        rows,
                    };
                }
                Err(error) => complaints.say(|| format!("some lights cast no shadows: {error}")),
            }
        }
        let image = match wanted {
            0 => &self.smallest,
            _ => &self.image,
        };
        if let Some(image) = image.as_ref().or(self.smallest.as_ref())
            && image != shown
        {
            *shown = image.clone();
        }
    }
}

/// Makes the images as large as the frame needs, and writes where in them shadow maps are for shaders.
pub(crate) fn prepare_shadow_maps(
    mut scene: ResMut<Scene3d>,
    mut maps: ResMut<ShadowMaps>,
    mut images: (ResMut<FlatShadows3d>, ResMut<FaceShadows3d>),
    sizes: (Res<DirectionalLightShadowMap>, Res<PointLightShadowMap>),
    gpu: Res<GpuDevice>,
    complaints: Res<Complaints>,
) {
    let [flat, faces] = maps.wanted;
    let image = &mut images.0.0;
    maps.flat.fit(&gpu, image, flat, sizes.0.size, &complaints);
    let image = &mut images.1.0;
    maps.faces
        .fit(&gpu, image, faces, sizes.1.size, &complaints);
    let scene = &mut *scene;
    for (row, shadow) in scene.shadow_rows.now.iter_mut().zip(&scene.shadows) {
        row.tile = maps.tiles(shadow.atlas).fraction(shadow.tile);
    }
}

/// The images before there are shadows.
pub(crate) fn images(gpu: &GpuDevice) -> Result<(FlatShadows3d, FaceShadows3d), Error> {
    Ok((
        FlatShadows3d(image_of(gpu, "3d flat shadows", 1, 1)?),
        FaceShadows3d(image_of(gpu, "3d face shadows", 1, 1)?),
    ))
}

impl ShadowMaps {
    /// For the first images of a device.
    pub(crate) fn begin_anew(&mut self, flat: &FlatShadows3d, faces: &FaceShadows3d) {
        let only = |image: &GpuImage| Atlas {
            smallest: Some(image.clone()),
            ..Atlas::default()
        };
        (self.flat, self.faces) = (only(flat), only(faces));
    }
}

fn image_of(gpu: &GpuDevice, name: &str, width: u32, height: u32) -> Result<GpuImage, Error> {
    gpu.create_image(&ImageDesc::depth(name, [width, height], FORMAT))
}

#[cfg(test)]
mod tests;
