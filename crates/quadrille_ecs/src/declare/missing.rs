//! Error of a pass whose resource does not exist.

use bevy_ecs::system::SystemParamValidationError;
use bevy_utils::prelude::DebugName;

use crate::declare::named::Named;

/// Error, or skip, of a pass whose declared resource does not exist.
#[cold]
pub(crate) fn missing<T: Named, P>(awaited: bool) -> SystemParamValidationError {
    if awaited {
        // A minimized or closed window has no image, and an asset that is still loading has none yet. The pass is
        // skipped without an error.
        return SystemParamValidationError::skipped::<P>("its window or asset has no image now");
    }
    let name = DebugName::type_name::<T>().shortname().to_string();
    SystemParamValidationError::invalid::<P>(format!(
        "the resource `{name}` does not exist while the frame is recorded; {}",
        remedy(std::any::type_name::<T>(), &name)
    ))
}

/// Describes how to create a resource that names a buffer or an image.
fn remedy(path: &str, name: &str) -> String {
    let path = path.split('<').next().unwrap_or(path);
    let inner = name.split_once('<').map_or("", |(_, rest)| rest);
    let of = inner.strip_suffix('>').unwrap_or(inner);
    if path.starts_with("quadrille_ecs::") && path.ends_with("::WindowImageOf") {
        return format!("call `app.add_window_image::<{of}>()` before");
    }
    if path.starts_with("quadrille_ecs::data::history::") {
        return format!(
            "make it before, with `commands.queue(NewHistory::<{of}>::buffer(..)?)` or \
             `::image(..)`, in `RenderStartup`"
        );
    }
    format!(
        "insert it before, for example with `commands.insert_resource({name}(gpu.create_..(..)?))` \
         in `RenderStartup`, or, during a frame, in `RenderSystems::Declare`"
    )
}

#[cfg(test)]
#[path = "missing_tests.rs"]
mod tests;
