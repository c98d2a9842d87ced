//! Warnings about unsupported fields of bevy's camera components. `tests/camera_fields.txt` lists the support of
//! each field.

use bevy_camera::{Camera, Camera3d, Camera3dDepthLoadOp, CameraOutputMode, CompositingSpace};
use bevy_ecs::name::NameOrEntity;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_platform::collections::HashSet;

/// Camera components with unsupported fields.
#[derive(QueryData)]
pub(crate) struct CameraSettingsQuery {
    name: NameOrEntity,
    camera: Ref<'static, Camera>,
    camera_3d: Option<Ref<'static, Camera3d>>,
    space: Option<Ref<'static, CompositingSpace>>,
}

/// Warns once per field that is unsupported and differs from its default.
pub(crate) fn warn_unsupported_fields(
    cameras: Query<CameraSettingsQuery>,
    mut warned: Local<HashSet<&'static str>>,
) {
    for settings in &cameras {
        if !settings.is_changed() {
            continue;
        }
        for (field, value, consequence) in settings.unsupported().into_iter().flatten() {
            if warned.insert(field) {
                tracing::warn!(
                    "camera `{}`: `{field}` is {value}, which is not supported: {consequence}. \
                     Further uses of this field are not reported",
                    settings.name
                );
            }
        }
    }
}

/// Field, value, and the actual behaviour with a workaround.
type UnsupportedField = Option<(&'static str, String, &'static str)>;

impl CameraSettingsQueryItem<'_, '_> {
    fn is_changed(&self) -> bool {
        self.camera.is_changed()
            || self.camera_3d.as_ref().is_some_and(|it| it.is_changed())
            || self.space.as_ref().is_some_and(|it| it.is_changed())
    }

    fn unsupported(&self) -> [UnsupportedField; 4] {
        let blend = match self.camera.output_mode {
            CameraOutputMode::Write { blend_state, .. } => blend_state,
            CameraOutputMode::Skip => None,
        };
        let viewport = self.camera.viewport.as_ref();
        let depth = viewport.map(|it| it.depth.clone());
        let load = self
            .camera_3d
            .as_ref()
            .and_then(|it| match &it.depth_load_op {
                Camera3dDepthLoadOp::Clear(depth) if (0.0..=1.0).contains(depth) => None,
                other => Some(format!("{other:?}")),
            });
        let space = self.space.as_deref().filter(|space| !space.is_linear());
        [
            blend.map(|blend| {
                let consequence = "cameras are alpha-blended over earlier ones. Leave it `None`, or \
                               draw to an image and blend it by a pass of your own";
                ("CameraOutputMode::Write::blend_state", format!("{blend:?}"), consequence)
            }),
            depth.filter(|depth| *depth != (0.0..1.0)).map(|depth| {
                let consequence = "the depth range is 0 to 1. Set it to `0.0..1.0`";
                ("Viewport::depth", format!("{depth:?}"), consequence)
            }),
            load.map(|load| {
                let consequence = "depth is cleared to 0 (infinitely far). Set \
                               `Camera3dDepthLoadOp::Clear` with a depth from 0 to 1";
                ("Camera3d::depth_load_op", load, consequence)
            }),
            space.map(|space| {
                let consequence = "colors are blended in linear space. Set `CompositingSpace::Linear`, or \
                               remove the component";
                ("CompositingSpace", format!("{space:?}"), consequence)
            }),
        ]
    }
}

#[cfg(test)]
mod tests;
