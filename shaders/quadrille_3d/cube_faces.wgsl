// Directions of the texels of cubes.

// Direction of a point on a face, both coordinates from -1 to 1; not normalized.
fn cube_direction(face_uv: vec2f, face: u32) -> vec3f {
    switch face {
        case 0u: { return vec3f(1.0, -face_uv.y, -face_uv.x); }
        case 1u: { return vec3f(-1.0, -face_uv.y, face_uv.x); }
        case 2u: { return vec3f(face_uv.x, 1.0, face_uv.y); }
        case 3u: { return vec3f(face_uv.x, -1.0, -face_uv.y); }
        case 4u: { return vec3f(face_uv.x, -face_uv.y, 1.0); }
        default: { return vec3f(-face_uv.x, -face_uv.y, -1.0); }
    }
}

fn texel_to_face_uv(at: vec2f, side: u32) -> vec2f {
    return at / f32(side) * 2.0 - 1.0;
}
