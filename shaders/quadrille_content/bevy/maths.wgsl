// Numbers and matrices, by bevy's names: `bevy_render::maths`.

const PI: f32 = 3.14159265358979;
const PI_2: f32 = 6.28318530717959;
const HALF_PI: f32 = 1.5707963267949;
const FRAC_PI_3: f32 = 1.0471975511966;
const E: f32 = 2.71828182845905;

// Matrix of rows without the last one: 0, 0, 0, 1.
fn affine3_to_square(affine: mat3x4f) -> mat4x4f {
    return transpose(mat4x4f(affine[0], affine[1], affine[2], vec4f(0.0, 0.0, 0.0, 1.0)));
}

fn affine2_to_square(affine: mat3x2f) -> mat3x3f {
    return mat3x3f(vec3f(affine[0], 0.0), vec3f(affine[1], 0.0), vec3f(affine[2], 1.0));
}

fn mat4x4_to_mat3x3(m: mat4x4f) -> mat3x3f {
    return mat3x3f(m[0].xyz, m[1].xyz, m[2].xyz);
}

// The rows of the inverse are cross products of the columns over the determinant.
fn inverse_mat3x3(matrix: mat3x3f) -> mat3x3f {
    let x = cross(matrix[1], matrix[2]);
    let y = cross(matrix[2], matrix[0]);
    let z = cross(matrix[0], matrix[1]);
    return transpose(mat3x3f(x, y, z)) * (1.0 / dot(matrix[0], x));
}

// Magnitude of `a` with the sign of `b`.
fn copysign(a: f32, b: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(a) & 0x7fffffffu) | (bitcast<u32>(b) & 0x80000000u));
}

// Right-handed basis around a unit vector (T. Duff et al., "Building an Orthonormal Basis, Revisited", 2017).
fn orthonormalize(z_basis: vec3f) -> mat3x3f {
    let side = copysign(1.0, z_basis.z);
    let a = -1.0 / (side + z_basis.z);
    let b = z_basis.x * z_basis.y * a;
    let x_basis = vec3f(1.0 + side * z_basis.x * z_basis.x * a, side * b, -side * z_basis.x);
    let y_basis = vec3f(b, side + z_basis.y * z_basis.y * a, -z_basis.y);
    return mat3x3f(x_basis, y_basis, z_basis);
}

// Turns a vector by a unit quaternion.
fn quat_rotate(q: vec4f, dir: vec3f) -> vec3f {
    return dir + 2.0 * cross(q.xyz, cross(q.xyz, dir) + q.w * dir);
}

// Power of the magnitude, with the sign of the color.
fn powsafe(color: vec3f, power: f32) -> vec3f {
    return pow(abs(color), vec3f(power)) * sign(color);
}

// Part of `lhs` along `rhs`.
fn project_onto(lhs: vec3f, rhs: vec3f) -> vec3f {
    return rhs * (dot(lhs, rhs) / dot(rhs, rhs));
}
