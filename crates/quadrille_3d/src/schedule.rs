//! System sets of a 3D frame.

use bevy_ecs::prelude::*;

/// Systems that prepare a 3D frame, in [`RenderSystems::Declare`](quadrille::prelude::RenderSystems::Declare).
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prepare3dSystems {
    /// Copies changes of meshes, materials and instances into tables.
    Extract,
    /// Extracts cameras with effects; in [`Self::Extract`].
    ExtractEffects,
    /// Queues views with their draws, lights and shadow maps.
    Queue,
    /// Creates images of views, and uploads lists.
    Prepare,
    /// Creates images of effects, and uploads their uniforms; in [`Self::Prepare`], after the images of views.
    PrepareEffects,
}

/// Passes of a 3D frame, in this order, except that [`Self::Cluster`] and [`Self::Environment`] only precede
/// [`Self::Opaque`], and [`Self::Skin`] and [`Self::Cull`] are unordered. All are in
/// [`ContentSystems::Draw3d`](quadrille_content::ContentSystems::Draw3d).
///
/// Passes of a camera with a later step ([`View3d::step`](crate::View3d::step)) come after all of an earlier one.
///
/// The resources that passes read and write are public. The [guide](crate::guide) lists them, and has examples of
/// custom passes.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pass3dSystems {
    /// [`skin_3d`](crate::systems::skin_3d).
    Skin,
    /// [`cull_3d`](crate::systems::cull_3d).
    Cull,
    /// [`cluster_3d`](crate::systems::cluster_3d), only ordered before [`Self::Opaque`].
    Cluster,
    /// [`shadow_3d`](crate::systems::shadow_3d).
    Shadow,
    /// [`filter_env_3d`](crate::systems::filter_env_3d) and
    /// [`atmosphere_luts_3d`](crate::systems::atmosphere_luts_3d).
    Environment,
    /// [`load_target_3d`](crate::systems::load_target_3d).
    LoadTarget,
    /// [`prepass_3d`](crate::systems::prepass_3d) and the other systems of prepasses.
    Prepass,
    /// [`opaque_3d`](crate::systems::opaque_3d).
    Opaque,
    /// [`depth_pyramid_3d`](crate::systems::depth_pyramid_3d), [`cull_late`](crate::systems::cull_late) and
    /// [`opaque_late`](crate::systems::opaque_late), in this order.
    OpaqueLate,
    /// [`skybox_3d`](crate::systems::skybox_3d), [`ssr_3d`](crate::systems::ssr_3d), then [`atmosphere_3d`](crate::systems::atmosphere_3d).
    Skybox,
    /// [`transmissive_3d`](crate::systems::transmissive_3d).
    Transmissive,
    /// [`transparent_3d`](crate::systems::transparent_3d).
    Transparent,
    /// Early effects, by bevy's name, which need the unmodified scene color: temporal antialiasing, motion blur, depth
    /// of field.
    EarlyPostProcess,
    /// Effects on scene-referred color, by bevy's name: bloom, lens effects, film grain.
    PostProcess,
    /// [`tonemap_3d`](crate::systems::tonemap_3d).
    Tonemap,
    /// Effects on display-referred color: antialiasing by image filters (FXAA, SMAA), sharpening, film grain.
    AfterTonemapping,
    /// [`composite_3d`](crate::systems::composite_3d).
    Composite,
    /// [`gizmos_3d`](crate::systems::gizmos_3d).
    Gizmos,
}
