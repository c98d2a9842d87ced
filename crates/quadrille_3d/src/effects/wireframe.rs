//! The edges of meshes over them: bevy's components of the same names, for apps with a [`WireframePlugin`].
//!
//! [`gizmos_3d`](crate::gizmos_3d) draws them, so their colours are those of the screen. Each edge is a line
//! of some pixels that the vertex shader finds in the buffers of the mesh: meshes need no other vertices,
//! devices no `fillModeNonSolid`, and deformed meshes have deformed edges.

mod draw;

use std::ops::Range;

use bevy_app::{App, Plugin};
use bevy_color::{Color, ColorToComponents as _};
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_mesh::Mesh3d;
use bevy_reflect::Reflect;
use bevy_reflect::std_traits::ReflectDefault;
use quadrille_content::PrimitiveKind;

use crate::extract::instances::{InstanceStore, Slot};
use crate::scene::frame::View3d;
use crate::scene::lists::{CullList, QueuedViews, ViewMap};

pub use draw::WireframeGeometry3d;
pub(crate) use draw::{WireframeDraw, WireframePipelines, draw_wireframes};

/// Draws the edges of meshes that have a [`Wireframe`], or of all of them ([`WireframeConfig::global`]).
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

/// The edges of this mesh are drawn over it.
#[derive(Component, Debug, Clone, Default, Reflect, Eq, PartialEq)]
#[reflect(Component, Clone, Default, Debug, PartialEq)]
pub struct Wireframe;

/// The edges of this mesh are not drawn, whatever [`WireframeConfig::global`] says.
#[derive(Component, Debug, Clone, Default, Reflect, Eq, PartialEq)]
#[reflect(Component, Clone, Default, Debug, PartialEq)]
pub struct NoWireframe;

/// Color of a mesh's edges; overrides [`WireframeConfig::default_color`].
#[derive(Component, Debug, Clone, Default, Reflect)]
#[reflect(Component, Clone, Default, Debug)]
pub struct WireframeColor {
    /// Color as on the screen.
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

/// Edges that a wireframe shows.
#[derive(Component, Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Default, Debug)]
pub enum WireframeTopology {
    /// All edges of all triangles.
    #[default]
    Triangles,
    /// Without those that the two triangles of a quad share. Two triangles are taken for one where the
    /// indices of one follow those of the other and an edge belongs to both, as in bevy's shapes.
    Quads,
}

/// Whether a mesh's wireframe shows through everything; overrides [`WireframeConfig::xray_mode`].
#[derive(Component, Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Default, Debug)]
pub struct WireframeXray(pub bool);

/// Global settings of wireframes, for entities without components of their own.
#[derive(Resource, Debug, Clone, Reflect)]
#[reflect(Resource, Clone, Debug, Default)]
pub struct WireframeConfig {
    /// Draws wireframes of all meshes, except those with [`NoWireframe`].
    pub global: bool,
    /// Default color, as on the screen.
    pub default_color: Color,
    /// Default line width, in pixels of the target.
    pub default_line_width: f32,
    /// Default set of edges.
    pub default_topology: WireframeTopology,
    /// Draws wireframes through everything.
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

/// How the edges of a mesh are drawn.
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

/// Meshes whose edges are drawn, filled by [`queue_wireframes`].
#[derive(Resource, Default)]
pub(crate) struct Wireframes {
    draws: Vec<WireframeDraw>,
    /// Ranges of `draws`.
    ranges: ViewMap<Range<u32>>,
}

impl Wireframes {
    /// Meshes whose edges a view sees.
    pub(crate) fn seen_by(&self, view: &View3d) -> &[WireframeDraw] {
        self.ranges.get(view.queued.row).map_or(&[], |range| {
            &self.draws[range.start as usize..range.end as usize]
        })
    }
}

/// Lists for each view the edges that it sees: none without a [`WireframeConfig`].
pub(crate) fn queue_wireframes(
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
        let row = &cull.rows.current[view.cull_row as usize];
        for item in all() {
            let Some((instance, mesh)) =
                instances.visible_mesh(*item.slot, row, &cull.layer_bits.current)
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
