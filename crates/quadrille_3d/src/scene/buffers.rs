//! Device buffers of tables and lists.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille::prelude::GpuBuffer;

/// Views: rows of `quadrille_3d::scene::View`.
#[derive(Resource, Deref)]
pub struct Views3d(pub(crate) GpuBuffer);

/// Views for shaders of materials: rows of `bevy_render::view::View`, in the order of [`Views3d`]. Written only while a
/// shader reads them.
#[derive(Resource, Deref)]
pub struct MaterialViews3d(pub(crate) GpuBuffer);

/// Time for shaders of materials: `bevy_render::globals::Globals`. Written only while a shader reads it.
#[derive(Resource, Deref)]
pub struct MaterialGlobals3d(pub(crate) GpuBuffer);

/// Lights of all views, 80 bytes each.
#[derive(Resource, Deref)]
pub struct Lights3d(pub(crate) GpuBuffer);

/// Shadow maps.
#[derive(Resource, Deref)]
pub struct ShadowViews3d(pub(crate) GpuBuffer);

/// Instance indices of transparent meshes, sorted back to front.
#[derive(Resource, Deref)]
pub struct TransparentInstances3d(pub(crate) GpuBuffer);

/// Instance table, 64 bytes per row.
#[derive(Resource, Deref)]
pub struct Instances3d(pub(crate) GpuBuffer);

/// Transforms of instances before they moved in this frame, 64 bytes each, in the order of [`Instances3d`]. Written only
/// for instances that move, while a camera has [`MotionVectorPrepass`](crate::MotionVectorPrepass).
#[derive(Resource, Deref)]
pub struct PreviousInstances3d(pub(crate) GpuBuffer);

/// Values of bevy's [`MeshTag`](bevy_mesh::MeshTag), a `u32` per instance in the order of [`Instances3d`], for shaders
/// of custom passes. Instances beyond the end have tag 0.
///
/// ```wgsl
/// @group(0) @binding(1) var<storage, read> tags: array<u32>;
///
/// fn tag_of(instance: u32) -> u32 {
///     return select(0u, tags[instance], instance < arrayLength(&tags));
/// }
/// ```
#[derive(Resource, Deref)]
pub struct MeshTags3d(pub(crate) GpuBuffer);

/// Vertex attributes of programs: for each mesh that has some the words of its vertices, 32 bits for each component.
#[derive(Resource, Deref)]
pub struct MeshAttributes3d(pub(crate) GpuBuffer);

/// Indices into [`MeshAttributes3d`] by instance, in the order of [`Instances3d`]: the first word of the vertex with index 0 in
/// [`Vertices3d`], modulo 2^32. Instances beyond the end have no such attributes.
#[derive(Resource, Deref)]
pub struct AttributeBases3d(pub(crate) GpuBuffer);

/// Vertex buffer of all meshes, and of deformed entities. Passes that declare a write have shadow maps drawn in each
/// frame; bytes of [`Uploads`](quadrille::prelude::Uploads) do not.
#[derive(Resource, Deref)]
pub struct Vertices3d(pub(crate) GpuBuffer);

/// Index buffer of all meshes.
#[derive(Resource, Deref)]
pub struct Indices3d(pub(crate) GpuBuffer);

/// Bounds, visibility flags and layers for culling, 32 bytes per instance, in the order of [`Instances3d`].
#[derive(Resource, Deref)]
pub struct Bounds3d(pub(crate) GpuBuffer);

/// Batches of instances with one mesh and pipeline, 32 bytes each.
#[derive(Resource, Deref)]
pub struct Batches3d(pub(crate) GpuBuffer);

/// Batch indices in draw order.
#[derive(Resource, Deref)]
pub struct BatchOrder3d(pub(crate) GpuBuffer);

/// Instance indices of all batches.
#[derive(Resource, Deref)]
pub struct BatchInstances3d(pub(crate) GpuBuffer);

/// Culled views: cameras and shadow maps.
#[derive(Resource, Deref)]
pub struct CullViews3d(pub(crate) GpuBuffer);

/// Visibility bits of render layer sets, per culled view.
#[derive(Resource, Deref)]
pub struct CullLayers3d(pub(crate) GpuBuffer);

/// Indirect draw arguments per culled view and batch.
#[derive(Resource, Deref)]
pub struct DrawArgs3d(pub(crate) GpuBuffer);

/// Instance indices of the draws in [`DrawArgs3d`].
#[derive(Resource, Deref)]
pub struct VisibleInstances(pub(crate) GpuBuffer);

/// Visibility of the previous frame: a bit per instance and camera with [`OcclusionCulling`](crate::OcclusionCulling).
#[derive(Resource, Deref)]
pub struct PreviousVisibility(pub(crate) GpuBuffer);

/// Indirect draw arguments of the late phase, by [`cull_late`](crate::systems::cull_late).
#[derive(Resource, Deref)]
pub struct LateDrawArgs(pub(crate) GpuBuffer);

/// Instance indices of the draws in [`LateDrawArgs`].
#[derive(Resource, Deref)]
pub struct LateVisibleInstances(pub(crate) GpuBuffer);

/// Clustered decals of the world, 80 bytes each, then their masks by view and slice.
#[derive(Resource, Deref)]
pub struct Decals3d(pub(crate) GpuBuffer);

/// Light textures of all views, 64 bytes each.
#[derive(Resource, Deref)]
pub struct LightTextures3d(pub(crate) GpuBuffer);

/// Lightmap table, 32 bytes per row.
#[derive(Resource, Deref)]
pub struct Lightmaps3d(pub(crate) GpuBuffer);

/// Material table, 192 bytes per row.
#[derive(Resource, Deref)]
pub struct Materials3d(pub(crate) GpuBuffer);

/// Rows of materials with their own shaders, grouped by type.
#[derive(Resource, Deref)]
pub struct CustomMaterials3d(pub(crate) GpuBuffer);

/// Light masks of the slices of all views.
#[derive(Resource, Deref)]
pub struct LightMasks3d(pub(crate) GpuBuffer);
