//! Limits of renderings beyond those of Vulkan 1.0.

use ash::vk;

use crate::device::Device;
use crate::device::resolve_mode::ResolveMode;
use crate::error::CommandError;
use crate::instance::Instance;

/// Limits of renderings.
#[derive(Clone, Copy)]
pub(crate) struct RenderingLimits {
    /// `maxMultiviewViewCount`
    max_views: u32,
    /// `maxMultiviewInstanceIndex`
    pub last_instance: u32,
    /// Supported resolve modes of depth and of stencil.
    resolve_modes: [vk::ResolveModeFlags; 2],
    /// `independentResolve`
    independent_resolve: bool,
    /// `independentResolveNone`
    independent_resolve_none: bool,
}

impl RenderingLimits {
    /// Queries the limits of a physical device.
    pub(super) fn of(instance: &Instance, physical: vk::PhysicalDevice) -> Self {
        let mut vulkan11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut vulkan12 = vk::PhysicalDeviceVulkan12Properties::default();
        let mut all = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut vulkan11)
            .push_next(&mut vulkan12);
        // SAFETY: `physical` was enumerated from this instance, which is of version 1.3.
        unsafe {
            instance
                .raw
                .get_physical_device_properties2(physical, &mut all)
        };
        Self {
            max_views: vulkan11.max_multiview_view_count,
            last_instance: vulkan11.max_multiview_instance_index,
            resolve_modes: [
                vulkan12.supported_depth_resolve_modes,
                vulkan12.supported_stencil_resolve_modes,
            ],
            independent_resolve: vulkan12.independent_resolve == vk::TRUE,
            independent_resolve_none: vulkan12.independent_resolve_none == vk::TRUE,
        }
    }
}

impl Device {
    /// Returns the `queryCount` with which a pool of `count` used queries is created.
    ///
    /// lavapipe (Mesa 25.0.7, `handle_write_timestamp2` and `handle_begin_query` of `lvp_execute.c`) keeps the view
    /// mask of a rendering after its end. A query outside of any rendering then writes one query per view, and
    /// overwrites other memory beyond the end of the pool. Spare queries avoid that.
    pub(crate) fn pool_queries(&self, count: u32) -> u32 {
        let views = if self.optional.multiview {
            self.rendering_limits.max_views
        } else {
            1
        };
        count.saturating_add(views.saturating_sub(1))
    }

    /// Checks that the device can render to the views of a mask.
    pub(crate) fn check_views(&self, view_mask: u32) -> Result<(), CommandError> {
        if view_mask == 0 {
            return Ok(());
        }
        if !self.optional.multiview {
            let (feature, device) = ("multiview", self.info.name.clone());
            return Err(CommandError::Lacks { feature, device });
        }
        let last = u32::BITS - 1 - view_mask.leading_zeros();
        let most = self.rendering_limits.max_views;
        if last >= most {
            let what = format!("view {last} of the view mask {view_mask:#b}");
            let limit = u64::from(most).saturating_sub(1);
            return Err(CommandError::Limit { what, limit });
        }
        Ok(())
    }

    /// Describes why depth and stencil of an image cannot be resolved with these modes. `aspects` are those of the
    /// image.
    pub(crate) fn resolve_problem(
        &self,
        name: &str,
        aspects: vk::ImageAspectFlags,
        modes: [Option<ResolveMode>; 2],
    ) -> Option<String> {
        let (limits, device) = (&self.rendering_limits, &self.info.name);
        let parts = [
            ("depth", vk::ImageAspectFlags::DEPTH),
            ("stencil", vk::ImageAspectFlags::STENCIL),
        ];
        let wanted = modes.into_iter().zip(limits.resolve_modes);
        for ((aspect, flag), (mode, has)) in parts.into_iter().zip(wanted) {
            let Some(mode) = mode else { continue };
            if !aspects.contains(flag) {
                return Some(format!("`{name}` has no {aspect} to resolve"));
            }
            let is_had = |mode: &ResolveMode| has.contains(mode.to_vk());
            if !is_had(&mode) {
                let all: Vec<_> = ResolveMode::ALL.into_iter().filter(is_had).collect();
                return Some(format!(
                    "`{name}` resolves {aspect} by {mode:?}, which the device `{device}` does not do; it has \
                     {all:?}"
                ));
            }
        }
        let has_both = parts.iter().all(|(_, flag)| aspects.contains(*flag));
        let leaves_one = limits.independent_resolve_none && modes.contains(&None);
        if !has_both || limits.independent_resolve || leaves_one || modes[0] == modes[1] {
            return None;
        }
        let [depth, stencil] =
            modes.map(|it| it.map_or("no mode".to_owned(), |it| format!("{it:?}")));
        let or_none = if limits.independent_resolve_none {
            ", or none for one of them"
        } else {
            ""
        };
        Some(format!(
            "`{name}` resolves depth by {depth} and stencil by {stencil}, and the device `{device}` takes the \
             same for both{or_none}"
        ))
    }
}
