// Output of materials to the G-buffer, by bevy's names: `bevy_pbr::deferred::functions`.

@if(DEFERRED_PREPASS) import package::prepass::io::{FragmentOutput, VertexOutput};
import package::render::pbr_types::{
    PbrInput, STANDARD_MATERIAL_FLAGS_FOG_ENABLED_BIT, STANDARD_MATERIAL_FLAGS_UNLIT_BIT,
};
import quadrille_3d::constants::SHADOW_RECEIVER;
import quadrille_3d::gbuffer::{
    GBufferSurface, HAS_FOG_ENABLED, IS_SURFACE, IS_UNLIT, RECEIVES_SHADOWS, pack_gbuffer,
};
@if(DEFERRED_PREPASS && MOTION_VECTOR_PREPASS) import quadrille_3d::motion_vectors::motion_vector;
import quadrille_3d::scene::camera;

// Weights of channels in the luminance (Rec. 709).
const LUMINANCE: vec3f = vec3f(0.2126, 0.7152, 0.0722);

// Texel of the G-buffer.
fn deferred_gbuffer_from_pbr_input(in: PbrInput) -> vec4u {
    let material = in.material;
    var surface: GBufferSurface;
    surface.flags = IS_SURFACE;
    surface.normal = normalize(in.N);
    if (material.flags & STANDARD_MATERIAL_FLAGS_FOG_ENABLED_BIT) != 0u {
        surface.flags |= HAS_FOG_ENABLED;
    }
    if (material.flags & STANDARD_MATERIAL_FLAGS_UNLIT_BIT) != 0u {
        surface.flags |= IS_UNLIT;
        surface.emissive = material.base_color.rgb;
        return pack_gbuffer(surface);
    }
    if (in.flags & SHADOW_RECEIVER) != 0u {
        surface.flags |= RECEIVES_SHADOWS;
    }
    surface.base = material.base_color.rgb;
    surface.metallic = material.metallic;
    surface.perceptual_roughness = material.perceptual_roughness;
    surface.occlusion = dot(in.diffuse_occlusion, LUMINANCE);
    surface.reflectance = dot(material.reflectance, LUMINANCE);
    surface.emissive = material.emissive.rgb * mix(1.0, camera.exposure, material.emissive.a);
    let diffuse = material.base_color.rgb * (1.0 - material.metallic);
    surface.emissive += in.lightmap_light * diffuse * camera.exposure;
    return pack_gbuffer(surface);
}

// Outputs of a prepass with a G-buffer.
@if(DEFERRED_PREPASS)
fn deferred_output(in: VertexOutput, pbr_input: PbrInput) -> FragmentOutput {
    var out: FragmentOutput;
    out.deferred = deferred_gbuffer_from_pbr_input(pbr_input);
    @if(NORMAL_PREPASS) {
        let normal = in.world_normal * inverseSqrt(max(dot(in.world_normal, in.world_normal), 1e-38));
        out.normal = vec4f(normal * 0.5 + 0.5, 1.0);
    }
    @if(MOTION_VECTOR_PREPASS) {
        out.motion_vector = motion_vector(in.world_position, in.previous_world_position);
    }
    return out;
}
