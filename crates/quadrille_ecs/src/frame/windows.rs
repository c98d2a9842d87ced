//! Windows before and after a frame: opening, acquiring, closing, and reporting the outcome.

use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_window::{PrimaryWindow, RawHandleWrapper, Window};
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::resources::{GpuImage, ImageDesc, ImageUsage};
use quadrille_vulkan::{Error, Format};

use crate::declare::window_image::{WindowImage, WindowMarkers};
use crate::error::RenderError;
use crate::renderer::Renderer;
use crate::window::{
    HeadlessWindow, PresentSettings, SwapchainState, WindowFailed, WindowSizedImages, WindowTarget,
};

/// Minimum duration of a frame in which no window has an image. Without it, nothing would pace an app whose only window
/// is minimized.
const PAUSE: Duration = Duration::from_millis(10);

/// Format of the image that replaces a window in headless apps.
const HEADLESS_FORMAT: Format = Format::B8G8R8A8_SRGB;

/// Queries for windows, kept to avoid an allocation per frame.
#[derive(Resource)]
pub(crate) struct WindowQuery {
    handles: QueryState<Entity, (With<RawHandleWrapper>, With<Window>)>,
    windows: QueryState<Entity, With<Window>>,
    primary: QueryState<Entity, With<PrimaryWindow>>,
    /// The windows of the frame.
    entities: Vec<Entity>,
}

impl FromWorld for WindowQuery {
    fn from_world(world: &mut World) -> Self {
        Self {
            handles: QueryState::new(world),
            windows: QueryState::new(world),
            primary: QueryState::new(world),
            entities: Vec::new(),
        }
    }
}

/// Prepares windows for the frame: creates surfaces of new ones, resizes swapchains, and acquires images.
/// Passes whose window has no image are skipped.
///
/// Images are acquired before passes record, because passes need to know whether there is an image, and its size.
///
/// Images of window size are recreated last, when all window sizes of the frame are known.
pub(crate) fn prepare(world: &mut World, renderer: &mut Renderer) -> Result<(), RenderError> {
    prepare_windows(world, renderer)?;
    Ok(WindowSizedImages::follow(world, &renderer.gpu)?)
}

fn prepare_windows(world: &mut World, renderer: &mut Renderer) -> Result<(), RenderError> {
    world.resource_scope(|world, mut query: Mut<WindowQuery>| {
        if let Some(&HeadlessWindow { extent }) = world.get_resource() {
            return Ok(prepare_headless(world, &mut query, &renderer.gpu, extent)?);
        }
        close(world, renderer);
        open(world, &mut query, renderer);
        acquire(world, renderer)?;
        query.entities.clear();
        let entities = renderer.windows.iter().map(|target| target.entity);
        query.entities.extend(entities);
        WindowMarkers::publish(world, &query.entities);
        if renderer
            .windows
            .iter()
            .all(|target| target.image().is_none())
        {
            std::thread::sleep(PAUSE);
        }
        Ok(())
    })
}

/// Removes all window images, after their device was replaced.
pub(crate) fn forget_images(world: &mut World) {
    WindowMarkers::publish(world, &[]);
    world.resource_scope(|world, mut query: Mut<WindowQuery>| {
        let query = &mut *query;
        query.windows.update_archetypes(world);
        query.entities.clear();
        query.entities.extend(query.windows.iter_manual(world));
        for &entity in &query.entities {
            give_image(world, entity, None);
        }
    });
}

/// Drops the targets of closed windows.
fn close(world: &mut World, renderer: &mut Renderer) {
    renderer.windows.retain(|target| {
        let is_open = world.get::<RawHandleWrapper>(target.entity).is_some();
        if !is_open && let Ok(mut entity) = world.get_entity_mut(target.entity) {
            entity.remove::<(WindowImage, SwapchainState)>();
        }
        is_open
    });
}

