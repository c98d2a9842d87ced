// Fragment shader of materials of sprites without one: the sprite itself.

import bevy_sprite_render::mesh2d::vertex_output::VertexOutput;
import bevy_sprite_render::sprite_mesh::functions::sample_final_color;

@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
    return sample_final_color(mesh.uv, mesh.instance_index);
}
