//! Blending of windows with the desktop (`Window::composite_alpha_mode`).

use bevy_window::{CompositeAlphaMode, Window};
use quadrille_vulkan::present::CompositeAlpha;
use quadrille_vulkan::vk::CompositeAlphaFlagsKHR as Flags;

/// Converts a mode to Vulkan flags; `None` lets the surface decide.
pub(super) fn flags(mode: CompositeAlphaMode) -> Flags {
    match mode {
        CompositeAlphaMode::Auto => Flags::empty(),
        CompositeAlphaMode::Opaque => Flags::OPAQUE,
        CompositeAlphaMode::PreMultiplied => Flags::PRE_MULTIPLIED,
        CompositeAlphaMode::PostMultiplied => Flags::POST_MULTIPLIED,
        CompositeAlphaMode::Inherit => Flags::INHERIT,
    }
}

/// Describes a requested composite mode that the surface does not support, and how to fix it.
pub(super) fn problem(window: &Window, chosen: CompositeAlpha) -> Option<String> {
    let wanted = flags(window.composite_alpha_mode);
    let mode = window.composite_alpha_mode;
    let all = [
        CompositeAlphaMode::Opaque,
        CompositeAlphaMode::PreMultiplied,
        CompositeAlphaMode::PostMultiplied,
        CompositeAlphaMode::Inherit,
    ];
    let is = |it: &CompositeAlphaMode| flags(*it) == chosen.mode;
    let used = all.into_iter().find(is).unwrap_or_default();
    let title = &window.title;
    let mut others = all
        .into_iter()
        .filter(|&it| chosen.supported.contains(flags(it)));
    if !wanted.is_empty() && wanted != chosen.mode {
        let others: Vec<_> = others.map(|it| format!("{it:?}")).collect();
        return Some(format!(
            "the window `{title}` asks for `CompositeAlphaMode::{mode:?}`, which its surface lacks: {used:?} is used. \
             Set `Window::composite_alpha_mode` to a mode that it has ({})",
            others.join(", ")
        ));
    }
    if window.transparent && wanted.is_empty() && chosen.mode == Flags::OPAQUE {
        return Some(match others.find(|it| *it != used) {
            Some(other) => format!(
                "the window `{title}` is `transparent`, but `CompositeAlphaMode::Auto` is opaque on its surface. Set \
                 `Window::composite_alpha_mode` to {other:?}"
            ),
            None => format!(
                "the window `{title}` is `transparent`, but its surface is always opaque. Set `Window::transparent` \
                 to false"
            ),
        });
    }
    None
}

#[cfg(test)]
mod tests;
