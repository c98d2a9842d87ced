// Depth of shadow casters in a shadow map: see `shadow_3d`.

enable wgpu_binding_array;

import quadrille_3d::constants::MIN_SHADOW_ALPHA;
import quadrille_3d::material_textures::{texture_coordinates, sample_texture};
import quadrille_3d::mesh_types::to_world;
import quadrille_3d::scene::{instances, materials, visible_instances};
import quadrille_3d::shadow_pass::{caster_position, clip_from_world};

@vertex
fn vertex_main(
    @builtin(instance_index) index: u32,
    @location(0) position: vec3f,
) -> @builtin(position) vec4f {
    return position_in_light_clip_space(visible_instances[index], position);
}

fn position_in_light_clip_space(instance_index: u32, position: vec3f) -> vec4f {
    let world_position = to_world(instances[instance_index], position);
    return caster_position(clip_from_world() * vec4f(world_position, 1.0));
}

struct AlphaMaskVertexOutput {
    @builtin(position) position: vec4f,
    @location(0) alpha: f32,
    @location(1) uvs: vec4f,
    @location(2) @interpolate(flat) material: u32,
}

@vertex
fn alpha_mask_vertex_main(
    @builtin(instance_index) index: u32,
    @location(0) position: vec3f,
    @location(2) color: vec4f,
    @location(3) uvs: vec4f,
) -> AlphaMaskVertexOutput {
    let instance_index = visible_instances[index];
    return AlphaMaskVertexOutput(position_in_light_clip_space(instance_index, position), color.a, uvs, instances[instance_index].material);
}

@fragment
fn alpha_mask_fragment_main(vertex_output: AlphaMaskVertexOutput) {
    let material = materials[vertex_output.material];
    let at = texture_coordinates(vertex_output.uvs, material, 1.0);
    let alpha = material.base_color.a * vertex_output.alpha * sample_texture(material.textures[0].x, at).a;
    // The threshold of a mask is at most 1; other modes have numbers above.
    if alpha < select(MIN_SHADOW_ALPHA, material.alpha, material.alpha <= 1.0) {
        discard;
    }
}
