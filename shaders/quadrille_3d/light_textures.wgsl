// Images that lights shine through: `PointLightTexture`, `SpotLightTexture`, `DirectionalLightTexture`.

import quadrille_3d::scene::first_level;

struct LightTexture {
    // The rows of the affine matrix from the world to the light's space.
    row_x: vec4f,
    row_y: vec4f,
    row_z: vec4f,
    texture: u32,
    // The place of a layout in `CubemapLayout`, or one of those below.
    kind: u32,
    // Of a spot light the tangent of its outer angle.
    slope: f32,
    unused: u32,
}

@group(0) @binding(18) var<storage, read> light_textures: array<LightTexture>;

const CROSS_VERTICAL: u32 = 0u;
const CROSS_HORIZONTAL: u32 = 1u;
const SEQUENCE_VERTICAL: u32 = 2u;
const CONE: u32 = 4u;
const ONCE: u32 = 5u;
const TILED: u32 = 6u;

// How much of a light goes through the image of a number to a place of the world.
fn let_through(number: u32, world: vec3f) -> f32 {
    let slide = light_textures[number - 1u];
    let place = vec4f(world, 1.0);
    let at = vec3f(dot(slide.row_x, place), dot(slide.row_y, place), dot(slide.row_z, place));
    // The image's first row is the upper one.
    if slide.kind == CONE {
        let part = at.xy / (max(-at.z, 1e-12) * slide.slope);
        return first_level(slide.texture, vec2f(0.5, -0.5) * part + 0.5).r;
    }
    // As in bevy that of a directional light is seen from the side that it shines on.
    if slide.kind >= ONCE {
        let uv = vec2f(-0.5, 0.5) * at.xy + 0.5;
        if slide.kind == ONCE && any(uv != saturate(uv)) {
            return 0.0;
        }
        return first_level(slide.texture, fract(uv)).r;
    }
    return first_level(slide.texture, unfolded(at, slide.kind)).r;
}

// Where a direction lies in an image that has the six sides of a cube beside each other: +x, -x, +y, -y, -z, +z.
fn unfolded(way: vec3f, kind: u32) -> vec2f {
    let size = abs(way);
    var side: u32;
    var uv: vec2f;
    if size.x >= max(size.y, size.z) {
        side = select(0u, 1u, way.x < 0.0);
        uv = vec2f(way.z * sign(way.x), -way.y) / size.x;
    } else if size.y >= size.z {
        side = select(2u, 3u, way.y < 0.0);
        uv = vec2f(way.x, -way.z * sign(way.y)) / size.y;
    } else {
        // What is behind hangs below what is beneath, so it stands on its head.
        side = select(5u, 4u, way.z < 0.0);
        uv = vec2f(way.x, way.y * sign(way.z)) / size.z;
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
