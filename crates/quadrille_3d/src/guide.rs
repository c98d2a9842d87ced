//! Custom passes in a 3D frame: between built-in passes, in place of one, and on another queue.
//!
//! A pass is a bevy system that takes a [`Recorder`](quadrille::prelude::Recorder). Its other parameters declare its
//! accesses, from which the plan derives barriers, waits and queue family ownership transfers. The passes of 3D are
//! such systems, in public sets, and share data by public resources, so your passes can be ordered around them and
//! access the same resources.
//!
//! # The passes and their handles
//!
//! | set of [`Pass3dSystems`] | system | reads | writes |
//! | --- | --- | --- | --- |
//! | `Skin` | [`skin_3d`] | [`SkinJobs3d`], [`SkinSources3d`], [`SkinPoses3d`] | [`Vertices3d`], [`PreviousPositions3d`] |
//! | `Cull` | [`cull_3d`] | [`Instances3d`], [`Bounds3d`], [`Batches3d`], [`BatchOrder3d`], [`BatchInstances3d`], [`CullViews3d`], [`CullLayers3d`] | [`DrawArgs3d`], [`VisibleInstances`] |
//! | `Cluster` | [`cluster_3d`] | [`Views3d`], [`Lights3d`] | [`LightMasks3d`] |
//! | `Environment` | [`filter_env_3d`]; [`atmosphere_luts_3d`], for [`AtmosphereSettings`] | [`FilterSources3d`]; [`AtmosphereMedia3d`] | [`FilterCubes3d`], [`FilterResults3d`]; [`AtmosphereLuts3d`] |
//! | `Shadow` | [`shadow_3d`] | [`Geometry3d`], [`Culled3d`], [`ShadowViews3d`] | [`ShadowAtlas`], [`PointShadowFaces`] |
//! | `LoadTarget` | [`load_target_3d`], for effects of cameras that keep their target | [`CameraTargets`] | [`TargetCopies`], [`SceneMsaaColors`], [`SceneColors`] |
//! | `Prepass` | [`prepass_3d`], for [`DepthPrepass`], [`NormalPrepass`] and [`MotionVectorPrepass`]; [`ssao_3d`], for [`ScreenSpaceAmbientOcclusion`] | [`Geometry3d`], [`Culled3d`], [`Materials3d`], [`PreviousInstances3d`], [`PreviousPositions3d`], [`ViewTransforms3d`] | [`SceneDepths`], [`PrepassDepths3d`], [`PrepassNormals3d`], [`PrepassMotionVectors3d`], [`AmbientOcclusionMaps3d`] |
//! | `Opaque` | [`opaque_3d`] | [`Geometry3d`], [`Culled3d`], [`Lighting3d`], [`PrepassDepths3d`], [`PrepassNormals3d`], [`PrepassMotionVectors3d`] | [`SceneMsaaColors`], [`SceneColors`], [`SceneDepths`] |
//! | `OpaqueLate` | [`depth_pyramid_3d`], [`cull_late`], [`opaque_late`], for [`OcclusionCulling`] | [`SceneDepths`], what `Cull` and `Opaque` read | [`DepthPyramids3d`], [`PreviousVisibility`], [`LateDrawArgs`], [`LateVisibleInstances`], [`SceneMsaaColors`], [`SceneDepths`] |
//! | `Skybox` | [`skybox_3d`]; [`ssr_3d`], for [`ScreenSpaceReflections`]; [`atmosphere_3d`] | [`Cubes3d`], [`GBuffers3d`], [`Lighting3d`], [`AtmosphereLuts3d`], [`SceneDepths`] | [`SceneMsaaColors`], [`SceneColors`] |
//! | `Transmissive` | [`transmissive_3d`], for [`ScreenSpaceTransmission`] | [`Geometry3d`], [`TransparentInstances3d`], [`Lighting3d`], [`TransmissionBackgrounds3d`] | [`TransmissionBackgrounds3d`], [`SceneMsaaColors`], [`SceneColors`], [`SceneDepths`] |
//! | `Transparent` | [`copy_opaque_color_3d`], for [`TemporalUpscaling`]; [`order_independent_3d`], for [`OrderIndependentTransparencySettings`]; [`transparent_3d`] | [`Geometry3d`], [`TransparentInstances3d`], [`Lighting3d`], [`SceneDepths`] | [`FragmentLists3d`], [`SceneMsaaColors`], [`SceneColors`] |
//! | `EarlyPostProcess` | effects on scene-referred colors | [`ViewColors`], [`SceneDepths`] | [`PostProcess`] |
//! | `Upscale` | [`temporal_upscaling_3d`], for [`TemporalUpscaling`] | [`ViewColors`], [`SceneDepths`], [`PrepassMotionVectors3d`], [`PreviousDepths3d`] | [`PostProcess`] |
//! | `PostProcess` | effects on scene-referred colors; among them [`motion_blur_3d`], [`taa_3d`], [`bloom_3d`], [`depth_of_field_3d`], [`lens_effects_3d`] and [`auto_exposure_3d`] | [`ViewColors`], [`SceneDepths`] | [`PostProcess`] |
//! | `Tonemap` | [`tonemap_3d`] | [`SceneColors`], [`TonemappingLutImages`], [`Gradings3d`] | [`CameraTargets`], [`SceneColors`] |
//! | `AfterTonemapping` | effects on display-referred colors, among them [`display_lens_effects_3d`], [`fxaa_3d`], [`smaa_3d`], [`sharpen_3d`] | [`ViewColors`], [`SceneDepths`] | [`PostProcess`] |
//! | `Composite` | [`composite_3d`] | [`ViewColors`] | [`CameraTargets`] |
//! | `Gizmos` | [`gizmos_3d`] | [`GizmoLines`](quadrille_content::lines::GizmoLines), [`Vertices3d`], [`Indices3d`], [`Instances3d`], [`SceneDepths`] | [`GizmoMsaaColors`], [`GizmoColors`], [`SceneDepths`], [`CameraTargets`] |
//!
//! The sets run in this order, except `Cluster` and `Environment`, which only precede `Opaque`. [`Scene3d::views`]
//! lists the cameras of the frame; a [`View3d`] has the indices of its images in the lists. [`SceneMsaaColors`] and
//! [`SceneDepths`] have the samples of the camera's [`Msaa`], 4 per pixel by default. [`SceneColors`] is single-sampled
//! and complete after `Transparent`: the last pass that draws to the samples of a view resolves them. With a system of
//! yours that takes [`ViewTargets3d`], the resolve follows that system. Views of cameras with `Hdr`, or with a
//! [`CameraEffect`] that replaces their color, have radiance times exposure in half floats
//! ([`View3d::is_scene_referred`]). Other views have display-referred colors in the format of their target, from
//! shaders that end with `quadrille_3d::display`; a view that covers its target has the target itself in
//! [`SceneColors`]. Depth is reversed: 1 near, 0 infinitely far. Your shaders can import the modules of built-in ones:
//! `quadrille_3d::scene::View` is a row of [`Views3d`], `quadrille_3d::mesh_types::Instance` one of [`Instances3d`].
//!
//! Materials with shaders of your own need no pass: see [`own_material`].
//!
//! # Order of cameras
//!
//! Where 2D and 3D cameras share a target, or a material samples the output of an earlier camera, passes are ordered
//! camera by camera: the passes of each view have its step ([`View3d::step`],
//! [`Recorder::pass_in_step`](quadrille::prelude::Recorder::pass_in_step)). A custom pass that draws to targets of
//! cameras should begin its passes with that step too. All passes of the systems before a pass without a
//! step precede it, and those of the systems after it follow it, so cameras on either side of it could not alternate.
//!
//! # Effect: film grain with a vignette
//!
//! An effect of one fragment shader is a [`FullscreenMaterial`]: a component, a shader file
//! and a plugin, without a pass. With passes and images of its own, an effect is a camera component that implements
//! [`CameraEffect`]. [`CameraEffectPlugin`] manages its uniform and images per view whose camera has the component;
//! other views have neither, and record no pass. An effect that changes colors takes [`PostProcess`], whose `write`
//! returns the current color and the image for the new one: a color attachment or, before tone mapping, also a storage image
//! for compute passes, which most built-in effects are. Its
//! [`STAGE`](CameraEffect::STAGE) is the set of its passes: `EarlyPostProcess` and `PostProcess` have radiance times
//! exposure, `AfterTonemapping` display-referred colors (antialiasing filters, sharpening, film grain). The color includes the
//! clear color or, with `ClearColorConfig::None`, the output of earlier cameras; with effects before tone mapping, this
//! background is tone mapped together with the scene, as with `Hdr`. UI, 2D and gizmos are drawn over all effects.
//! Within a set, effects are ordered by `before` and `after`, among them built-in ones such as [`bloom_3d`]; without these
//! their order is unspecified. [`is_enabled`](CameraEffect::is_enabled) switches an effect by its settings. With
//! `ShaderReloadPlugin` of `quadrille`, the shader file is reloaded on change.
//!
//! ```
#![doc = include_str!("../tests/programs/film_grain.rs")]
//! ```
//!
//! [`CameraEffect::images`] lists images of the view's size, a fraction of it or a fixed size, optionally with mip
//! levels and a history. They are an [`AccessList`](quadrille::ecs::AccessList) of [`EffectImages`], indexed by
//! [`EffectView::image`] and [`EffectView::previous`]; [`EffectFrame::history_is_valid`] is true if the latter has the
//! contents of the previous frame. Images without a history are transient and share memory. A pass that reads the view
//! binds [`View3d::uniform_bytes`] of [`Views3d`]; depth is in [`SceneDepths`], with the samples of the camera.
//! [`View3d::transforms_bytes`] of [`ViewTransforms3d`] has its matrices, their inverses and that of the previous
//! frame, for positions from depth and motion vectors (`quadrille_3d::view_transforms`). With
//! [`DEPTH_HISTORY`](CameraEffect::DEPTH_HISTORY), [`View3d::previous_depth`] is the index of the previous frame's
//! depth in [`PreviousDepths3d`]. Of cameras with [`NormalPrepass`], world normals are in [`PrepassNormals3d`] by
//! [`View3d::prepass_normal`], and of those with [`MotionVectorPrepass`] motion vectors in [`PrepassMotionVectors3d`] by
//! [`View3d::prepass_motion_vectors`].
//!
//! # Additional pass: outlines
//!
//! The pass reads the depth of each view and draws lines over its color. It requires cameras with
//! `Msaa::Off`; with multisampling the shader would read a `texture_depth_multisampled_2d`.
//!
//! ```
#![doc = include_str!("../tests/programs/outline.rs")]
//! ```
//!
//! # Replaced pass: tone mapping to two tones
//!
//! A run condition disables [`tonemap_3d`], and another pass draws the radiance of cameras with `Hdr` to their targets.
//! It is in [`ContentSystems::Draw3d`](quadrille_content::ContentSystems::Draw3d), so that UI and sprites are drawn
//! over it.
//!
//! ```
#![doc = include_str!("../tests/programs/two_tones.rs")]
//! ```
//!
//! # Compute pass: waves
//!
//! The instance table is a writable buffer. This pass moves all meshes after culling and before drawing, shadows
//! included, without the CPU, which only uploads rows of changed entities. Culling uses the positions from the CPU, so
//! displacements should be small. The pass runs on another queue if the device has one.
//!
//! ```
#![doc = include_str!("../tests/programs/waves.rs")]
//! ```

