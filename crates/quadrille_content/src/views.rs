//! Views of a frame's cameras: targets, viewports and clear operations.

pub(crate) mod composite;
mod compositing;
mod steps;

use bevy_camera::{
    Camera, Camera2d, Camera3d, CameraMainTextureUsages, CameraOutputMode, ClearColor,
    ClearColorConfig, Hdr, RenderTarget,
};
use bevy_color::{Color, ColorToComponents as _, LinearRgba};
use bevy_derive::{Deref, DerefMut};
use bevy_ecs::entity::EntityHashSet;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemParam;
use bevy_math::{Mat4, URect, UVec2};
use bevy_transform::components::GlobalTransform;
use quadrille::ecs::{ContentKind, DrawnContent};
use quadrille::prelude::{GpuImage, Uploads};

use crate::cameras::msaa::Msaa;
use crate::cameras::projection::InvalidCameras;
use crate::cameras::target::TargetImages;
use crate::cameras::target::error::TargetErrors;
use crate::images::DeviceImages;
use crate::warnings::{RateLimitedWarnings, entity_name, first_non_finite, is_finite};
pub use composite::{composite_pipeline, draw_composite, draw_scaled_composite};
use compositing::{Layer, MainTexture, TargetKind};
use steps::Steps;

/// Distinct target images of this frame's cameras, for [`AccessList`](quadrille::ecs::AccessList).
#[derive(Resource, Default, Deref)]
pub struct CameraTargets(Vec<GpuImage>);

/// Views of this frame's active cameras, sorted by `Camera::order`, 3D first at equal order. Filled in
/// [`ContentSystems::Views`](crate::ContentSystems::Views).
#[derive(Resource, Default, Deref)]
pub struct CameraViews(Vec<CameraView>);

/// Cameras with an overlay, such as UI nodes over a 3D camera. Overlays are drawn before cameras of a higher order.
/// Filled before [`ContentSystems::Views`](crate::ContentSystems::Views) by the system that draws the overlay.
#[derive(Resource, Default, Deref, DerefMut)]
pub struct CameraOverlays(pub EntityHashSet);

/// View of one camera.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CameraView {
    /// Camera entity.
    pub camera: Entity,
    /// Whether the camera has a `Camera3d` and no `Camera2d`.
    pub is_3d: bool,
    /// Index of the target image in [`CameraTargets`].
    pub target: u32,
    /// Ordering key of its passes across systems
    /// ([`Recorder::pass_in_step`](quadrille::prelude::Recorder::pass_in_step)): increased from one camera to the next
    /// where the order of the systems would violate `Camera::order`.
    pub step: u32,
    /// World to clip space; finite.
    pub clip_from_world: Mat4,
    /// Left, top, width and height in physical pixels; not empty, within the target.
    pub viewport: [u32; 4],
    /// Clear color of the whole target; `None`: load op LOAD.
    pub clear: Option<LinearRgba>,
    /// Fill color of the viewport, after `clear`. As in bevy, the first camera of a target replaces its contents, alpha
    /// included; later ones blend over them.
    pub fill: Option<LinearRgba>,
    /// Whether this is the first camera of the frame that draws to the target.
    pub is_first: bool,
}

/// Camera components for extraction.
#[derive(QueryData)]
struct CameraData {
    entity: Entity,
    camera: &'static Camera,
    target: &'static RenderTarget,
    transform: &'static GlobalTransform,
    is_2d: Has<Camera2d>,
    msaa: Option<&'static Msaa>,
    is_hdr: Has<Hdr>,
    usages: &'static CameraMainTextureUsages,
}

/// Filter for 2D and 3D cameras.
type With2dOr3dCamera = Or<(With<Camera2d>, With<Camera3d>)>;

/// Inputs of [`extract_cameras`].
#[derive(SystemParam)]
pub(crate) struct Cameras<'w, 's> {
    cameras: Query<'w, 's, CameraData, With2dOr3dCamera>,
    drawn: Res<'w, DrawnContent>,
    overlays: Res<'w, CameraOverlays>,
    clear_color: Res<'w, ClearColor>,
    images: Res<'w, DeviceImages>,
    warnings: Res<'w, RateLimitedWarnings>,
    invalid_cameras: Res<'w, InvalidCameras>,
    targets: TargetImages<'w, 's>,
}

/// Scratch memory that is reused between frames.
#[derive(Default)]
pub(crate) struct Scratch {
    order: Vec<(isize, bool, Entity)>,
    layers: Vec<Layer>,
    steps: Steps,
    /// Targets of the previous frame.
    last_targets: Vec<GpuImage>,
}

