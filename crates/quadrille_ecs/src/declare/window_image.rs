//! Images of windows, named by the window's entity or by a marker component.

use std::any::TypeId;
use std::marker::PhantomData;
use std::ops::Deref;

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_window::PrimaryWindow;
use quadrille_vulkan::resources::GpuImage;

use crate::declare::registry::Awaited;

/// The image of a window: a component of the window's entity while an image is available, so absent while the window is
/// minimized, for instance.
///
/// A pass draws to it by the window's entity ([`declared_window`](crate::declared_window)) or by a marker component of
/// the window ([`WindowImageOf`]). In headless apps it is an ordinary image of the window's size.
#[derive(Component, bevy_derive::Deref, Clone, Debug, PartialEq)]
pub struct WindowImage(pub(crate) GpuImage);

/// The image of the window that the component `M` marks: draw to it with
/// `ColorTarget<WindowImageOf<M>>`. [`AddWindowImage::add_window_image`] introduces the marker.
///
/// While the window has no image (because it is minimized, for instance), the resource does not exist, and passes that
/// declare it are skipped.
#[derive(Resource)]
pub struct WindowImageOf<M: Component> {
    image: GpuImage,
    marker: PhantomData<fn() -> M>,
}

impl<M: Component> Deref for WindowImageOf<M> {
    type Target = GpuImage;

    fn deref(&self) -> &GpuImage {
        &self.image
    }
}

/// The image of the primary window: draw to it with `ColorTarget<PrimaryWindowImage>`.
///
/// In headless apps it is an ordinary image of the size of the primary window
/// ([`QuadrillePlugins::headless`](crate::QuadrillePlugins::headless)).
pub type PrimaryWindowImage = WindowImageOf<PrimaryWindow>;

/// Registers marker components of windows.
pub trait AddWindowImage {
    /// Keeps [`WindowImageOf<M>`] up to date: the image of the window whose entity has `M`. Only one window at a time
    /// should have the marker.
    ///
    /// ```
    /// # use bevy_app::{App, Startup};
    /// # use bevy_ecs::prelude::*;
    /// # use bevy_window::Window;
    /// # use quadrille_ecs::*;
    /// #[derive(Component)]
    /// struct Map;
    ///
    /// fn open(mut commands: Commands) {
    ///     commands.spawn((Window::default(), Map));
    /// }
    ///
    /// fn draw_map(mut recorder: Recorder, window: ColorTarget<WindowImageOf<Map>>) {}
    ///
    /// # let mut app = App::new();
    /// app.add_window_image::<Map>().add_systems(Startup, open).add_systems(Render, draw_map);
    /// ```
    fn add_window_image<M: Component>(&mut self) -> &mut Self;
}

impl AddWindowImage for App {
    fn add_window_image<M: Component>(&mut self) -> &mut Self {
        let world = self.world_mut();
        Awaited::of(world, TypeId::of::<WindowImageOf<M>>()).set();
        world.get_resource_or_init::<WindowMarkers>().add::<M>();
        self
    }
}

/// The registered markers.
#[derive(Resource, Default)]
pub(crate) struct WindowMarkers(Vec<Marker>);

#[derive(Clone, Copy)]
struct Marker {
    /// Type of the resource.
    type_id: TypeId,
    publish: fn(&mut World, &[Entity]),
}

impl WindowMarkers {
    pub(crate) fn add<M: Component>(&mut self) {
        let type_id = TypeId::of::<WindowImageOf<M>>();
        if self.0.iter().all(|known| known.type_id != type_id) {
            self.0.push(Marker {
                type_id,
                publish: publish::<M>,
            });
        }
    }

    /// Updates the resources of all markers to the current images of their windows.
    pub(crate) fn publish(world: &mut World, windows: &[Entity]) {
        world.resource_scope(|world, markers: Mut<Self>| {
            for marker in &markers.0 {
                (marker.publish)(world, windows);
            }
        });
    }
}

fn publish<M: Component>(world: &mut World, windows: &[Entity]) {
    let marked = windows.iter().find_map(|&entity| {
        let window = world.get_entity(entity).ok()?;
        window
            .get::<WindowImage>()
            .filter(|_| window.contains::<M>())
    });
    let image = marked.map(|image| image.0.clone());
    let known = world.get_resource::<WindowImageOf<M>>();
    if known.map(|known| &known.image) == image.as_ref() {
        return;
    }
    match image {
        Some(image) => world.insert_resource(WindowImageOf::<M> {
            image,
            marker: PhantomData,
        }),
        None => {
            world.remove_resource::<WindowImageOf<M>>();
        }
    }
}
