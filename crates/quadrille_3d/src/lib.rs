//! bevy's 3D components drawn by Quadrille: `Mesh3d` with standard materials, lit by bevy's lights,
//! under `Camera3d`.
//!
//! [`Quadrille3dPlugin`] replaces bevy's 3D renderer; apps keep bevy's components. The crate is built on the public
//! API of `quadrille` alone.
//!
//! # Model
//!
//! ```text
//! PostUpdate   bevy: transforms, visibility in the hierarchy, cascades
//! Declare      extract_meshes    changes -> rows of the tables of meshes, materials, instances
//!              update_mesh_transforms      moved entities -> rows of instances
//!              extract_skins     changed joints and weights
//!              queue_views     cameras, lights and shadow maps; transparent instances, sorted
//!              queue_environments  skyboxes, environment maps and probes of each view
//!              upload_scene     images of views and shadow maps; changed lists
//! passes       skin_3d          vertices of deformed meshes, once for all passes
//!              cull_3d          visible instances of all views: an indirect draw per batch
//!              cluster_3d       light masks of slices of views
//!              filter_env_3d    cube maps generated from new or changed images
//!              atmosphere_luts_3d  LUTs of atmospheres, when their medium, the view or a light changed
//!              shadow_3d        changed shadow maps, a pass per image
//!              load_target_3d   contents of targets, for effects of cameras that keep these
//!              prepass_3d       depth, normals and motion vectors of cameras with `DepthPrepass` or another prepass
//!              ssao_3d          ambient occlusion maps of cameras with `ScreenSpaceAmbientOcclusion`
//!              opaque_3d        one pass in the plan per camera, as for the following passes
//!              depth_pyramid_3d, cull_late, opaque_late  late phase of `OcclusionCulling`
//!              skybox_3d           background
//!              ssr_3d           reflections of cameras with `ScreenSpaceReflections`
//!              atmosphere_3d    sky of cameras with `AtmosphereSettings`, and air before surfaces
//!              copy_opaque_color_3d  color without blended surfaces, of cameras with `TemporalUpscaling`
//!              transparent_3d   back to front
//!              volumetric_fog_3d  boxes of fog between camera and surfaces
//!              temporal_upscaling_3d  color of the viewport's size, of cameras with `TemporalUpscaling`
//!              motion_blur_3d, taa_3d, bloom_3d, depth_of_field_3d, lens_effects_3d, auto_exposure_3d, effects of programs  on scene-referred colors
//!              tonemap_3d       scene-referred to display-referred colors
//!              display_lens_effects_3d, fxaa_3d, smaa_3d, sharpen_3d, effects of programs  on display-referred colors
//!              composite_3d     to the camera's target, if the view has an image of its own
//!              gizmos_3d        gizmo lines and wireframes, over the tone-mapped image
//! ```
//! Meshes share a vertex and an index buffer, materials a storage buffer, and textures a bindless table. So each
//! pipeline draws all of its meshes by one multi-draw indirect call, regardless of materials.
//!
//! # Rooms
//!
//! Folders by stage, each importing only earlier ones (`tests/rooms.rs`): `schedule`, `components`, `constants`, `tables`,
//! `scene`, `pipelines`, `skin`, `extract`, `environment`, `prepare`, `passes`, `camera_effect`, `effects`, `gltf`,
//! `free_camera`, `material`, `forward_decal`, `plugin`, `fullscreen_material`.
//!
//! An effect is one folder or file of `effects`. Components that the extraction or the views read (`ContactShadows`,
//! `OcclusionCulling`, `OrderIndependentTransparencySettings`, `ScreenSpaceTransmission`, the prepasses) are in `components`,
//! since `extract` and `prepare` come before `effects`.
//!
//! # Decisions
//!
//! - **Tables are retained.** A row is uploaded when its entity, mesh or material changes.
//! - **Culling is on the device**, for cameras and lights, by bevy's rules. The CPU only lists and sorts
//!   transparent instances.
//! - **Draw order is deterministic.** Visible instances are compacted by prefix sums instead of atomic counters, so
//!   that coplanar surfaces do not flicker.
//! - **One pass for all shadow maps.** A light adds draws, but no pass and no schedule run.
//! - **Shadow maps are cached** (`prepare/shadow_cache.rs`): a tile is drawn again when its view, or a caster in that view,
//!   has changed; all are where changes are not tracked, such as buffers that passes of programs write.
//! - **Pre-exposure.** Color images of views have radiance times exposure, so half floats suffice.
//! - **The background is not tone mapped** unless its camera has `Hdr`, as in bevy: clear colors are
//!   display-referred then.
//! - **Gizmos are drawn after tone mapping**, to images of their own with the samples of the depth: their colors
//!   are display-referred.
//! - **Depth is reversed with an infinite far plane**, as in bevy's projections.

