//! Dynamic state of draws.

use super::{Command, CommandList};

/// Dynamic state that a command sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Left, top, width and height as bits of four `f32`, so that -0 and 0 differ in comparisons.
    Viewport([u32; 4]),
    /// Left, top, width and height.
    Scissor([u32; 4]),
    StencilReference(u8),
}

impl CommandList {
    /// Sets the viewport: left, top, width and height in pixels.
    pub fn viewport(&mut self, area: [f32; 4]) {
        self.add_state(State::Viewport(area.map(f32::to_bits)));
    }

    /// Sets the scissor: left, top, width and height in pixels.
    pub fn scissor(&mut self, area: [u32; 4]) {
        self.add_state(State::Scissor(area));
    }

    /// Sets the stencil reference for draws with the bound graphics pipeline. Overrides that of its
    /// [`StencilState`](crate::pipeline::StencilState).
    pub fn stencil_reference(&mut self, reference: u8) {
        self.add_state(State::StencilReference(reference));
    }

    fn add_state(&mut self, state: State) {
        let states = &mut self.side_mut().states;
        states.push(state);
        let state = states.len() as u32 - 1;
        self.add(Command::State { state });
    }
}
