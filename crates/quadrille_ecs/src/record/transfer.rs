//! Recording of copies and clears.

use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::resources::ImageRegion;
use quadrille_vulkan::vk;

use crate::declare::attachment::ClearValue;
use crate::declare::bind::Declared;
use crate::declare::kind::AccessKind;
use crate::record::recording::SubRecording;

/// Copies, fills and clears of declared resources.
pub struct Transfer<'a> {
    recording: &'a mut SubRecording,
}

impl<'a> Transfer<'a> {
    pub(crate) fn begin(recording: &'a mut SubRecording) -> Self {
        recording.needs |= Capabilities::TRANSFER;
        Self { recording }
    }

    /// Copies `bytes` bytes between buffers.
    pub fn copy_buffer(
        &mut self,
        from: &impl Declared,
        from_offset: u64,
        to: &impl Declared,
        to_offset: u64,
        bytes: u64,
    ) -> &mut Self {
        let from =
            self.recording
                .used_buffer(from.bound(), AccessKind::TransferRead, "copy_buffer");
        let to = self
            .recording
            .used_buffer(to.bound(), AccessKind::TransferWrite, "copy_buffer");
        if let (Some(from), Some(to)) = (from, to) {
            self.recording
                .list
                .copy_buffer(from, from_offset, to, to_offset, bytes);
        }
        self
    }

    /// Copies the first mip level of one image, or of a [view](crate::DeclaredView) of it, to that of
    /// another of the same extent.
    pub fn copy_image(&mut self, from: &impl Declared, to: &impl Declared) -> &mut Self {
        let from = self
            .recording
            .used_image(from.bound(), AccessKind::TransferRead, "copy_image");
        let to = self
            .recording
            .used_image(to.bound(), AccessKind::TransferWrite, "copy_image");
        if let (Some((from, view)), Some((to, to_view))) = (from, to) {
            let (all, to_all) = (ImageRegion::of(from, view), ImageRegion::of(to, to_view));
            self.recording.list.copy_image(from, all, to, to_all);
        }
        self
    }

    /// Copies the first mip level of an image, or of a [view](crate::DeclaredView) of it, to a buffer:
    /// row by row without padding, from `offset` bytes on.
    ///
    /// ```
    /// # use bevy_derive::Deref;
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::*;
    /// # use quadrille_vulkan::resources::{GpuBuffer, GpuImage};
    /// # #[derive(Resource, Deref)] struct Maps(GpuImage);
    /// # #[derive(Resource, Deref)] struct Texels(GpuBuffer);
    /// fn keep(mut recorder: Recorder, from: TransferRead<Maps>, to: TransferWrite<Texels>) {
    ///     recorder.transfer().copy_image_to_buffer(&from.layer(2), &to, 0);
    /// }
    /// ```
    pub fn copy_image_to_buffer(
        &mut self,
        from: &impl Declared,
        to: &impl Declared,
        offset: u64,
    ) -> &mut Self {
        let command = "copy_image_to_buffer";
        let from = self
            .recording
            .used_image(from.bound(), AccessKind::TransferRead, command);
        let to = self
            .recording
            .used_buffer(to.bound(), AccessKind::TransferWrite, command);
        if let (Some((from, view)), Some(to)) = (from, to) {
            let all = ImageRegion::of(from, view);
            let list = &mut self.recording.list;
            list.copy_image_to_buffer(from, all, to, offset);
        }
        self
    }

    /// Copies from a buffer, from `offset` bytes on and row by row without padding, to the first mip
    /// level of an image, or of a [view](crate::DeclaredView) of it.
    ///
    /// ```
    /// # use bevy_derive::Deref;
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::*;
    /// # use quadrille_vulkan::resources::{GpuBuffer, GpuImage};
    /// # #[derive(Resource, Deref)] struct Maps(GpuImage);
    /// # #[derive(Resource, Deref)] struct Texels(GpuBuffer);
    /// fn load(mut recorder: Recorder, from: TransferRead<Texels>, to: TransferWrite<Maps>) {
    ///     recorder.transfer().copy_buffer_to_image(&from, 0, &to.mip(1));
    /// }
    /// ```
    pub fn copy_buffer_to_image(
        &mut self,
        from: &impl Declared,
        offset: u64,
        to: &impl Declared,
    ) -> &mut Self {
        let command = "copy_buffer_to_image";
        let from = self
            .recording
            .used_buffer(from.bound(), AccessKind::TransferRead, command);
        let to = self
            .recording
            .used_image(to.bound(), AccessKind::TransferWrite, command);
        if let (Some(from), Some((to, view))) = (from, to) {
            let all = ImageRegion::of(to, view);
            let list = &mut self.recording.list;
            list.copy_buffer_to_image(from, offset, to, all);
        }
        self
    }

    /// Copies the first mip level of one image, or of a [view](crate::DeclaredView) of it, to that of
    /// another, scaled with a linear filter to its extent. Needs a graphics queue.
    pub fn blit_image(&mut self, from: &impl Declared, to: &impl Declared) -> &mut Self {
        let from = self
            .recording
            .used_image(from.bound(), AccessKind::TransferRead, "blit_image");
        let to = self
            .recording
            .used_image(to.bound(), AccessKind::TransferWrite, "blit_image");
        self.recording.needs |= Capabilities::GRAPHICS;
        if let (Some((from, view)), Some((to, to_view))) = (from, to) {
            let (all, to_all) = (ImageRegion::of(from, view), ImageRegion::of(to, to_view));
            self.recording
                .list
                .blit_image(from, all, to, to_all, vk::Filter::LINEAR);
        }
        self
    }

    /// Fills `bytes` bytes from `offset` on with a repeated word; both must be multiples of 4.
    pub fn fill_buffer(
        &mut self,
        buffer: &impl Declared,
        offset: u64,
        bytes: u64,
        word: u32,
    ) -> &mut Self {
        if let Some(buffer) =
            self.recording
                .used_buffer(buffer.bound(), AccessKind::TransferWrite, "fill_buffer")
        {
            self.recording.list.fill_buffer(buffer, offset, bytes, word);
        }
        self
    }

    /// Clears a color image, or a [view](crate::DeclaredView) of it, to a color as for
    /// [`ColorAttachment::clear`](crate::ColorAttachment::clear). Needs a graphics or compute
    /// queue.
    pub fn clear_image(
        &mut self,
        image: &impl Declared,
        color: impl Into<ClearValue>,
    ) -> &mut Self {
        self.recording.needs |= Capabilities::COMPUTE;
        let image =
            self.recording
                .used_image(image.bound(), AccessKind::TransferWrite, "clear_image");
        if let Some((image, view)) = image {
            let ClearValue(color) = color.into();
            self.recording.list.clear_view(image, view, color);
        }
        self
    }
}