//! # Overlap of queues
//!
//! The passes have no queue preference: on devices with several queues, Quadrille measures alternatives and keeps the
//! fastest ([`QueuePreference::Auto`](quadrille::prelude::QueuePreference)). [`skin_3d`] and [`cull_3d`] may run on
//! another queue, and [`cluster_3d`] and [`filter_env_3d`] in parallel with the shadows. On an NVIDIA H100 (driver
//! 580.159.04, 2026-11-25, 1920 x 1080, ms per frame, median of 200) there is no gain on bevy's examples, because the
//! passes that could overlap are short.
//!
//! | program | one queue | all queues | could overlap |
//! | --- | ---: | ---: | --- |
//! | `many_foxes --count 1000` | 21.59 | 21.58 | `skin_3d` 0.4 |
//! | `many_lights` (100,000) | 9.66 | 9.66 | `cluster_3d` 0.05 |
//! | `many_cubes --shadows` (160,000) | 6.74 | 6.73 | culling, before shadows |
//! | 64 shadowed spot lights | 25.1 | 25.3 | `cluster_3d` |
//!
//! `RenderDiagnosticsPlugin` measures each pass, and `--plan` of the examples prints its queue.

pub mod own_material;

#[allow(unused_imports, reason = "the page links to these")]
use crate::{content::cameras::Msaa, content::views::CameraTargets, resources::*, systems::*, *};
