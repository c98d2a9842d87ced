//! Where the values of a shader's push constants begin.

/// Bytes of push constants that are looked at: more than that no pipeline has.
pub(super) const BYTES: u64 = super::MAX_PUSH_CONSTANTS as u64;

/// Where the values of an entry point's push constants begin, for a comparison with what is pushed.
///
/// Of a struct that has the size of the shader's, but not its layout, nothing else can be told: with
/// `[f32; 3]` for `vec3f`, say, which begins at a multiple of 16 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushLayout {
    members: Vec<(String, u32)>,
    /// Words of 4 bytes, as bits, that a member begins in.
    starts: u32,
    /// Words that a number, a vector or a column of a matrix begins in, at any depth.
    values: u32,
}

impl PushLayout {
    /// The members of the struct with the byte that each begins at, in order; the variable itself if it
    /// is no struct; none if the entry point has no push constants.
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
        self.starts & !given != 0 && given & !self.values != 0
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

/// The bit of the word that a byte is in; none beyond the bytes that are looked at.
fn word(offset: u64) -> u32 {
    if offset < BYTES { 1 << (offset / 4) } else { 0 }
}
