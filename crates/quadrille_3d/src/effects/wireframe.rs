//! Wireframes of meshes, by bevy's components, for apps with [`WireframePlugin`].
//!
//! [`gizmos_3d`](crate::systems::gizmos_3d) draws them, so colors are display-referred. Each edge is a screen-space line quad,
//! whose vertex shader pulls the vertices of the mesh: no additional vertex data, no `fillModeNonSolid`, and deformed
//! meshes work.

pub(crate) mod draw;

use std::ops::Range;

use bevy_app::{App, Plugin};
use bevy_color::{Color, ColorToComponents as _};
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_mesh::Mesh3d;
use bevy_reflect::Reflect;
use bevy_reflect::std_traits::ReflectDefault;
use quadrille::prelude::Render;
use quadrille_content::meshes::PrimitiveKind;

use crate::extract::instances::{InstanceStore, Slot};
use crate::prepare::views::queue_views;
use crate::scene::frame::View3d;
use crate::scene::lists::{CullList, QueuedViews, ViewMap};
use crate::schedule::Prepare3dSystems;

pub use draw::WireframeGeometry3d;
pub(crate) use draw::{WireframeDraw, WireframePipelines, draw_wireframes};

/// Draws wireframes of meshes with a [`Wireframe`], or of all meshes ([`WireframeConfig::global`]).
///
/// ```
/// use bevy_color::palettes::css;
/// use bevy_ecs::prelude::*;
/// use quadrille_3d::prelude::*;
/// use quadrille_3d::wireframe::{Wireframe, WireframeColor, WireframeLineWidth};
///
/// // In an app with `WireframePlugin`.
/// fn setup(
///     mut commands: Commands,
///     mut meshes: ResMut<Assets<Mesh>>,
///     mut materials: ResMut<Assets<StandardMaterial>>,
/// ) {
///     commands.spawn((
///         Mesh3d(meshes.add(Cuboid::default())),
///         MeshMaterial3d(materials.add(Color::BLACK)),
///         Wireframe,
///         WireframeColor { color: css::LIME.into() },
///         WireframeLineWidth { width: 2.0 },
///     ));
/// }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct WireframePlugin {}

impl Plugin for WireframePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<WireframeConfig>()
            .register_type::<Wireframe>()
            .register_type::<NoWireframe>()
            .register_type::<WireframeColor>()
            .register_type::<WireframeLineWidth>()
            .register_type::<WireframeTopology>()
            .register_type::<WireframeXray>()
            .register_type::<WireframeConfig>();
    }
}

/// Draws the wireframe of a mesh.
#[derive(Component, Debug, Clone, Default, Reflect, Eq, PartialEq)]
#[reflect(Component, Clone, Default, Debug, PartialEq)]
pub struct Wireframe;

/// Excludes a mesh from [`WireframeConfig::global`].
#[derive(Component, Debug, Clone, Default, Reflect, Eq, PartialEq)]
#[reflect(Component, Clone, Default, Debug, PartialEq)]
pub struct NoWireframe;

/// Color of a mesh's edges; overrides [`WireframeConfig::default_color`].
#[derive(Component, Debug, Clone, Default, Reflect)]
#[reflect(Component, Clone, Default, Debug)]
pub struct WireframeColor {
    /// Display-referred color.
    pub color: Color,
}

/// Line width of a mesh's edges; overrides [`WireframeConfig::default_line_width`].
#[derive(Component, Debug, Clone, Reflect)]
#[reflect(Component, Clone, Default, Debug)]
pub struct WireframeLineWidth {
    /// Width in pixels of the target.
    pub width: f32,
}

impl Default for WireframeLineWidth {
    fn default() -> Self {
        Self { width: 1.0 }
    }
}

/// Displayed edges of a wireframe.
#[derive(Component, Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Default, Debug)]
pub enum WireframeTopology {
    /// All edges of all triangles.
    #[default]
    Triangles,
    /// All edges except the shared ones of quads. Two triangles are a quad if they are consecutive in the index buffer
    /// and share an edge, as in bevy's shapes.
    Quads,
}

/// Whether a mesh's wireframe ignores depth; overrides [`WireframeConfig::xray_mode`].
#[derive(Component, Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Default, Debug)]
pub struct WireframeXray(pub bool);

