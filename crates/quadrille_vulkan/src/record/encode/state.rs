//! Dynamic state.

use ash::vk;

use super::{Encoder, Failure};
use crate::commands::State;
use crate::error::CommandError;
use crate::record::calls::Call;

/// Dynamic state with all arguments.
#[derive(Clone, Copy)]
pub(crate) enum StateCall {
    /// `vkCmdSetViewport`: left, top, width and height in pixels, from the upper left corner.
    Viewport([f32; 4]),
    /// `vkCmdSetScissor`
    Scissor(vk::Rect2D),
    /// `vkCmdSetStencilReference` of both faces.
    StencilReference(u8),
}

impl StateCall {
    /// Records the call.
    pub(super) fn record(self, encoder: &Encoder<'_>) {
        let (raw, buffer) = (&encoder.device.raw, encoder.buffer);
        match self {
            // A negative height flips y: clip space is y-down in Vulkan, y-up in WGSL.
            Self::Viewport([x, y, width, height]) => {
                let viewport = vk::Viewport {
                    x,
                    y: y + height,
                    width,
                    height: -height,
                    min_depth: 0.0,
                    max_depth: 1.0,
                };
                // SAFETY: the values are those of the render area, or were checked against the limits.
                unsafe { raw.cmd_set_viewport(buffer, 0, &[viewport]) };
            }
            Self::Scissor(area) => {
                // SAFETY: offsets are not negative, and offset and extent do not overflow.
                unsafe { raw.cmd_set_scissor(buffer, 0, &[area]) };
            }
            Self::StencilReference(reference) => {
                let faces = vk::StencilFaceFlags::FRONT_AND_BACK;
                // SAFETY: the face mask is not empty.
                unsafe { raw.cmd_set_stencil_reference(buffer, faces, reference.into()) };
            }
        }
    }
}

impl Encoder<'_> {
    pub(super) fn state(&mut self, state: State) -> Result<(), Failure> {
        match state {
            State::Viewport(area) => self.viewport(area.map(f32::from_bits)),
            State::Scissor(area) => self.scissor(area),
            State::StencilReference(reference) => self.stencil_reference(reference),
        }
    }

    /// Stores the stencil reference for draws with the bound pipeline.
    fn stencil_reference(&mut self, reference: u8) -> Result<(), Failure> {
        self.need_rendering(true)?;
        let pipeline = self.bindings.graphics;
        let pipeline = pipeline.ok_or(CommandError::NoPipeline { kind: "graphics" })?;
        if pipeline.stencil_reference().is_none() {
            let pipeline = pipeline.name().to_owned();
            return Err(CommandError::NoStencil { pipeline }.into());
        }
        self.bindings.stencil_reference = Some(reference);
        Ok(())
    }

    /// Sets the viewport.
    fn viewport(&mut self, area: [f32; 4]) -> Result<(), Failure> {
        self.need_rendering(true)?;
        let [left, top, width, height] = area;
        let limits = &self.device.limits;
        let most = limits.max_viewport_dimensions;
        let [first, last] = limits.viewport_bounds_range;
        // Comparisons are false for NaN, so it is rejected.
        let fits = |start: f32, length: f32, most: u32| {
            let range = first..=last;
            length > 0.0
                && length <= most as f32
                && range.contains(&start)
                && range.contains(&(start + length))
        };
        if !fits(left, width, most[0]) || !fits(top, height, most[1]) {
            return Err(CommandError::Viewport {
                area,
                bounds: [first, last],
                most,
            }
            .into());
        }
        self.emit(Call::State(StateCall::Viewport(area)));
        Ok(())
    }

    /// Sets the scissor.
    fn scissor(&mut self, area: [u32; 4]) -> Result<(), Failure> {
        self.need_rendering(true)?;
        let [x, y, width, height] = area.map(|value| value.min(i32::MAX as u32 / 2));
        let area = vk::Rect2D {
            offset: vk::Offset2D {
                x: x as i32,
                y: y as i32,
            },
            extent: vk::Extent2D { width, height },
        };
        self.emit(Call::State(StateCall::Scissor(area)));
        Ok(())
    }
}
