// The view, the time, images of decals, and the color behind transmissive surfaces by bevy's names:
// `bevy_pbr::render::mesh_view_bindings`.

import bevy_render::globals::Globals;
import bevy_render::view::View;
// Images of decals are among those of materials.
import quadrille_3d::scene::{clamped_sampler as clustered_decal_sampler, textures as clustered_decal_textures};
import quadrille_3d::scene::clamped_sampler as view_transmission_sampler;
import quadrille_3d::transmission::transmission_background as view_transmission_texture;

// In shadow maps only `clip_from_world` is set.
@if(QUADRILLE_SHADOW_PASS) var<private> view: View;
@else @group(0) @binding(25) var<uniform> view: View;

@group(0) @binding(26) var<uniform> globals: Globals;