/// Global settings of wireframes, for entities without components of their own.
#[derive(Resource, Debug, Clone, Reflect)]
#[reflect(Resource, Clone, Debug, Default)]
pub struct WireframeConfig {
    /// Draws wireframes of all meshes, except those with [`NoWireframe`].
    pub global: bool,
    /// Default color, display-referred.
    pub default_color: Color,
    /// Default line width, in pixels of the target.
    pub default_line_width: f32,
    /// Default set of edges.
    pub default_topology: WireframeTopology,
    /// Whether wireframes ignore depth.
    pub xray_mode: bool,
}

impl Default for WireframeConfig {
    fn default() -> Self {
        Self {
            global: false,
            default_color: Color::default(),
            default_line_width: 1.0,
            default_topology: WireframeTopology::default(),
            xray_mode: false,
        }
    }
}

/// Wireframe components of a mesh.
#[derive(QueryData)]
pub(crate) struct WireframeItem {
    slot: &'static Slot,
    color: Option<&'static WireframeColor>,
    width: Option<&'static WireframeLineWidth>,
    topology: Option<&'static WireframeTopology>,
    xray: Option<&'static WireframeXray>,
}

pub(crate) type WithWireframe = (With<Mesh3d>, With<Wireframe>, Without<NoWireframe>);
pub(crate) type WithoutWireframe = (With<Mesh3d>, Without<Wireframe>, Without<NoWireframe>);

/// Wireframe draws, filled by [`queue_wireframes`].
#[derive(Resource, Default)]
pub(crate) struct Wireframes {
    draws: Vec<WireframeDraw>,
    /// Ranges of `draws`.
    ranges: ViewMap<Range<u32>>,
}

impl Wireframes {
    /// Returns the wireframe draws of a view.
    pub(crate) fn seen_by(&self, view: &View3d) -> &[WireframeDraw] {
        self.ranges.get(view.queued.row).map_or(&[], |range| {
            &self.draws[range.start as usize..range.end as usize]
        })
    }
}

/// Lists wireframes in every app, so that [`gizmos_3d`](crate::systems::gizmos_3d) finds the list; it stays empty without a
/// [`WireframePlugin`].
pub(crate) struct WireframeListPlugin;

impl Plugin for WireframeListPlugin {
    fn build(&self, app: &mut App) {
        let queue = queue_wireframes.in_set(Prepare3dSystems::Queue);
        app.init_resource::<Wireframes>()
            .add_systems(Render, queue.after(queue_views));
    }
}

/// Queues the visible wireframes of each view.
fn queue_wireframes(
    (with_wireframe, without_wireframe): (
        Query<WireframeItem, WithWireframe>,
        Query<WireframeItem, WithoutWireframe>,
    ),
    config: Option<Res<WireframeConfig>>,
    instances: Res<InstanceStore>,
    (cull, views): (Res<CullList>, Res<QueuedViews>),
    mut wireframes: ResMut<Wireframes>,
) {
    let Wireframes { draws, ranges } = &mut *wireframes;
    draws.clear();
    ranges.clear();
    let Some(config) = config else {
        return;
    };
    let without_wireframe = config.global.then(|| without_wireframe.iter());
    let all = || {
        with_wireframe
            .iter()
            .chain(without_wireframe.clone().into_iter().flatten())
    };
    for view in &views.0 {
        let first = draws.len() as u32;
        let row = &cull.rows[view.cull_row as usize];
        for item in all() {
            let Some((instance, mesh)) = instances.visible_mesh(*item.slot, row, &cull.layer_bits)
            else {
                continue;
            };
            let color = item.color.map_or(config.default_color, |it| it.color);
            let topology = item.topology.copied();
            if mesh.primitive == PrimitiveKind::Triangles {
                draws.push(WireframeDraw {
                    instance,
                    mesh,
                    color: color.to_linear().to_f32_array(),
                    width: item.width.map_or(config.default_line_width, |it| it.width),
                    has_quads: topology.unwrap_or(config.default_topology)
                        == WireframeTopology::Quads,
                    is_xray: item.xray.map_or(config.xray_mode, |it| it.0),
                });
            }
        }
        ranges.insert(view.row, first..draws.len() as u32);
    }
}