mod camera_effect;
mod components;
mod constants;
mod effects;
mod environment;
mod extract;
mod forward_decal;
mod free_camera;
mod fullscreen_material;
#[cfg(feature = "gltf")]
mod gltf;
pub mod guide;
mod material;
mod passes;
mod pipelines;
mod plugin;
mod prepare;
mod scene;
mod schedule;
mod skin;
mod tables;

#[cfg(feature = "gltf")]
pub use bevy_gltf::GltfLoaderSettings;
pub use bevy_mesh::MeshVertexBufferLayoutRef;
pub use camera_effect::{
    CameraEffect, CameraEffectPlugin, EffectFrame, EffectImage, EffectImages, EffectUniforms,
    EffectView, EffectViews,
};
pub use components::camera_cut::CameraCut;
pub use components::contact_shadows::ContactShadows;
pub use components::deferred::{DefaultOpaqueRendererMethod, DeferredPrepass};
pub use components::lightmap::Lightmap;
pub use components::material::{
    AlphaMode, MeshMaterial3d, OpaqueRendererMethod, ParallaxMappingMethod, StandardMaterial,
};
pub use components::mip_bias::MipBias;
pub use components::occlusion_culling::OcclusionCulling;
pub use components::order_independent_transparency::OrderIndependentTransparencySettings;
pub use components::prepass::{
    DepthPrepass, MotionVectorPrepass, NoBackgroundMotionVectors, NormalPrepass,
};
pub use components::temporal_jitter::TemporalJitter;
pub use components::transmission::{ScreenSpaceTransmission, ScreenSpaceTransmissionQuality};
pub use effects::atmosphere::{AtmosphereMode, AtmosphereSettings};
pub use effects::auto_exposure;
pub use effects::bloom::{Bloom, BloomCompositeMode, BloomPrefilter, UnweightedBloom};
pub use effects::depth_of_field::{DepthOfField, DepthOfFieldMode, calculate_focal_length};
pub use effects::film_grain::FilmGrain;
pub use effects::fog::{DistanceFog, FogFalloff};
pub use effects::fxaa::{Fxaa, Sensitivity};
pub use effects::lens::{ChromaticAberration, LensDistortion, Vignette};
pub use effects::motion_blur::MotionBlur;
pub use effects::sharpening::ContrastAdaptiveSharpening;
pub use effects::smaa::{Smaa, SmaaPreset};
pub use effects::ssao::{ScreenSpaceAmbientOcclusion, ScreenSpaceAmbientOcclusionQualityLevel};
pub use effects::ssr::ScreenSpaceReflections;
pub use effects::taa::TemporalAntiAliasing;
pub use effects::tonemapping::{
    ColorGrading, ColorGradingGlobal, ColorGradingSection, DebandDither, Tonemapping,
};
pub use effects::upscaling::TemporalUpscaling;
pub use effects::wireframe;
pub use forward_decal::{ForwardDecal, ForwardDecalMaterial, ForwardDecalMaterialExt};
pub use free_camera::{FreeCamera, FreeCameraPlugin, FreeCameraState, VerticalMovementAxis};
pub use fullscreen_material::{FullscreenMaterial, FullscreenMaterialPlugin};
#[cfg(feature = "gltf")]
pub use gltf::{CheckedGltfError, GltfLimits};
pub use material::{
    ExtendedMaterial, Material, MaterialExtension, MaterialExtensionKey, MaterialExtensionPipeline,
    MaterialPipeline, MaterialPipelineKey, MaterialPlugin,
};
pub use plugin::{PipelineWait, Quadrille3dPlugin};
pub use prepare::view_colors::{PostProcess, PostProcessWrite};
pub use quadrille_content as content;
pub use quadrille_content::materials::{
    FragmentState, RenderPipelineDescriptor, SpecializedMeshPipelineError, VertexState,
};
pub use scene::frame::{LateResolve, Scene3d, View3d};
pub use schedule::{Pass3dSystems, Prepare3dSystems};

