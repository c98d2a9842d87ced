//! Kinds of components that plugins of other crates draw.

/// Kind of components that one plugin draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentKind {
    /// Cameras, sprites, meshes and text in 2D.
    TwoD,
    /// Cameras, meshes and lights in 3D.
    ThreeD,
    /// Nodes of bevy_ui.
    Nodes,
    /// Retained gizmos of bevy_gizmos.
    Gizmos,
}

impl ContentKind {
    /// Returns how to get components of this kind drawn, as an imperative.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Self::TwoD => "add `Quadrille2dPlugin` of the crate `quadrille_2d`",
            Self::ThreeD => "add `Quadrille3dPlugin` of the crate `quadrille_3d`",
            Self::Nodes => {
                "add `Quadrille2dPlugin` of the crate `quadrille_2d`, with its feature `ui`"
            }
            Self::Gizmos => {
                "add `Quadrille2dPlugin` or `Quadrille3dPlugin`, with the feature `gizmos` of its crate"
            }
        }
    }
}

/// Components by type name, and the kinds they belong to. Lists per kind the components without which an entity is
/// never drawn.
pub const DRAWN_COMPONENTS: &[(&str, ContentKind)] = &[
    ("bevy_camera::components::Camera2d", ContentKind::TwoD),
    ("bevy_mesh::components::Mesh2d", ContentKind::TwoD),
    ("bevy_sprite::sprite::Sprite", ContentKind::TwoD),
    ("bevy_sprite::text2d::Text2d", ContentKind::TwoD),
    ("bevy_camera::components::Camera3d", ContentKind::ThreeD),
    ("bevy_mesh::components::Mesh3d", ContentKind::ThreeD),
    (
        "bevy_light::directional_light::DirectionalLight",
        ContentKind::ThreeD,
    ),
    ("bevy_light::point_light::PointLight", ContentKind::ThreeD),
    ("bevy_light::spot_light::SpotLight", ContentKind::ThreeD),
    ("bevy_light::rect_light::RectLight", ContentKind::ThreeD),
    ("bevy_ui::ui_node::Node", ContentKind::Nodes),
    ("bevy_gizmos::retained::Gizmo", ContentKind::Gizmos),
];
