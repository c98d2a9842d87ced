//! Stages of a 3D frame: the sets that systems and passes are ordered by.

use bevy_ecs::prelude::*;

/// The systems that make a 3D frame ready, in [`RenderSystems::Declare`](quadrille::prelude::RenderSystems::Declare).
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prepare3dSystems {
    /// Copies changes of meshes, materials and instances into tables.
    Extract,
    /// Lists cameras with effects; in [`Self::Extract`].
    ExtractEffects,
    /// Lists views with their draws, lights and shadow maps.
    Queue,
    /// Creates images for them, and uploads the lists.
    Prepare,
    /// Creates images of effects, and uploads their uniforms; in [`Self::Prepare`], after the images of views.
    PrepareEffects,
}

/// The passes of a 3D frame, in this order but for [`Self::Cluster`] and [`Self::Environment`];
/// [`Self::Skin`] and [`Self::Cull`] are in no order. All are in [`ContentSystems::Draw3d`](quadrille_content::ContentSystems::Draw3d).
///
/// Passes of a camera with a later step ([`View3d::step`](crate::View3d::step)) come after all of an earlier one.
///
/// Resources that these read and write belong to this crate, and are public: the [guide](crate::guide)
/// has a table, and programs that put passes of their own between these.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pass3dSystems {
    /// [`skin_3d`](crate::skin_3d).
    Skin,
    /// [`cull_3d`](crate::cull_3d).
    Cull,
    /// [`cluster_3d`](crate::cluster_3d), before [`Self::Opaque`]: the order to others is free.
    Cluster,
    /// [`shadow_3d`](crate::shadow_3d).
    Shadow,
    /// [`filter_env_3d`](crate::filter_env_3d).
    Environment,
    /// [`opaque_3d`](crate::opaque_3d).
    Opaque,
    /// [`depth_pyramid_3d`](crate::depth_pyramid_3d), [`cull_late`](crate::cull_late) and [`opaque_late`](crate::opaque_late), in this order.
    OpaqueLate,
    /// [`skybox_3d`](crate::skybox_3d).
    Skybox,
    /// [`transparent_3d`](crate::transparent_3d).
    Transparent,
    /// Effects that belong before others, by bevy's name: those that need the scene as it was drawn, such as
    /// temporal antialiasing, motion blur and depth of field.
    EarlyPostProcess,
    /// Effects on linear light, by bevy's name: bloom, lens effects, film grain.
    PostProcess,
    /// [`tonemap_3d`](crate::tonemap_3d).
    Tonemap,
    /// [`gizmos_3d`](crate::gizmos_3d).
    Gizmos,
}