/// Systems of 3D, for `before` and `after`, and the parameters that they share with passes of programs.
pub mod systems {
    pub use crate::effects::atmosphere::{atmosphere_3d, atmosphere_luts_3d};
    pub use crate::effects::auto_exposure::auto_exposure_3d;
    pub use crate::effects::bloom::bloom_3d;
    pub use crate::effects::depth_of_field::depth_of_field_3d;
    pub use crate::effects::film_grain::film_grain_3d;
    pub use crate::effects::fxaa::fxaa_3d;
    pub use crate::effects::gizmos::gizmos_3d;
    pub use crate::effects::lens::{display_lens_effects_3d, lens_effects_3d};
    pub use crate::effects::motion_blur::motion_blur_3d;
    pub use crate::effects::occlusion_culling::{cull_late, depth_pyramid_3d, opaque_late};
    pub use crate::effects::oit::order_independent_3d;
    pub use crate::effects::prepass::prepass_3d;
    pub use crate::effects::sharpening::sharpen_3d;
    pub use crate::effects::skybox::skybox_3d;
    pub use crate::effects::smaa::smaa_3d;
    pub use crate::effects::ssao::ssao_3d;
    pub use crate::effects::ssr::ssr_3d;
    pub use crate::effects::taa::taa_3d;
    pub use crate::effects::tonemapping::tonemap_3d;
    pub use crate::effects::transmission::transmissive_3d;
    pub use crate::effects::upscaling::{copy_opaque_color_3d, temporal_upscaling_3d};
    pub use crate::effects::volumetric_fog::volumetric_fog_3d;
    pub use crate::environment::filter::filter_env_3d;
    pub use crate::free_camera::run_freecamera_controller;
    pub use crate::passes::cluster::cluster_3d;
    pub use crate::passes::composite::composite_3d;
    pub use crate::passes::cull::cull_3d;
    pub use crate::passes::draw::{Culled3d, Geometry3d, Lighting3d, ViewTargets3d};
    pub use crate::passes::load_target::load_target_3d;
    pub use crate::passes::opaque::opaque_3d;
    pub use crate::passes::shadow::shadow_3d;
    pub use crate::passes::transparent::transparent_3d;
    pub use crate::skin::skin_3d;
}

