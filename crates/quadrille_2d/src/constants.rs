//! Constants that Rust and shaders share, declared here alone: shaders import `quadrille_2d::constants`.

quadrille::vulkan::shader_constants! {
    /// The module of shaders.
    pub(crate) fn constants() -> "quadrille_2d::constants";

    /// Bits of the flags of boxes that are the drawn sides of the border: left, top, right, bottom.
    pub(crate) const BORDER_SIDES: u32 = 0b1111;
    /// Flag of boxes: all but the box is filled.
    pub(crate) const INVERTED: u32 = 16;
    /// Flag of boxes: their gradient is radial.
    pub(crate) const RADIAL: u32 = 32;
    /// Flag of boxes: their gradient is conic.
    pub(crate) const CONIC: u32 = 64;
    /// Flag of segments of gradients: all before it has its first color.
    pub(crate) const FILL_START: u32 = 128;
    /// Flag of segments of gradients: all behind it has its last color.
    pub(crate) const FILL_END: u32 = 256;
    /// First bit of the color space of a gradient.
    pub(crate) const COLOR_SPACE_SHIFT: u32 = 9;

    /// Color spaces of gradients.
    pub(crate) const LINEAR: u32 = 0;
    /// sRGB, as it is encoded.
    pub(crate) const SRGB: u32 = 1;
    /// Oklab.
    pub(crate) const OKLAB: u32 = 2;
    /// Oklch, by the shorter way around.
    pub(crate) const OKLCH: u32 = 3;
    /// Oklch, by the longer way around.
    pub(crate) const OKLCH_LONG: u32 = 4;
    /// HSL, by the shorter way around.
    pub(crate) const HSL: u32 = 5;
    /// HSL, by the longer way around.
    pub(crate) const HSL_LONG: u32 = 6;
    /// HSV, by the shorter way around.
    pub(crate) const HSV: u32 = 7;
    /// HSV, by the longer way around.
    pub(crate) const HSV_LONG: u32 = 8;
    /// Saturation or chroma below which a color has no hue.
    pub(crate) const HUE_GUARD: f32 = 1e-4;
}
