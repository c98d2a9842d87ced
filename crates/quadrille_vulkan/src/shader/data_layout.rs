//! Where the values of a shader's buffers and push constants begin.

/// Bytes from the start of a variable that are looked at: all push constants that a pipeline has.
pub(super) const BYTES: u64 = 256;

/// Where the values of a buffer or of push constants begin in a shader, for a comparison with what a
/// program writes or pushes.
///
/// Only this comparison catches a struct that has the size of the shader's, but another layout: with
/// `[f32; 3]` for `vec3f`, say, which begins at a multiple of 16 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataLayout {
    members: Vec<(String, u32)>,
    /// Words of 4 bytes, as bits, that a member begins in.
    starts: u64,
    /// Words that a number, a vector or a column of a matrix begins in, at any depth.
    values: u64,
    /// Bytes from one element to the next, if it is an array.
    stride: Option<u64>,
}

/// How a program lays out what it writes to a buffer: of an array, its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueLayout {
    /// The type.
    pub name: &'static str,
    /// Words of 4 bytes, as bits, that something is written from on.
    pub starts: u64,
    /// How many bytes are written.
    pub bytes: u64,
    /// Bytes from one element to the next, if it is an array.
    pub stride: Option<u64>,
}

impl DataLayout {
    /// The members of the struct, or of the elements of an array, with the byte that each begins at, in
    /// order; the variable itself if it is neither; none if the entry point has no such variable.
    pub fn members(&self) -> impl Iterator<Item = (&str, u32)> {
        self.members
            .iter()
            .map(|(name, offset)| (name.as_str(), *offset))
    }

    /// Whether a value whose members begin at these bytes is laid out otherwise: a member of the shader
    /// begins where none of the value does, and a member of the value where nothing of the shader does.
    /// One of both alone is no mistake: structs may be nested on one side, and padding may be a member.
    ///
    /// ```
    /// # use quadrille_vulkan::GpuShader;
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

    /// The same of what a program has written, as far as both reach. Elements of arrays that follow each
    /// other otherwise are a contradiction too, unless the elements of one side are made of those of the
    /// other, as vectors are of numbers.
    pub(crate) fn contradicts_written(&self, value: &ValueLayout) -> bool {
        let strides = value.stride.zip(self.stride);
        let is_in_step = |(a, b): (u64, u64)| a == 0 || b == 0 || a % b == 0 || b % a == 0;
        let ends = [Some(value.bytes), value.stride, self.stride];
        let end = ends.into_iter().flatten().min().unwrap_or(0).min(BYTES);
        let seen = u64::MAX.checked_shr(64 - end.div_ceil(4) as u32);
        !strides.is_none_or(is_in_step) || self.differs(value.starts, seen.unwrap_or(0))
    }

    /// Whether members begin otherwise, of the words that are looked at.
    fn differs(&self, given: u64, seen: u64) -> bool {
        seen & self.starts & !given != 0 && seen & given & !self.values != 0
    }

    /// Where its members begin, in words.
    pub(crate) fn text(&self) -> String {
        let members = self.members();
        let members = members.map(|(name, offset)| format!("`{name}` at {offset}"));
        members.collect::<Vec<_>>().join(", ") + &each(self.stride)
    }

    /// Says that it is an array.
    pub(super) fn set_stride(&mut self, stride: u64) {
        self.stride = Some(stride);
    }

    /// Adds a member, the values of which are added as well.
    pub(super) fn add_member(&mut self, name: &str, offset: u64) {
        self.members.push((name.to_owned(), offset as u32));
        self.starts |= word(offset);
    }

    /// Adds a number, a vector or a column of a matrix.
    pub(super) fn add_value(&mut self, offset: u64) {
        self.values |= word(offset);
    }
}

impl ValueLayout {
    /// Where its members begin, in words.
    pub(crate) fn text(&self) -> String {
        let end = self.stride.unwrap_or(BYTES).min(BYTES);
        let begins = |offset: &u64| self.starts & word(*offset) != 0;
        let members = (0..end).step_by(4).filter(begins);
        let members = members.map(|offset| offset.to_string());
        members.collect::<Vec<_>>().join(", ") + &each(self.stride)
    }
}

/// How elements of an array follow each other, behind where their members begin.
fn each(stride: Option<u64>) -> String {
    stride.map_or_else(String::new, |stride| format!(" of each {stride}"))
}

/// The bit of the word that a byte is in; none beyond the bytes that are looked at.
fn word(offset: u64) -> u64 {
    if offset < BYTES { 1 << (offset / 4) } else { 0 }
}

#[cfg(test)]
mod tests;
