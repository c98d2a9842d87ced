// A column of light with rings that rise in it.

import bevy_pbr::render::{forward_io::VertexOutput, mesh_view_bindings::{globals, view}};

@group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> color: vec4f;

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    let to_eye = normalize(view.world_position - mesh.world_position.xyz);
    // The middle of the column is thickest.
    let facing = abs(dot(normalize(mesh.world_normal.xz), normalize(to_eye.xz)));
    let altitude = mesh.world_position.y;
    let ring = pow(0.5 + 0.5 * sin(0.55 * altitude - 5.0 * globals.time), 12.0);
    let height = 0.16 + 0.84 * exp(-0.022 * max(altitude, 0.0));
    let strength = (0.5 * facing * facing + 0.35 * ring * facing) * height;
    return vec4f(color.rgb * strength, 0.0);
}
