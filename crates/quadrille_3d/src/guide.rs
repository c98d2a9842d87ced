//! Passes of your own in a 3D frame: between ours, in the place of ours, and on another queue.
//!
//! A pass is a bevy system that takes a [`Recorder`](quadrille::prelude::Recorder); its other
//! parameters say what it touches, and the plan has the barriers, waits and changes of owner that
//! follow. The passes of 3D are such systems, in sets that yours are ordered around, and all that
//! they share are resources that yours can name as well.
//!
//! # The passes and their handles
//!
//! | set of [`Pass3dSystems`] | system | reads | writes |
//! | --- | --- | --- | --- |
//! | `Skin` | [`skin_3d`] | [`SkinJobs3d`], [`SkinSources3d`], [`SkinPoses3d`] | [`Vertices3d`] |
//! | `Cull` | [`cull_3d`] | [`Instances3d`], [`Bounds3d`], [`Batches3d`], [`BatchOrder3d`], [`BatchInstances3d`], [`CullViews3d`], [`CullLayers3d`] | [`DrawArgs3d`], [`VisibleInstances`] |
//! | `Cluster` | [`cluster_3d`] | [`Views3d`], [`Lights3d`] | [`LightMasks3d`] |
//! | `Environment` | [`filter_env_3d`] | [`FilterSources3d`] | [`FilterCubes3d`], [`FilterResults3d`] |
//! | `Shadow` | [`shadow_3d`] | [`Geometry3d`], [`Culled3d`], [`ShadowViews3d`] | [`ShadowAtlas`], [`PointShadowFaces`] |
//! | `Opaque` | [`opaque_3d`] | [`Geometry3d`], [`Culled3d`], [`Lighting3d`] | [`SceneMsaaColors`], [`SceneDepths`] |
//! | `OpaqueLate` | [`depth_pyramid_3d`], [`cull_late`], [`opaque_late`], for [`OcclusionCulling`] | [`SceneDepths`], what `Cull` and `Opaque` read | [`DepthPyramids3d`], [`PreviousVisibility`], [`LateDrawArgs`], [`LateVisibleInstances`], [`SceneMsaaColors`], [`SceneDepths`] |
//! | `Skybox` | [`skybox_3d`] | [`Cubes3d`], [`SceneDepths`] | [`SceneMsaaColors`] |
//! | `Transparent` | [`transparent_3d`] | [`Geometry3d`], [`TransparentInstances3d`], [`Lighting3d`], [`SceneDepths`] | [`SceneMsaaColors`], [`SceneColors`] |
//! | `EarlyPostProcess`, `PostProcess` | effects on linear light, in this order | [`ViewColors`], [`SceneDepths`] | [`PostProcess`] |
//! | `Tonemap` | [`tonemap_3d`] | [`ViewColors`], [`TonemappingLutImages`], [`Gradings3d`] | [`CameraTargets`] |
//! | `Gizmos` | [`gizmos_3d`] | [`GizmoLines`](quadrille_content::GizmoLines), [`Vertices3d`], [`Indices3d`], [`Instances3d`], [`SceneDepths`] | [`GizmoMsaaColors`], [`GizmoColors`], [`SceneDepths`], [`CameraTargets`] |
//!
//! The sets run in this order, but for `Cluster` and `Environment`, which are only before `Opaque`.
//! [`Scene3d::views`] lists the cameras of the frame; a [`View3d`] tells which images of the lists are its
//! own. [`SceneMsaaColors`] and [`SceneDepths`] have the camera's [`Msaa`], so 4 samples per pixel by
//! default; [`SceneColors`] has one, holds radiance times exposure, and is complete after `Transparent`.
//! Depth is 1 near and 0 infinitely far. Shaders import what ours are made of:
//! `quadrille_3d::scene::View` is a row of [`Views3d`], `quadrille_3d::mesh_types::Instance` one of
//! [`Instances3d`].
//!
//! # Cameras take turns
//!
//! Where cameras of 2D and of 3D meet on an image, or a mesh shows what an earlier camera draws, the passes of
//! cameras are drawn camera by camera: those of each view have its step ([`View3d::step`],
//! [`Recorder::pass_in_step`](quadrille::prelude::Recorder::pass_in_step)). A pass of yours that draws to targets of
//! cameras begins its passes with that step too; without one it keeps the systems before it and those behind it
//! apart, and so all 3D from all 2D.
//!
//! # An effect: film grain with a vignette
//!
//! A component of cameras that implements [`CameraEffect`] is an effect. [`CameraEffectPlugin`] keeps, for each view
//! whose camera has the component, its uniform and its images; a camera without it has neither, and no pass. An
//! effect that changes colours takes [`PostProcess`], whose `write` gives the colour so far and the image for the
//! new one: radiance times exposure, with coverage as alpha. The clear colour is put behind that by tone mapping.
//! Effects are ordered by their sets, and within a set by `before` and `after`; without these either may be the
//! first. The shader's file is loaded again when it changes, with `ShaderReloadPlugin` of `quadrille`.
//!
//! ```
#![doc = include_str!("../tests/programs/film_grain.rs")]
//! ```
//!
//! [`CameraEffect::images`] lists images of the view's size, a fraction of it or a fixed one, with mip levels and with the
//! image of the frame before. They are an [`AccessList`](quadrille::ecs::AccessList) of [`EffectImages`], by the
//! indices [`EffectView::image`] and [`EffectView::previous`]; [`EffectFrame::history_is_valid`] tells whether the latter is
//! the frame before. Images without a history are transient: they share memory with others. A pass that reads the
//! view binds [`View3d::uniform_bytes`] of [`Views3d`], and depth is in [`SceneDepths`], with the samples of the camera.
//!
//! # Another pass: outlines
//!
//! The pass reads the depth of each view and draws lines over its colours, before they are mapped to
//! those of the screen. It takes cameras with `Msaa::Off`, whose depth is one number per pixel; with several
//! samples the shader would read a `texture_depth_multisampled_2d`.
//!
//! ```
#![doc = include_str!("../tests/programs/outline.rs")]
//! ```
//!
//! # In the place of a pass: a tone mapping of two tones
//!
//! A condition leaves [`tonemap_3d`] out, and another pass draws to the targets of cameras. It is in
//! [`ContentSystems::Draw3d`], so that nodes and sprites are drawn over it.
//!
//! ```
#![doc = include_str!("../tests/programs/two_tones.rs")]
//! ```
//!
//! # A compute pass: waves
//!
//! The table of instances is a buffer like any other. This pass moves all meshes after they are culled and
//! before they are drawn, shadows included, and the CPU knows nothing of it: what it sends are rows of entities
//! that change. Meshes are culled where the CPU has them, so they should not go far. Where the device has another
//! queue, the pass runs there.
//!
//! ```
#![doc = include_str!("../tests/programs/waves.rs")]
//! ```

//! # What runs beside what
//!
//! The passes name no queue: where a device has several, Quadrille tries them and keeps what is quicker
//! ([`QueuePreference::Auto`](quadrille::prelude::QueuePreference)). [`skin_3d`] and [`cull_3d`] may run on another one, and
//! [`cluster_3d`] and [`filter_env_3d`] beside the shadows. On an NVIDIA H100 (driver 580.159.04,
//! 2026-11-25, frames of 1920 x 1080, ms, median of 200) that gains nothing on bevy's programs: what could be
//! hidden is short.
//!
//! | program | one queue | all queues | of which could be hidden |
//! | --- | ---: | ---: | --- |
//! | `many_foxes --count 1000` | 21.59 | 21.58 | `skin_3d` 0.4 |
//! | `many_lights` (100,000) | 9.66 | 9.66 | `cluster_3d` 0.05 |
//! | `many_cubes --shadows` (160,000) | 6.74 | 6.73 | culling, before shadows |
//! | 64 shadowed spot lights | 25.1 | 25.3 | `cluster_3d` |
//!
//! `RenderDiagnosticsPlugin` measures each pass, and `--plan` of the examples prints on which queue it runs.

#[allow(unused_imports, reason = "the page links to these")]
use crate::*;
