//! No name of our preludes is also in bevy's, and 2D and 3D do not use one name for different items: programs
//! glob-import all of them.
//!
//! A name that two preludes give to different items cannot be imported here, so a collision does not compile.

// The compiler only warns about an item that is imported in several ways.
#![deny(ambiguous_glob_imports)]

#[allow(
    unused_imports,
    reason = "most of bevy's names are not ours, and none is used"
)]
mod all {
    pub(crate) use bevy_app::prelude::*;
    pub(crate) use bevy_asset::prelude::*;
    pub(crate) use bevy_camera::prelude::*;
    pub(crate) use bevy_color::prelude::*;
    pub(crate) use bevy_ecs::prelude::*;
    #[cfg(feature = "gizmos")]
    pub(crate) use bevy_gizmos::prelude::*;
    pub(crate) use bevy_light::prelude::*;
    #[cfg(feature = "bevy_material")]
    pub(crate) use bevy_material::prelude::*;
    pub(crate) use bevy_math::prelude::*;
    pub(crate) use bevy_mesh::prelude::*;
    pub(crate) use bevy_reflect::prelude::*;
    pub(crate) use bevy_shape::prelude::*;
    pub(crate) use bevy_transform::prelude::*;
    pub(crate) use bevy_ui::prelude::*;
    pub(crate) use quadrille::prelude::*;
    pub(crate) use quadrille_2d::prelude::*;
    pub(crate) use quadrille_3d::prelude::*;
}

#[allow(unused_imports, reason = "that they can be imported is the test")]
use all::{
    AlphaMode, ColorMaterial, DistanceFog, Exposure, FogFalloff, FreeCamera, FreeCameraPlugin,
    Lightmap, ManualTextureViews, MeshMaterial2d, MeshMaterial3d, Msaa, NotShadowCaster,
    OcclusionCulling, Quadrille2dPlugin, Quadrille3dPlugin, RenderLayers, StandardMaterial,
    Tonemapping, UploadBudget, Viewport,
};
#[cfg(feature = "gizmos")]
#[allow(unused_imports, reason = "that they can be imported is the test")]
use all::{Gizmo, GizmoPlugin, Gizmos};

#[test]
fn shared_names_refer_to_same_type() {
    let samples: quadrille_2d::prelude::Msaa = quadrille_3d::prelude::Msaa::default();
    assert_eq!(samples.samples(), 4);
}

#[cfg(feature = "bevy_material")]
#[test]
fn alpha_mode_is_bevys() {
    let name = std::any::type_name::<AlphaMode>();
    assert!(name.starts_with("bevy_material::"), "{name}");
}
