//! Components that have an effect in bevy and none here.

/// Components that are accepted and ignored, by type name, with the consequence and a workaround.
///
/// Subset of the table of all public components, `tests/components.txt` of `quadrille_3d`.
/// Components that are ignored only with certain values are reported where the values are read.
pub const IGNORED_COMPONENTS: &[(&str, &str)] = &[
    (
        "bevy_camera::camera::ShadowLodOrigin",
        "shadow maps draw what the distances of `VisibilityRange` leave to their own view; give shadows meshes of \
         their own",
    ),
    (
        "bevy_gizmos::transform_gizmo::TransformGizmoFocus",
        "the handles of transform gizmos are not drawn; draw lines with `Gizmos`",
    ),
];
