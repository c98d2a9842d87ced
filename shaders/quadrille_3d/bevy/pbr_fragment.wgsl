// Inputs of shading from the material of an instance, by bevy's names: `bevy_pbr::render::pbr_fragment`.

@if(PREPASS_PIPELINE) import package::prepass::io::VertexOutput;
@if(!PREPASS_PIPELINE) import package::render::forward_io::VertexOutput;
import package::render::mesh_functions::instance_of;
import package::render::pbr_functions::{
    apply_normal_mapping, calculate_tbn_mikktspace, calculate_view, prepare_world_normal,
};
import package::render::pbr_types::{
    PbrInput, STANDARD_MATERIAL_FLAGS_ALPHA_MODE_ADD, STANDARD_MATERIAL_FLAGS_ALPHA_MODE_ALPHA_TO_COVERAGE,
    STANDARD_MATERIAL_FLAGS_ALPHA_MODE_BLEND, STANDARD_MATERIAL_FLAGS_ALPHA_MODE_MASK,
    STANDARD_MATERIAL_FLAGS_ALPHA_MODE_MULTIPLY, STANDARD_MATERIAL_FLAGS_ALPHA_MODE_OPAQUE,
    STANDARD_MATERIAL_FLAGS_ALPHA_MODE_PREMULTIPLIED, STANDARD_MATERIAL_FLAGS_DOUBLE_SIDED_BIT,
    STANDARD_MATERIAL_FLAGS_FLIP_NORMAL_MAP_Y, STANDARD_MATERIAL_FLAGS_FOG_ENABLED_BIT,
    STANDARD_MATERIAL_FLAGS_METALLIC_ROUGHNESS_RG_BIT, STANDARD_MATERIAL_FLAGS_TWO_COMPONENT_NORMAL_MAP,
    STANDARD_MATERIAL_FLAGS_UNLIT_BIT, pbr_input_new,
};
import quadrille_3d::constants::{
    ALPHA_ADD, ALPHA_MULTIPLY, ALPHA_PREMULTIPLIED, ALPHA_TO_COVERAGE, DOUBLE_SIDED, FLIP_NORMAL_MAP_Y, FOG_ENABLED,
    LIGHTMAP_SHIFT, METALLIC_IN_GREEN, NO_TEXTURE, TWO_COMPONENT_NORMAL_MAP, UNLIT,
};
import quadrille_3d::lightmaps::{lightmaps, sample_lightmap};
import quadrille_3d::material_textures::{MIN_UV, TextureCoordinates, texture_coordinates};
import quadrille_3d::mesh_types::{Instance, is_mirrored};
import quadrille_3d::pbr::{
    HAS_BASE_COLOR_TEXTURE, HAS_EXTENDED_FEATURES, HAS_TEXTURES, base_color_texture, sample_or_white, world_thickness,
};
import quadrille_3d::scene::{Material, camera, materials};
import quadrille_3d::transmission::HAS_SPECULAR_TRANSMISSION;

// Vertex shaders of programs write no color for meshes without vertex colors.
@if(VERTEX_COLORS)
fn vertex_color(in: VertexOutput) -> vec4f {
    return in.color;
}
@if(!VERTEX_COLORS)
fn vertex_color(in: VertexOutput) -> vec4f {
    return vec4f(1.0);
}

// Inputs without the material.
fn pbr_input_from_vertex_output(in: VertexOutput, is_front: bool, double_sided: bool) -> PbrInput {
    var pbr_input = pbr_input_new();
    let matrix = camera.clip_from_world;
    pbr_input.is_orthographic = matrix[0].w == 0.0 && matrix[1].w == 0.0 && matrix[2].w == 0.0;
    let instance = instance_of(in.instance_index);
    pbr_input.flags = instance.flags;
    pbr_input.frag_coord = in.position;
    pbr_input.world_position = in.world_position;
    pbr_input.V = calculate_view(in.world_position, pbr_input.is_orthographic);
    // Lines and points may have no normal: theirs points to the view.
    let square = dot(in.world_normal, in.world_normal);
    let normal = select(pbr_input.V, in.world_normal * inverseSqrt(max(square, 1e-38)), square > 0.0);
    // Mirrored transforms turn the winding, which other materials need not know.
    let is_back = double_sided && is_front == is_mirrored(instance);
    pbr_input.world_normal = prepare_world_normal(normal, double_sided, !is_back);
    pbr_input.N = pbr_input.world_normal;
    pbr_input.material.base_color = vertex_color(in);
    return pbr_input;
}

