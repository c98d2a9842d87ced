//! Events of hot-reloaded shaders.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_vulkan::device::Reloaded;

use crate::gpu_device::GpuDevice;

/// Event: a shader file was reloaded. Either its pipelines have changed, or [`result`](Reloaded::result) holds the
/// reason why they have not. The result is also logged.
///
/// Files are reloaded when they change, with [`ShaderReloadPlugin`](crate::ShaderReloadPlugin),
/// or by [`Gpu::reload_shader`](quadrille_vulkan::device::Gpu::reload_shader).
///
/// ```
/// # use bevy_app::App;
/// # use bevy_ecs::prelude::*;
/// # use quadrille_ecs::ShaderReloaded;
/// # let mut app = App::new();
/// app.add_observer(|reloaded: On<ShaderReloaded>| {
///     let title = match &reloaded.result {
///         Ok(()) => "My game".to_owned(),
///         Err(error) => error.line(),
///     };
/// #   drop(title);
/// });
/// ```
#[derive(Event, Clone, Debug, Deref)]
#[non_exhaustive]
pub struct ShaderReloaded(pub Reloaded);

/// Switches pipelines to reloaded shaders, before a frame.
pub(crate) fn apply(gpu: Option<Res<GpuDevice>>, mut commands: Commands) {
    for reloaded in gpu.into_iter().flat_map(|gpu| gpu.take_reloads()) {
        match &reloaded.result {
            Ok(()) => tracing::info!("{reloaded}"),
            Err(_) => tracing::error!("{reloaded}"),
        }
        commands.trigger(ShaderReloaded(reloaded));
    }
}
