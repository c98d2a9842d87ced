// Flags of instances, by bevy's names: `bevy_pbr::render::mesh_types`.

import quadrille_3d::constants::{SHADOW_RECEIVER, TRANSMITTED_SHADOW_RECEIVER};

const MESH_FLAGS_SHADOW_RECEIVER_BIT: u32 = SHADOW_RECEIVER;
const MESH_FLAGS_TRANSMITTED_SHADOW_RECEIVER_BIT: u32 = TRANSMITTED_SHADOW_RECEIVER;