// Inputs with the material of the instance, its textures included. As in bevy, what the material of an extension lacks is
// not evaluated, whatever its shader sets: pipelines are specialized.
fn pbr_input_from_standard_material(in: VertexOutput, is_front: bool) -> PbrInput {
    let instance = instance_of(in.instance_index);
    let row = materials[instance.material];
    let double_sided = (row.flags & DOUBLE_SIDED) != 0u;
    var pbr_input = pbr_input_from_vertex_output(in, is_front, double_sided);
    var at = TextureCoordinates();
    if HAS_BASE_COLOR_TEXTURE {
        at = texture_coordinates(vec4f(in.uv, in.uv_b), row, camera.mip_scale);
    }
    let flags = flags_of(row);
    pbr_input.material.flags = flags;
    // Thresholds of masks are at most 1.
    pbr_input.material.alpha_cutoff = select(0.5, row.alpha, row.alpha <= 1.0);
    pbr_input.material.base_color = row.base_color * vertex_color(in) * base_color_texture(row, at);
    pbr_input.material.emissive = row.emissive * vec4f(sample_or_white(row.textures[0].y, at).rgb, 1.0);
    var metallic_roughness = sample_or_white(row.textures[0].z, at).bg;
    if (row.flags & METALLIC_IN_GREEN) != 0u {
        metallic_roughness = sample_or_white(row.textures[0].z, at).gr;
    }
    pbr_input.material.metallic = row.metallic * metallic_roughness.x;
    pbr_input.material.perceptual_roughness = row.perceptual_roughness * metallic_roughness.y;
    pbr_input.diffuse_occlusion = vec3f(sample_or_white(row.textures[0].w, at).r);
    let specular = select(1.0, 0.5 * sample_or_white(row.textures[1].y, at).a, row.textures[1].y != NO_TEXTURE);
    pbr_input.material.reflectance = row.reflectance * specular * sample_or_white(row.textures[1].z, at).rgb;
    pbr_input.material.uv_transform = mat3x3f(
        vec3f(row.uv_axes[0], 0.0),
        vec3f(row.uv_axes[1], 0.0),
        vec3f(row.uv_offset, 1.0),
    );
    if HAS_EXTENDED_FEATURES {
        set_extended_features(&pbr_input, in, instance, row, at);
    }
    let has_tangents = dot(in.world_tangent.xyz, in.world_tangent.xyz) > 0.0;
    if HAS_TEXTURES && has_tangents && row.textures[1].x != NO_TEXTURE {
        let tbn = calculate_tbn_mikktspace(in.world_normal, in.world_tangent);
        let texel = sample_or_white(row.textures[1].x, at).xyz;
        let is_logically_front = is_front != is_mirrored(instance);
        pbr_input.N = apply_normal_mapping(flags, tbn, double_sided, is_logically_front, texel);
    }
    pbr_input.clearcoat_N = pbr_input.world_normal;
    if HAS_SPECULAR_TRANSMISSION || HAS_EXTENDED_FEATURES {
        pbr_input.material.attenuation = row.attenuation_and_diffuse_transmission.rgb;
        pbr_input.material.thickness = world_thickness(pbr_input.N, row, instance, at);
    }
    if HAS_SPECULAR_TRANSMISSION {
        pbr_input.material.ior = row.ior;
        pbr_input.material.specular_transmission = row.specular_transmission * sample_or_white(row.textures[3].x, at).r;
    }
    return pbr_input;
}

// Sets clearcoat, diffuse transmission and lightmap.
fn set_extended_features(
    pbr_input: ptr<function, PbrInput>,
    in: VertexOutput,
    instance: Instance,
    row: Material,
    at: TextureCoordinates,
) {
    let material = &(*pbr_input).material;
    (*material).clearcoat = row.clearcoat * sample_or_white(row.textures[1].w, at).r;
    (*material).clearcoat_perceptual_roughness = row.clearcoat_roughness * sample_or_white(row.textures[2].x, at).g;
    (*material).diffuse_transmission = row.attenuation_and_diffuse_transmission.a * sample_or_white(row.textures[3].z, at).a;
    let number = instance.flags >> LIGHTMAP_SHIFT;
    // As without a lightmap where its image is not loaded yet, and where the mesh has no coordinates for it.
    if number != 0u && lightmaps[number - 1u].texture != NO_TEXTURE && in.uv_b.x > MIN_UV {
        (*pbr_input).lightmap_light = sample_lightmap(lightmaps[number - 1u], in.uv_b) * row.lightmap_exposure;
    } else {
        (*pbr_input).flags &= (1u << LIGHTMAP_SHIFT) - 1u;
    }
}

// Flags of a row of materials by bevy's numbers.
fn flags_of(row: Material) -> u32 {
    var flags = select(0u, STANDARD_MATERIAL_FLAGS_DOUBLE_SIDED_BIT, (row.flags & DOUBLE_SIDED) != 0u);
    flags |= select(0u, STANDARD_MATERIAL_FLAGS_UNLIT_BIT, (row.flags & UNLIT) != 0u);
    flags |= select(0u, STANDARD_MATERIAL_FLAGS_FOG_ENABLED_BIT, (row.flags & FOG_ENABLED) != 0u);
    flags |= select(0u, STANDARD_MATERIAL_FLAGS_FLIP_NORMAL_MAP_Y, (row.flags & FLIP_NORMAL_MAP_Y) != 0u);
    flags |= select(0u, STANDARD_MATERIAL_FLAGS_TWO_COMPONENT_NORMAL_MAP, (row.flags & TWO_COMPONENT_NORMAL_MAP) != 0u);
    flags |= select(0u, STANDARD_MATERIAL_FLAGS_METALLIC_ROUGHNESS_RG_BIT, (row.flags & METALLIC_IN_GREEN) != 0u);
    return flags | alpha_mode_of(row.alpha);
}

fn alpha_mode_of(alpha: f32) -> u32 {
    if alpha < 0.0 {
        return STANDARD_MATERIAL_FLAGS_ALPHA_MODE_OPAQUE;
    }
    if alpha <= 1.0 {
        return STANDARD_MATERIAL_FLAGS_ALPHA_MODE_MASK;
    }
    if alpha == ALPHA_PREMULTIPLIED {
        return STANDARD_MATERIAL_FLAGS_ALPHA_MODE_PREMULTIPLIED;
    }
    if alpha == ALPHA_ADD {
        return STANDARD_MATERIAL_FLAGS_ALPHA_MODE_ADD;
    }
    if alpha == ALPHA_MULTIPLY {
        return STANDARD_MATERIAL_FLAGS_ALPHA_MODE_MULTIPLY;
    }
    if alpha == ALPHA_TO_COVERAGE {
        return STANDARD_MATERIAL_FLAGS_ALPHA_MODE_ALPHA_TO_COVERAGE;
    }
    return STANDARD_MATERIAL_FLAGS_ALPHA_MODE_BLEND;
}
