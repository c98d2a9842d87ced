//! A node that shows what a camera draws to an image.

use bevy_camera::ImageRenderTarget;
use bevy_ecs::prelude::*;
use bevy_image::Image as ImageAsset;
use bevy_ui::GlobalZIndex;
use bevy_ui::widget::ViewportNode;
use quadrille_2d::prelude::*;

use super::nodes::{loose, node, reset_node};
use super::values::{color, visibility};
use crate::common::lifecycle::{Fixed, Part, Random, part, remove, reset};

/// A camera that draws to an image, and a node that may show it. bevy resizes the image for the node that changed last,
/// and ends a program whose image is missing: there is one of both.
pub(super) fn begin_viewport(world: &mut World, root: Entity) -> (Entity, Entity) {
    let format = wgpu_types::TextureFormat::Rgba8UnormSrgb;
    let image = ImageAsset::new_target_texture(8, 8, format, None);
    let image = world.resource_mut::<Assets<ImageAsset>>().add(image);
    let target = RenderTarget::Image(ImageRenderTarget::from(image));
    let camera = world.spawn((Camera2d, behind(&mut Random::new(1)), target));
    let camera = camera.id();
    let node = world.spawn((loose(), GlobalZIndex(0), ChildOf(root))).id();
    (camera, node)
}

/// Draws before all others.
fn behind(random: &mut Random) -> Camera {
    Camera {
        order: -9,
        clear_color: ClearColorConfig::Custom(color(random)),
        ..Camera::default()
    }
}

/// Parts of the camera that draws to an image.
pub(super) const OF_SEEN: &[Part] = &[part!(
    "camera",
    |world, entity| {
        world.entity_mut(entity).insert(behind(&mut Random::new(1)));
    },
    |world, random| behind(random)
)];

pub(super) const OF_VIEWPORT: &[Part] = &[
    part!("node", reset_node, |world, random| node(random)),
    part!("viewport", remove::<ViewportNode>, |world, _random| {
        ViewportNode::new(world.resource::<Fixed>().0[SEEN])
    }),
    part!("visibility", reset::<Visibility>, |world, random| {
        visibility(random)
    }),
];

/// The camera that a viewport shows, among fixed entities.
const SEEN: usize = 6;
