//! Affine matrices as shaders read them.

use bevy_math::Affine3A;

/// The rows of an affine matrix.
pub(crate) type AffineRows = [[f32; 4]; 3];

/// The rows of an affine matrix, as shaders read it.
pub(crate) fn affine_rows(matrix: Affine3A) -> AffineRows {
    let (axes, at) = (matrix.matrix3, matrix.translation);
    [0, 1, 2].map(|row| {
        [
            axes.x_axis[row],
            axes.y_axis[row],
            axes.z_axis[row],
            at[row],
        ]
    })
}
