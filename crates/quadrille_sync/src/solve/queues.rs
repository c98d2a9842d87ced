//! Dependencies between queues and beyond them: transfers of ownership between queue families,
//! swapchains, and the host.

pub(super) mod host;
pub(super) mod ownership;
pub(super) mod swapchain;
