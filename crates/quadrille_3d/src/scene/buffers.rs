//! Buffers of the tables and lists on the device.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille::prelude::GpuBuffer;

/// The list of views: `quadrille_3d::scene::View` of shaders.
#[derive(Resource, Deref)]
pub struct Views3d(pub(crate) GpuBuffer);

/// The list of lights of all views: 80 bytes each.
#[derive(Resource, Deref)]
pub struct Lights3d(pub(crate) GpuBuffer);

/// The list of shadow maps.
#[derive(Resource, Deref)]
pub struct ShadowViews3d(pub(crate) GpuBuffer);

/// For each instance that others are seen through its place in the table of instances, from back
/// to front.
#[derive(Resource, Deref)]
pub struct TransparentInstances3d(pub(crate) GpuBuffer);

/// The table of instances: 64 bytes each.
#[derive(Resource, Deref)]
pub struct Instances3d(pub(crate) GpuBuffer);

/// the value of bevy's [`MeshTag`](bevy_mesh::MeshTag) of each instance, a `u32` each in the order of [`Instances3d`], for shaders of passes of
/// one's own. What lies behind its end is 0, as all of it is without tags.
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

/// The vertices of all meshes.
#[derive(Resource, Deref)]
pub struct Vertices3d(pub(crate) GpuBuffer);

/// The indices of all meshes.
#[derive(Resource, Deref)]
pub struct Indices3d(pub(crate) GpuBuffer);

/// Bounds and layers that instances are culled by: 32 bytes each, in the order of [`Instances3d`].
#[derive(Resource, Deref)]
pub struct Bounds3d(pub(crate) GpuBuffer);

/// The chunks of instances, each of one mesh and one pipeline: 32 bytes each.
#[derive(Resource, Deref)]
pub struct Batches3d(pub(crate) GpuBuffer);

/// The chunks in the order that they are drawn in.
#[derive(Resource, Deref)]
pub struct BatchOrder3d(pub(crate) GpuBuffer);

/// For each chunk the places of its instances in [`Instances3d`].
#[derive(Resource, Deref)]
pub struct BatchInstances3d(pub(crate) GpuBuffer);

/// The views that see something, cameras and shadow maps.
#[derive(Resource, Deref)]
pub struct CullViews3d(pub(crate) GpuBuffer);

/// For each of these views a bit for each set of render layers.
#[derive(Resource, Deref)]
pub struct CullLayers3d(pub(crate) GpuBuffer);

/// For each view and each chunk the arguments of its draw.
#[derive(Resource, Deref)]
pub struct DrawArgs3d(pub(crate) GpuBuffer);

/// For each instance of these draws its place in [`Instances3d`].
#[derive(Resource, Deref)]
pub struct VisibleInstances(pub(crate) GpuBuffer);

/// For each camera with [`OcclusionCulling`](crate::OcclusionCulling) a bit for each instance: it was seen in the frame before.
#[derive(Resource, Deref)]
pub struct PreviousVisibility(pub(crate) GpuBuffer);

/// The draws of what [`cull_late`](crate::cull_late) found, as [`DrawArgs3d`](crate::DrawArgs3d).
#[derive(Resource, Deref)]
pub struct LateDrawArgs(pub(crate) GpuBuffer);

/// The instances of these draws, as [`VisibleInstances`](crate::VisibleInstances).
#[derive(Resource, Deref)]
pub struct LateVisibleInstances(pub(crate) GpuBuffer);

/// Color gradings of views: a row of 256 bytes each.
#[derive(Resource, Deref)]
pub struct Gradings3d(pub(crate) GpuBuffer);

/// The list of images of lights of all views: 64 bytes each.
#[derive(Resource, Deref)]
pub struct LightTextures3d(pub(crate) GpuBuffer);

/// The table of lightmaps: 32 bytes each.
#[derive(Resource, Deref)]
pub struct Lightmaps3d(pub(crate) GpuBuffer);

/// The table of materials: 192 bytes each.
#[derive(Resource, Deref)]
pub struct Materials3d(pub(crate) GpuBuffer);

/// The bits of the lights of all slabs of all views.
#[derive(Resource, Deref)]
pub struct LightMasks3d(pub(crate) GpuBuffer);
