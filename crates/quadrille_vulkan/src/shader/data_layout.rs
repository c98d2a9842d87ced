//! Memory layouts of buffers and push constants, for comparison of Rust types with shader types.

/// Number of bytes compared, from the start of a variable. Covers all push constants of a pipeline.
pub(super) const BYTES: u64 = 256;

/// Memory layout of a buffer or of push constants in a shader, for comparison with the values that a
/// program writes or pushes.
///
/// The comparison finds Rust structs of equal size but different layout, such as
/// `[f32; 3]` for `vec3f`, which has an alignment of 16 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataLayout {
    members: Vec<(String, u32)>,
    /// Bit mask of the 4-byte words in which a member begins.
    starts: u64,
    /// Bit mask of the words in which a scalar, a vector or a matrix column begins, at any nesting depth.
    values: u64,
    /// Array stride in bytes, if it is an array.
    stride: Option<u64>,
}

/// Memory layout of a Rust value that is written to a buffer; for an array, that of its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueLayout {
    /// The type.
    pub name: &'static str,
    /// Bit mask of the 4-byte words in which a member begins.
    pub starts: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Array stride in bytes, if it is an array.
    pub stride: Option<u64>,
}

impl DataLayout {
    /// Returns the members of the struct, or of an array's elements, with their byte offsets in order. For other types
    /// the variable itself; empty if the entry point has no such variable.
    pub fn members(&self) -> impl Iterator<Item = (&str, u32)> {
        self.members
            .iter()
            .map(|(name, offset)| (name.as_str(), *offset))
    }

    /// Whether a value with members at these byte offsets has a contradicting layout: some member of the shader begins
    /// where no member of the value does, and some member of the value begins where no value of the shader does. One of
    /// both alone is not an error: structs may be nested on one side only, and padding may be a member.
    ///
    /// ```
    /// # use quadrille_vulkan::shader::GpuShader;
    /// let shader = GpuShader::wgsl("push", "
    ///     struct Ray { start: vec3f, end: vec3f }
    ///     var<immediate> ray: Ray;
    ///     @group(0) @binding(0) var<storage, read_write> length: f32;
    ///     @compute @workgroup_size(1) fn main() { length = distance(ray.start, ray.end); }
    /// ")?;
    /// let layout = &shader.entry_points()[0].push_layout;
    /// assert!(layout.members().eq([("start", 0), ("end", 16)]));
    /// assert!(layout.contradicts(&[0, 12, 24]));
    /// assert!(!layout.contradicts(&[0, 12, 16, 28]));
    /// # Ok::<(), quadrille_vulkan::ShaderError>(())
    /// ```
    pub fn contradicts(&self, offsets: &[u64]) -> bool {
        let given = offsets.iter().fold(0, |all, &offset| all | word(offset));
        self.differs(given, u64::MAX)
    }

    /// [`contradicts`](Self::contradicts) for a written value, up to the end of the shorter one. Different array
    /// strides are a contradiction too, unless the elements of one side are composed of those of the
    /// other, like vectors of scalars.
    pub(crate) fn contradicts_written(&self, value: &ValueLayout) -> bool {
        let strides = value.stride.zip(self.stride);
        let is_in_step = |(a, b): (u64, u64)| a == 0 || b == 0 || a % b == 0 || b % a == 0;
        let ends = [Some(value.bytes), value.stride, self.stride];
        let end = ends.into_iter().flatten().min().unwrap_or(0).min(BYTES);
        let seen = u64::MAX.checked_shr(64 - end.div_ceil(4) as u32);
        !strides.is_none_or(is_in_step) || self.differs(value.starts, seen.unwrap_or(0))
    }

    /// Whether offsets contradict within the words in `seen`.
    fn differs(&self, given: u64, seen: u64) -> bool {
        seen & self.starts & !given != 0 && seen & given & !self.values != 0
    }

    /// Formats the offsets of the members, for errors.
    pub(crate) fn text(&self) -> String {
        let members = self.members();
        let members = members.map(|(name, offset)| format!("`{name}` at {offset}"));
        members.collect::<Vec<_>>().join(", ") + &each(self.stride)
    }

    /// Marks it as an array with this stride.
    pub(super) fn set_stride(&mut self, stride: u64) {
        self.stride = Some(stride);
    }

    /// Adds a member. Its values have to be added as well.
    pub(super) fn add_member(&mut self, name: &str, offset: u64) {
        self.members.push((name.to_owned(), offset as u32));
        self.starts |= word(offset);
    }

    /// Adds a scalar, a vector or a matrix column.
    pub(super) fn add_value(&mut self, offset: u64) {
        self.values |= word(offset);
    }
}

impl ValueLayout {
    /// Formats the offsets of the members, for errors.
    pub(crate) fn text(&self) -> String {
        let end = self.stride.unwrap_or(BYTES).min(BYTES);
        let begins = |offset: &u64| self.starts & word(*offset) != 0;
        let members = (0..end).step_by(4).filter(begins);
        let members = members.map(|offset| offset.to_string());
        members.collect::<Vec<_>>().join(", ") + &each(self.stride)
    }
}

/// Formats the array stride, as the end of the list of offsets.
fn each(stride: Option<u64>) -> String {
    stride.map_or_else(String::new, |stride| format!(" of each {stride}"))
}

/// Returns the bit of a byte's word; 0 beyond the compared bytes.
fn word(offset: u64) -> u64 {
    if offset < BYTES { 1 << (offset / 4) } else { 0 }
}

#[cfg(test)]
mod tests;
