//! Textures of the renderer's own materials, which shader modules declare as private variables.
//!
//! A variable of the type `TextureElement` or `SamplerElement`, both of which are `u32` in its module, holds an index in the
//! bindless table. Shaders use it as a texture or sampler, and here each such use becomes that element.

use super::scan::{Edits, Scanner};

/// Type names of variables that hold indices of textures and samplers.
const TYPES: [&str; 2] = ["TextureElement", "SamplerElement"];

impl Scanner<'_> {
    /// Replaces the uses of all such variables except for assignments.
    pub(super) fn replace_elements(&self, edits: &mut Edits) {
        let [textures, mask, samplers, shift] = self.table_names();
        let declarations: Vec<usize> = self
            .top_level()
            .filter(|&at| self.word(at) == "var" && self.word(at + 2) == "private")
            .map(|at| at + 4)
            .collect();
        for name_at in declarations {
            let name = self.word(name_at);
            let element = match self.own_name(self.word(name_at + 2)) {
                ty if ty == TYPES[0] => format!("{textures}[{name} & {mask}]"),
                ty if ty == TYPES[1] => format!("{samplers}[{name} >> {shift}]"),
                _ => continue,
            };
            for at in 0..self.len() {
                let is_assignment = self.is(at + 1, '=') && !self.is(at + 2, '=');
                let is_use = at != name_at && self.is_word(at) && self.word(at) == name;
                if is_use && !is_assignment && !(at > 0 && self.is(at - 1, '.')) {
                    edits.push((self.bytes(at..at + 1), element.clone()));
                }
            }
        }
    }
}