/// Extracts the views of active cameras.
pub(crate) fn extract_cameras(
    cameras: Cameras,
    mut views: ResMut<CameraViews>,
    mut targets: ResMut<CameraTargets>,
    mut errors: TargetErrors,
    mut uploads: ResMut<Uploads>,
    mut scratch: Local<Scratch>,
) {
    let Scratch {
        order,
        layers,
        steps,
        last_targets,
    } = &mut *scratch;
    views.0.clear();
    std::mem::swap(&mut targets.0, last_targets);
    targets.0.clear();
    order.clear();
    layers.clear();
    steps.begin();
    let [draws_2d, draws_3d] =
        [ContentKind::TwoD, ContentKind::ThreeD].map(|kind| cameras.drawn.contains(kind));
    let active = cameras
        .cameras
        .iter()
        .filter(|item| item.camera.is_active && if item.is_2d { draws_2d } else { draws_3d });
    order.extend(active.map(|item| (item.camera.order, item.is_2d, item.entity)));
    order.sort_unstable();
    for &(_, _, entity) in order.iter() {
        let camera = cameras.cameras.get(entity);
        let layer = camera
            .ok()
            .and_then(|it| layer(&cameras, &mut targets.0, &it, &mut errors));
        layers.extend(layer);
    }
    for (at, layer) in layers.iter().enumerate() {
        if !compositing::is_written(layers, at) {
            continue;
        }
        let image = &targets.0[layer.target as usize];
        let is_first = views.0.iter().all(|view| view.target != layer.target);
        let (clear, fill) = if is_first {
            compositing::first_camera_clear(layer, last_targets.contains(image))
        } else {
            (None, compositing::later_camera_fill(layer, &layers[..at]))
        };
        if is_first && clear.is_none() && layer.kind == TargetKind::Manual {
            uploads.clear_if_new(image);
        }
        views.0.push(CameraView {
            camera: layer.camera,
            is_3d: layer.is_3d,
            target: layer.target,
            step: steps.next(layer, cameras.overlays.contains(&layer.camera)),
            clip_from_world: layer.clip_from_world,
            viewport: layer.viewport,
            clear,
            fill,
            is_first,
        });
    }
    errors.retain(|camera| cameras.cameras.contains(camera));
}

/// Returns target and compositing settings of a camera; `None` if it draws nothing.
fn layer(
    cameras: &Cameras,
    targets: &mut Vec<GpuImage>,
    item: &CameraDataItem<'_, '_>,
    errors: &mut TargetErrors,
) -> Option<Layer> {
    let camera = item.camera;
    let found = cameras.targets.find(item.target, &cameras.images);
    let image = found.as_ref().map(|(image, _)| image);
    if !errors.check((item.entity, item.target), image, &cameras.warnings) {
        return None;
    }
    let (image, asset) = found?;
    let [width, height, _] = image.extent();
    let whole = URect::from_corners(UVec2::ZERO, UVec2::new(width, height));
    let viewport = viewport(camera, whole);
    if viewport.is_empty() {
        return None;
    }
    let clip_from_world = clip_from_world(cameras, item)?;
    let known = targets.iter().position(|known| *known == image);
    let target = known.unwrap_or_else(|| {
        targets.push(image);
        targets.len() - 1
    });
    let color = |config| match config {
        ClearColorConfig::Default => Some(cameras.clear_color.0),
        ClearColorConfig::Custom(color) => Some(color),
        ClearColorConfig::None => None,
    };
    let checked = |color| clear_color(cameras, item.entity, color);
    let (is_skipped, output_clear_color) = match camera.output_mode {
        CameraOutputMode::Skip => (true, None),
        CameraOutputMode::Write { clear_color, .. } => (false, color(clear_color)),
    };
    let size = viewport.size();
    Some(Layer {
        camera: item.entity,
        is_3d: !item.is_2d,
        target: target as u32,
        kind: match (item.target, asset) {
            (RenderTarget::Window(_), _) => TargetKind::Window,
            (_, Some(_)) => TargetKind::Asset,
            (_, None) => TargetKind::Manual,
        },
        main: MainTexture {
            samples: item.msaa.copied().unwrap_or_default().samples(),
            is_hdr: item.is_hdr,
            usages: item.usages.0.bits(),
        },
        clip_from_world,
        viewport: [viewport.min.x, viewport.min.y, size.x, size.y],
        has_viewport: camera.viewport.is_some(),
        is_part: viewport != whole,
        color: color(camera.clear_color).map(checked),
        output_clear_color: output_clear_color.map(checked),
        is_skipped,
        writeback: camera.msaa_writeback,
    })
}

/// Returns the viewport of a camera in its target.
fn viewport(camera: &Camera, whole: URect) -> URect {
    camera.viewport.as_ref().map_or(whole, |viewport| {
        let min = viewport.physical_position;
        let max = min.saturating_add(viewport.physical_size);
        URect { min, max }.intersect(whole)
    })
}

/// Returns the transform from world to clip space; `None`, with a warning, if it is not finite.
fn clip_from_world(cameras: &Cameras, item: &CameraDataItem<'_, '_>) -> Option<Mat4> {
    if cameras.invalid_cameras.contains(item.entity) {
        return None;
    }
    let clip_from_view = item.camera.clip_from_view();
    let matrix = clip_from_view * item.transform.to_matrix().inverse();
    if matrix.is_finite() {
        return Some(matrix);
    }
    let who = format_args!("the view of camera {}", entity_name(item.entity));
    cameras.warnings.warn(who, || {
        let world = item.transform.affine().to_cols_array();
        match item.transform.affine().matrix3.determinant() {
            0.0 => format!("its transform {world:?} is singular"),
            _ => first_non_finite(&[
                ("transform", &world),
                ("projection", &clip_from_view.to_cols_array()),
            ]),
        }
    });
    None
}

/// Returns the linear clear color of a camera; black, with a warning, if it is not finite.
fn clear_color(cameras: &Cameras, camera: Entity, color: Color) -> LinearRgba {
    let linear = color.to_linear();
    let numbers = linear.to_f32_array();
    if is_finite(&numbers) {
        return linear;
    }
    let what = || first_non_finite(&[("clear color", &numbers)]);
    let who = format_args!("the clear color of camera {}", entity_name(camera));
    cameras.warnings.warn(who, what);
    LinearRgba::BLACK
}