/// Images and buffers of 3D, for passes of programs that declare them: `StorageRead<Instances3d>`,
/// `Sampled<SceneDepths>`. [`guide`] lists the passes that write them.
///
/// Their contents are for shaders alone. WGSL structs of the rows are in published modules, such as
/// `quadrille_3d::scene` and `quadrille_3d::mesh_types`; no Rust type has the rows.
pub mod resources {
    pub use crate::camera_effect::ViewTransforms3d;
    pub use crate::effects::atmosphere::{AtmosphereLuts3d, AtmosphereMedia3d};
    pub use crate::effects::gizmos::{GizmoColors, GizmoMsaaColors};
    pub use crate::effects::oit::FragmentLists3d;
    pub use crate::effects::transmission::TransmissionBackgrounds3d;
    pub use crate::environment::filter::{FilterCubes3d, FilterResults3d, FilterSources3d};
    pub use crate::environment::maps::{Cubes3d, EnvironmentMaps3d};
    pub use crate::extract::custom_materials::bound::{
        MaterialBuffers3d, MaterialImages3d, WrittenMaterialBuffers3d, WrittenMaterialImages3d,
    };
    pub use crate::passes::display::{Gradings3d, TonemappingLutImages};
    pub use crate::prepare::occlusion_maps::AmbientOcclusionMaps3d;
    pub use crate::prepare::shadow_maps::{PointShadowFaces, ShadowAtlas};
    pub use crate::prepare::targets::{
        DepthPyramids3d, GBuffers3d, PrepassDepths3d, PrepassMotionVectors3d, PrepassNormals3d,
        PreviousDepths3d, SceneColors, SceneDepths, SceneMsaaColors, TargetCopies,
    };
    pub use crate::prepare::view_colors::ViewColors;
    pub use crate::scene::buffers::{
        AttributeBases3d, BatchInstances3d, BatchOrder3d, Batches3d, Bounds3d, CullLayers3d,
        CullViews3d, CustomMaterials3d, DrawArgs3d, Indices3d, Instances3d, LateDrawArgs,
        LateVisibleInstances, LightMasks3d, Lights3d, MaterialGlobals3d, MaterialViews3d,
        Materials3d, MeshAttributes3d, MeshTags3d, PreviousInstances3d, PreviousVisibility,
        ShadowViews3d, TransparentInstances3d, Vertices3d, Views3d, VisibleInstances,
    };
    pub use crate::skin::{PreviousPositions3d, SkinJobs3d, SkinPoses3d, SkinSources3d};
}

/// Prelude of 3D programs: bevy's content crates, and this one.
pub mod prelude {
    pub use crate::{
        AlphaMode, ColorGrading, ColorGradingGlobal, ColorGradingSection, DebandDither,
        DefaultOpaqueRendererMethod, DeferredPrepass, DepthPrepass, DistanceFog, ExtendedMaterial,
        FogFalloff, FreeCamera, FreeCameraPlugin, Lightmap, Material, MaterialExtension,
        MaterialPlugin, MeshMaterial3d, MotionVectorPrepass, NormalPrepass, OcclusionCulling,
        ParallaxMappingMethod, Quadrille3dPlugin, StandardMaterial, Tonemapping,
    };
    pub use bevy_asset::prelude::*;
    pub use bevy_camera::prelude::*;
    pub use bevy_camera::visibility::RenderLayers;
    pub use bevy_camera::{
        Exposure, MainPassResolutionOverride, RenderTarget, ScalingMode, Viewport,
    };
    pub use bevy_color::prelude::*;
    #[cfg(feature = "gizmos")]
    pub use bevy_gizmos::GizmoPlugin;
    #[cfg(feature = "gizmos")]
    pub use bevy_gizmos::prelude::*;
    pub use bevy_image::Image;
    pub use bevy_light::prelude::*;
    pub use bevy_light::{
        CascadeShadowConfigBuilder, DirectionalLightTexture, GeneratedEnvironmentMapLight,
        IrradianceVolume, NotShadowCaster, NotShadowReceiver, ParallaxCorrection,
        PointLightTexture, Skybox, SpotLightTexture, TransmittedShadowReceiver,
    };
    pub use bevy_math::prelude::*;
    pub use bevy_mesh::prelude::*;
    pub use bevy_reflect::TypePath;
    pub use bevy_shape::prelude::*;
    pub use bevy_transform::prelude::*;
    pub use quadrille::material::{AsBindGroup, ShaderBuffer};
    pub use quadrille_content::cameras::{ManualTextureViews, Msaa};
    pub use quadrille_content::images::UploadBudget;
    pub use quadrille_content::shaders::{Shader, ShaderRef};
    #[cfg(feature = "gltf")]
    pub use {
        bevy_animation::prelude::*, bevy_gltf::prelude::*, bevy_world_serialization::WorldAssetRoot,
    };
}

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