/// Creates targets for new windows.
fn open(world: &World, query: &mut WindowQuery, renderer: &mut Renderer) {
    query.handles.update_archetypes(world);
    for entity in query.handles.iter_manual(world) {
        if renderer.windows.iter().all(|known| known.entity != entity) {
            renderer.windows.push(WindowTarget::new(entity));
        }
    }
}

/// Acquires the images of all windows, and sets their [`WindowImage`] components.
fn acquire(world: &mut World, renderer: &mut Renderer) -> Result<(), RenderError> {
    let is_alone = renderer.windows.len() < 2;
    for target in &mut renderer.windows {
        let Ok(entity) = world.get_entity(target.entity) else {
            continue;
        };
        let (window, handle) = (entity.get::<Window>(), entity.get::<RawHandleWrapper>());
        let (Some(window), Some(handle)) = (window, handle) else {
            continue;
        };
        let settings = entity.get::<PresentSettings>();
        let given_up = target.acquire(&renderer.gpu, handle, window, settings, is_alone)?;
        give_image(world, target.entity, target.image());
        if let Some(reason) = given_up {
            let entity = target.entity;
            world.trigger(WindowFailed { entity, reason });
        }
    }
    Ok(())
}

/// Sets a window's [`WindowImage`] component.
fn give_image(world: &mut World, entity: Entity, image: Option<&GpuImage>) {
    let Ok(mut window) = world.get_entity_mut(entity) else {
        return;
    };
    match image {
        Some(image) if window.get::<WindowImage>().map(|known| &known.0) == Some(image) => {}
        Some(image) => {
            window.insert(WindowImage(image.clone()));
        }
        None => {
            window.remove::<WindowImage>();
        }
    }
}

/// Reports the outcome of the frame: the [`SwapchainState`] of each window.
pub(crate) fn report(world: &mut World, renderer: &Renderer) {
    for target in &renderer.windows {
        let Ok(mut entity) = world.get_entity_mut(target.entity) else {
            continue;
        };
        let Some(state) = target.state() else {
            continue;
        };
        match entity.get_mut::<SwapchainState>() {
            Some(mut known) => {
                known.set_if_neq(state);
            }
            None => {
                entity.insert(state);
            }
        }
    }
}

/// Creates the images of window entities in a headless app, of their own sizes. Without a primary window, spawns an
/// entity for it with an image of size `extent`.
fn prepare_headless(
    world: &mut World,
    query: &mut WindowQuery,
    gpu: &Gpu,
    extent: [u32; 2],
) -> Result<(), Error> {
    query.windows.update_archetypes(world);
    query.entities.clear();
    query.entities.extend(query.windows.iter_manual(world));
    for &entity in &query.entities {
        let Some(window) = world.get::<Window>(entity) else {
            continue;
        };
        let size = [window.physical_width(), window.physical_height()];
        let known = world.get::<WindowImage>(entity);
        if size.contains(&0) || known.is_some_and(|known| known.extent()[..2] == size) {
            continue;
        }
        let image = headless_image(gpu, &window.title, size)?;
        give_image(world, entity, Some(&image));
    }
    query.primary.update_archetypes(world);
    let primary = query.primary.iter_manual(world).next();
    let primary = match primary {
        Some(primary) => primary,
        None => {
            let image = WindowImage(headless_image(gpu, "window", extent)?);
            world
                .spawn((Name::new("window"), PrimaryWindow, image))
                .id()
        }
    };
    if !query.entities.contains(&primary) {
        query.entities.push(primary);
    }
    WindowMarkers::publish(world, &query.entities);
    Ok(())
}

fn headless_image(gpu: &Gpu, name: &str, [width, height]: [u32; 2]) -> Result<GpuImage, Error> {
    let usage = ImageUsage::COLOR_ATTACHMENT | ImageUsage::TRANSFER_SRC | ImageUsage::TRANSFER_DST;
    gpu.create_image(&ImageDesc::new(
        name,
        [width, height],
        HEADLESS_FORMAT,
        usage,
    ))
}
