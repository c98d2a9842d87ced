//! Constants that Rust and shaders share, declared only here: shaders import `quadrille_2d::constants`.

quadrille::vulkan::shader_constants! {
    /// The shader module of the constants.
    pub(crate) fn constants() -> "quadrille_2d::constants";

    /// Flags of boxes: sides of the border to draw, from the lowest bit: left, top, right, bottom.
    pub(crate) const BORDER_SIDES: u32 = 0b1111;
    /// Flag of boxes: fills the outside of the box, within its quad.
    pub(crate) const INVERTED: u32 = 16;
    /// Flag of boxes: radial gradient.
    pub(crate) const RADIAL: u32 = 32;
    /// Flag of boxes: conic gradient.
    pub(crate) const CONIC: u32 = 64;
    /// Flag of gradient segments: everything before the segment has its first color.
    pub(crate) const FILL_START: u32 = 128;
    /// Flag of gradient segments: everything after the segment has its last color.
    pub(crate) const FILL_END: u32 = 256;
    /// First bit of a gradient's color space.
    pub(crate) const COLOR_SPACE_SHIFT: u32 = 9;

    /// Color spaces of gradients: linear RGB.
    pub(crate) const LINEAR: u32 = 0;
    /// sRGB, interpolated with its transfer function.
    pub(crate) const SRGB: u32 = 1;
    /// Oklab.
    pub(crate) const OKLAB: u32 = 2;
    /// Oklch, along the shorter hue arc.
    pub(crate) const OKLCH: u32 = 3;
    /// Oklch, along the longer hue arc.
    pub(crate) const OKLCH_LONG: u32 = 4;
    /// HSL, along the shorter hue arc.
    pub(crate) const HSL: u32 = 5;
    /// HSL, along the longer hue arc.
    pub(crate) const HSL_LONG: u32 = 6;
    /// HSV, along the shorter hue arc.
    pub(crate) const HSV: u32 = 7;
    /// HSV, along the longer hue arc.
    pub(crate) const HSV_LONG: u32 = 8;
    /// Saturation or chroma below which a color has no hue.
    pub(crate) const HUE_GUARD: f32 = 1e-4;
}
