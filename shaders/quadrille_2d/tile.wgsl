// Draws chunks of tilemaps: each is one quad, and each pixel finds its tile.

import quadrille_2d::vertex::{apply_alpha_mode, to_clip, to_world};

struct PackedTileData {
    // From the lowest bit: 16 for the layer, 1 for whether it is drawn, 3 for how it is turned: top
    // right and bottom left swapped, top and bottom swapped, left and right swapped.
    index_and_flags: u32,
    // Red in the lowest 8 bits, then green, blue, alpha.
    color: u32,
}

@group(0) @binding(0) var image: texture_2d_array<f32>;
@group(0) @binding(1) var image_sampler: sampler;
@group(0) @binding(2) var<storage, read> tiles: array<PackedTileData>;

struct Vertex {
    @location(0) position: vec3f,
    @location(1) uv: vec2f,
    // White; tiles have colors of their own.
    @location(2) color: vec4f,
    // Rows of the instance's affine matrix from the unit quad to world space.
    @location(3) world_from_local_0: vec4f,
    @location(4) world_from_local_1: vec4f,
    @location(5) world_from_local_2: vec4f,
    // How many tiles it has across and up, and where the first of them is.
    @location(6) tiles: vec3u,
    // Below 0: opaque. Up to 1: a mask with this threshold. Above: blend.
    @location(7) alpha_mode: f32,
}

struct VertexOutput {
    @builtin(position) position: vec4f,
    // In tiles, from the left bottom.
    @location(0) point: vec2f,
    @location(1) @interpolate(flat) tiles: vec3u,
    @location(2) @interpolate(flat) alpha_mode: f32,
}

@vertex
fn vertex_main(vertex: Vertex) -> VertexOutput {
    let rows = array(vertex.world_from_local_0, vertex.world_from_local_1, vertex.world_from_local_2);
    var fragment: VertexOutput;
    fragment.position = to_clip(to_world(rows, vertex.position));
    fragment.point = vec2f(vertex.uv.x, 1.0 - vertex.uv.y) * vec2f(vertex.tiles.xy);
    fragment.tiles = vertex.tiles;
    fragment.alpha_mode = vertex.alpha_mode;
    return fragment;
}

@fragment
fn fragment_main(fragment: VertexOutput) -> @location(0) vec4f {
    let last = fragment.tiles.xy - 1u;
    let tile_position = min(vec2u(max(fragment.point, vec2f(0.0))), last);
    let tile = tiles[fragment.tiles.z + tile_position.y * fragment.tiles.x + tile_position.x];
    let inside = fragment.point - vec2f(tile_position);
    var uv = vec2f(inside.x, 1.0 - inside.y);
    if (tile.index_and_flags & 0x80000u) != 0u {
        uv.x = 1.0 - uv.x;
    }
    if (tile.index_and_flags & 0x40000u) != 0u {
        uv.y = 1.0 - uv.y;
    }
    if (tile.index_and_flags & 0x20000u) != 0u {
        uv = uv.yx;
    }
    // The level of detail is that of the whole chunk, so that edges between tiles have no seams.
    let dx = dpdx(fragment.point);
    let dy = dpdy(fragment.point);
    let layer = tile.index_and_flags & 0xFFFFu;
    let texel = textureSampleGrad(image, image_sampler, uv, layer, dx, dy);
    let color = texel * unpack4x8unorm(tile.color);
    if (tile.index_and_flags & 0x10000u) == 0u || color.a < 0.001 {
        discard;
    }
    return apply_alpha_mode(color, fragment.alpha_mode);
}
