//! Instance data of sprites, glyphs and meshes (`vertex.wgsl`).

use bevy_color::{ColorToComponents as _, LinearRgba};
use bevy_math::{Affine2, Affine3A, Mat3A, Rect, Vec2};
#[cfg(feature = "ui")]
use bevy_math::{Mat2, Mat3};
use bytemuck::{Pod, Zeroable};
use quadrille::rows::ShaderRow;
use quadrille::vulkan::Format;
use quadrille::vulkan::pipeline::VertexLayout;
use quadrille_content::affine::{AffineRows, affine_rows};
use quadrille_content::warnings::is_finite;

/// Row of the instance buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, ShaderRow)]
#[row("quadrille_2d/vertex.wgsl", "Instance")]
pub(crate) struct Instance {
    /// Rows of the affine matrix from local to world space.
    pub(crate) world_from_local: [[f32; 4]; 3],
    /// Columns of the 2x2 matrix from the mesh's to the image's texture coordinates.
    pub(crate) uv_axes: [f32; 4],
    /// Linear tint of the image.
    pub(crate) tint: [f32; 4],
    /// Translation from the mesh's to the image's texture coordinates.
    pub(crate) uv_translation: [f32; 2],
    /// [`AlphaMode::to_shader`].
    pub(crate) alpha_mode: f32,
    /// Row index of its material, for materials with a shader of their own.
    pub(crate) material: u32,
}

/// Alpha mode of an instance, from a sprite's or a material's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum AlphaMode {
    Opaque,
    Mask(f32),
    #[default]
    Blend,
}

impl AlphaMode {
    /// Encoding for `apply_alpha_mode` of `vertex.wgsl`.
    pub(crate) fn to_shader(self) -> f32 {
        match self {
            Self::Opaque => -1.0,
            Self::Mask(threshold) => threshold.clamp(0.0, 1.0),
            Self::Blend => 2.0,
        }
    }
}

/// Rectangle by centre and size. Unlike [`Rect::from_center_size`], it accepts negative and NaN sizes, which
/// come from user data.
pub(crate) fn rect_around(center: Vec2, size: Vec2) -> Rect {
    Rect {
        min: center - size / 2.0,
        max: center + size / 2.0,
    }
}

impl Instance {
    /// Creates an instance of any mesh.
    pub(crate) fn mesh(world: Affine3A, uv: Affine2, tint: LinearRgba, alpha: AlphaMode) -> Self {
        let axes = uv.matrix2.to_cols_array();
        Self {
            world_from_local: affine_rows(world),
            uv_axes: axes,
            tint: tint.to_f32_array(),
            uv_translation: uv.translation.to_array(),
            alpha_mode: alpha.to_shader(),
            material: 0,
        }
    }

    /// Creates an instance of the unit quad that covers `rect` in the local space of `world` and shows `uv` of an
    /// image.
    pub(crate) fn quad(
        world: &Affine3A,
        rect: Rect,
        uv: UvRect,
        tint: LinearRgba,
        alpha: AlphaMode,
    ) -> Self {
        let part = uv.max - uv.min;
        Self {
            world_from_local: quad_rows(world, rect),
            uv_axes: [part.x, 0.0, 0.0, part.y],
            tint: tint.to_f32_array(),
            uv_translation: uv.min.to_array(),
            alpha_mode: alpha.to_shader(),
            material: 0,
        }
    }

    /// Creates an instance of the unit triangle with these corners in the local space of `world`, and their
    /// texture coordinates.
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

    /// Whether all values are finite.
    pub(crate) fn is_finite(&self) -> bool {
        is_finite(bytemuck::cast_slice(std::slice::from_ref(self)))
    }

    /// Vertex layout of the draw order, which has the index of a row for each drawn instance: location 3.
    pub(crate) fn order_layout() -> VertexLayout {
        Self::order_layout_at(3)
    }

    /// Layout of the draw order at a location.
    pub(crate) fn order_layout_at(location: u32) -> VertexLayout {
        VertexLayout::packed(location, &[Format::R32_UINT]).per_instance()
    }
}

/// Rows of the matrix from the unit quad to `rect` in the local space of `world`.
pub(crate) fn quad_rows(world: &Affine3A, rect: Rect) -> AffineRows {
    // Product of `world` and the rectangle's scale and translation, without the zero terms.
    let (size, matrix) = (rect.size(), world.matrix3);
    let (x, y) = (matrix.x_axis * size.x, matrix.y_axis * size.y);
    let at = world.transform_point3a(rect.center().extend(0.0).into());
    affine_rows(Affine3A {
        matrix3: Mat3A::from_cols(x, y, matrix.z_axis),
        translation: at,
    })
}

/// Rectangle of texture coordinates, (0, 0) at the top left. `min` above `max` is flipped, which [`Rect`] does not
/// allow.
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

    /// Converts pixels of an image of this size.
    pub(crate) fn of_pixels(pixels: Rect, image_size: Vec2) -> Self {
        let size = image_size.max(Vec2::splat(1.0));
        Self {
            min: pixels.min / size,
            max: pixels.max / size,
        }
    }

    /// Returns the rectangle, flipped along the given axes.
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
