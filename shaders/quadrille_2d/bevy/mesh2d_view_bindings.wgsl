// The time, by bevy's names: `bevy_sprite_render::mesh2d::view_bindings`.

import bevy_render::globals::Globals;

@group(0) @binding(4) var<uniform> globals: Globals;
