// Light textures (cookies): `PointLightTexture`, `SpotLightTexture`, `DirectionalLightTexture`.

import quadrille_3d::constants::{CROSS_HORIZONTAL, CROSS_VERTICAL, KIND_DIRECTIONAL, KIND_SPOT, SEQUENCE_VERTICAL};
import quadrille_3d::scene::sample_base_level;

struct LightTexture {
    // Rows of the affine matrix from the world to the light's space.
    light_from_world: array<vec4f, 3>,
    texture: u32,
    // Index of a layout in `CubemapLayout`, or one of those below.
    kind: u32,
    // Tangent of a spot light's outer angle.
    slope: f32,
    unused: u32,
}

@group(0) @binding(18) var<storage, read> light_textures: array<LightTexture>;

// Samples a light texture, numbered from 1, for a point in the world.
fn sample_light_texture(number: u32, world_position: vec3f) -> f32 {
    let light_texture = light_textures[number - 1u];
    let homogeneous_position = vec4f(world_position, 1.0);
    let at = vec3f(dot(light_texture.light_from_world[0], homogeneous_position), dot(light_texture.light_from_world[1], homogeneous_position), dot(light_texture.light_from_world[2], homogeneous_position));
    // Image rows run from top to bottom.
    if light_texture.kind == KIND_SPOT {
        let part = at.xy / (max(-at.z, 1e-12) * light_texture.slope);
        return sample_base_level(light_texture.texture, vec2f(0.5, -0.5) * part + 0.5).r;
    }
    // As in bevy, the image of a directional light is seen from the side that it shines on.
    if light_texture.kind >= KIND_DIRECTIONAL {
        let uv = vec2f(-0.5, 0.5) * at.xy + 0.5;
        if light_texture.kind == KIND_DIRECTIONAL && any(uv != saturate(uv)) {
            return 0.0;
        }
        return sample_base_level(light_texture.texture, fract(uv)).r;
    }
    return sample_base_level(light_texture.texture, cubemap_layout_uv(at, light_texture.kind)).r;
}

// Coordinates of a direction in an image with the six faces of a cube side by side: +x, -x, +y, -y, -z, +z.
fn cubemap_layout_uv(direction: vec3f, kind: u32) -> vec2f {
    let size = abs(direction);
    var side: u32;
    var uv: vec2f;
    if size.x >= max(size.y, size.z) {
        side = select(0u, 1u, direction.x < 0.0);
        uv = vec2f(direction.z * sign(direction.x), -direction.y) / size.x;
    } else if size.y >= size.z {
        side = select(2u, 3u, direction.y < 0.0);
        uv = vec2f(direction.x, -direction.z * sign(direction.y)) / size.y;
    } else {
        // The back face lies below the bottom face, and is upside down.
        side = select(5u, 4u, direction.z < 0.0);
        uv = vec2f(direction.x, direction.y * sign(direction.z)) / size.z;
    }
    var corner = vec2f(0.0);
    var count = vec2f(1.0);
    if kind == CROSS_VERTICAL || kind == CROSS_HORIZONTAL {
        let corners = array(
            vec2f(2.0, 1.0), vec2f(0.0, 1.0), vec2f(1.0, 0.0), vec2f(1.0, 2.0), vec2f(1.0, 1.0),
            select(vec2f(3.0, 1.0), vec2f(1.0, 3.0), kind == CROSS_VERTICAL),
        );
        corner = corners[side];
        count = select(vec2f(4.0, 3.0), vec2f(3.0, 4.0), kind == CROSS_VERTICAL);
    } else if kind == SEQUENCE_VERTICAL {
        corner.y = f32(side);
        count.y = 6.0;
    } else {
        corner.x = f32(side);
        count.x = 6.0;
    }
    return (corner + 0.5 * uv + 0.5) / count;
}
