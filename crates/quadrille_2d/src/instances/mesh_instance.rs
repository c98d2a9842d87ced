//! Instances of meshes, as the shader reads them.

use bevy_color::{ColorToComponents as _, LinearRgba};
use bevy_math::{Affine2, Affine3A, Mat3A, Rect, Vec2};
#[cfg(feature = "ui")]
use bevy_math::{Mat2, Mat3};
use bytemuck::{Pod, Zeroable};
use quadrille::vulkan::{Format, VertexLayout};
use quadrille_content::{affine_rows, is_finite};

/// One instance of a mesh as the shader reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Instance {
    /// The rows of the affine matrix from the mesh's space to world space.
    pub(crate) world_from_local: [[f32; 4]; 3],
    /// The columns of the 2x2 matrix from the mesh's uv to the image's.
    pub(crate) uv_axes: [f32; 4],
    /// Translation from the mesh's uv to the image's.
    pub(crate) uv_translation: [f32; 2],
    /// Linear colour that the image is multiplied with.
    pub(crate) tint: [f32; 4],
    /// [`AlphaMode::to_shader`].
    pub(crate) alpha_mode: f32,
}

/// Alpha mode of an instance; one for sprites and materials.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum AlphaMode {
    Opaque,
    Mask(f32),
    #[default]
    Blend,
}

impl AlphaMode {
    /// The number that shaders know it by.
    pub(crate) fn to_shader(self) -> f32 {
        match self {
            Self::Opaque => -1.0,
            Self::Mask(threshold) => threshold.clamp(0.0, 1.0),
            Self::Blend => 2.0,
        }
    }
}

/// A rectangle around a place. Other than bevy's function it takes any size, since sizes are what
/// users say.
pub(crate) fn rect_around(center: Vec2, size: Vec2) -> Rect {
    Rect {
        min: center - size / 2.0,
        max: center + size / 2.0,
    }
}

impl Instance {
    /// An instance of any mesh.
    pub(crate) fn mesh(world: Affine3A, uv: Affine2, tint: LinearRgba, alpha: AlphaMode) -> Self {
        let axes = uv.matrix2.to_cols_array();
        Self {
            world_from_local: affine_rows(world),
            uv_axes: axes,
            uv_translation: uv.translation.to_array(),
            tint: tint.to_f32_array(),
            alpha_mode: alpha.to_shader(),
        }
    }

    /// An instance of the unit quad: `rect` in the space of `world`, showing the part `uv` of an
    /// image (0 to 1, from the top left).
    pub(crate) fn quad(
        world: &Affine3A,
        rect: Rect,
        uv: UvRect,
        tint: LinearRgba,
        alpha: AlphaMode,
    ) -> Self {
        // The product of `world` and the rectangle's matrix, without what is zero in the latter.
        let (size, matrix) = (rect.size(), world.matrix3);
        let (x, y) = (matrix.x_axis * size.x, matrix.y_axis * size.y);
        let at = world.transform_point3a(rect.center().extend(0.0).into());
        let part = uv.max - uv.min;
        Self {
            world_from_local: affine_rows(Affine3A {
                matrix3: Mat3A::from_cols(x, y, matrix.z_axis),
                translation: at,
            }),
            uv_axes: [part.x, 0.0, 0.0, part.y],
            uv_translation: uv.min.to_array(),
            tint: tint.to_f32_array(),
            alpha_mode: alpha.to_shader(),
        }
    }

    /// An instance of the unit triangle: these corners in the space of `world`, each showing a place
    /// of an image.
    #[cfg(feature = "ui")]
    pub(crate) fn triangle(
        world: &Affine3A,
        corners: [Vec2; 3],
        uvs: [Vec2; 3],
        tint: LinearRgba,
        alpha: AlphaMode,
    ) -> Self {
        let sides = |[corner, first, second]: [Vec2; 3]| Affine2 {
            matrix2: Mat2::from_cols(first - corner, second - corner),
            translation: corner,
        };
        let local = sides(corners);
        let matrix = Mat3::from_mat2(local.matrix2);
        let local = Affine3A::from_mat3_translation(matrix, local.translation.extend(0.0));
        Self::mesh(*world * local, sides(uvs), tint, alpha)
    }

    /// Whether it can be drawn.
    pub(crate) fn is_finite(&self) -> bool {
        is_finite(bytemuck::cast_slice(std::slice::from_ref(self)))
    }

    /// How vertex shaders read instances: locations 3 to 9.
    pub(crate) fn layout() -> VertexLayout {
        let formats = [
            Format::R32G32B32A32_SFLOAT,
            Format::R32G32B32A32_SFLOAT,
            Format::R32G32B32A32_SFLOAT,
            Format::R32G32B32A32_SFLOAT,
            Format::R32G32_SFLOAT,
            Format::R32G32B32A32_SFLOAT,
            Format::R32_SFLOAT,
        ];
        VertexLayout::packed(3, &formats).per_instance()
    }
}

/// A part of an image in fractions of its size; `min` above `max` is a flipped one, which
/// [`Rect`] could not hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct UvRect {
    pub(crate) min: Vec2,
    pub(crate) max: Vec2,
}

impl UvRect {
    /// The whole image.
    pub(crate) const WHOLE: Self = Self {
        min: Vec2::ZERO,
        max: Vec2::ONE,
    };

    /// The part `pixels` of an image of this size.
    pub(crate) fn of_pixels(pixels: Rect, image_size: Vec2) -> Self {
        let size = image_size.max(Vec2::splat(1.0));
        Self {
            min: pixels.min / size,
            max: pixels.max / size,
        }
    }

    /// The same mirrored.
    pub(crate) fn flipped(mut self, x: bool, y: bool) -> Self {
        if x {
            std::mem::swap(&mut self.min.x, &mut self.max.x);
        }
        if y {
            std::mem::swap(&mut self.min.y, &mut self.max.y);
        }
        self
    }
}

#[cfg(test)]
mod tests;
