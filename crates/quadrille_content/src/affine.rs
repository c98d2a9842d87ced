//! Affine matrices in row-major layout for shaders.

use bevy_math::Affine3A;

/// Rows of an affine 3x4 matrix.
pub type AffineRows = [[f32; 4]; 3];

/// Returns the rows of an affine matrix.
///
/// ```
/// # use bevy_math::{Affine3A, Vec3};
/// let rows = quadrille_content::affine::affine_rows(Affine3A::from_translation(Vec3::new(1.0, 2.0, 3.0)));
/// assert_eq!(rows[1], [0.0, 1.0, 0.0, 2.0]);
/// ```
pub fn affine_rows(matrix: Affine3A) -> AffineRows {
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
