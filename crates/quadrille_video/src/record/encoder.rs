//! Encoding on the CPU by OpenH264.

use std::time::Duration;

use openh264::encoder::{
    ColorPrimaries, EncoderConfig, FrameRate, FrameType, IntraFramePeriod, MatrixCoefficients,
    RateControlMode, TransferCharacteristics, UsageType, VuiConfig,
};
use openh264::formats::{BgraSliceU8, RgbaSliceU8, YUVBuffer};
use openh264::{OpenH264API, Timestamp, encoder};
use quadrille::vulkan::Format;

use super::writer::Shot;

/// Seconds between pictures that can be decoded without others.
const SECONDS_BETWEEN_KEYS: f64 = 2.0;

/// Smallest width and height that OpenH264 encodes.
const MIN_SIDE: u32 = 16;

/// An access unit: NAL units without start codes.
pub(super) struct AccessUnit {
    pub(super) units: Vec<Vec<u8>>,
    /// Whether it can be decoded without others.
    pub(super) is_key: bool,
}

/// An encoder for pictures of one size.
pub(super) struct Encoder {
    encoder: encoder::Encoder,
    size: [u32; 2],
    planes: YUVBuffer,
    /// Pixels of a picture of another size.
    fitted: Vec<u8>,
}

impl Encoder {
    /// Starts an encoder for pictures like this one.
    pub(super) fn new(picture: &Shot, rate: f64) -> Result<Self, String> {
        let (size, _) = image_of(picture)?;
        let size = size.map(|side| side & !1);
        let [width, height] = size;
        if width < MIN_SIDE || height < MIN_SIDE {
            return Err(format!(
                "pictures of {width} x {height} pixels are smaller than {MIN_SIDE} x {MIN_SIDE}"
            ));
        }
        let between_keys = (rate * SECONDS_BETWEEN_KEYS).clamp(1.0, 600.0);
        // The conversion of `YUVBuffer` is that of BT.601 in the limited range.
        let color = VuiConfig::new()
            .color_primaries(ColorPrimaries::Bt709)
            .transfer_characteristics(TransferCharacteristics::Srgb)
            .matrix_coefficients(MatrixCoefficients::Smpte170M)
            .full_range(false);
        let config = EncoderConfig::new()
            .usage_type(UsageType::CameraVideoRealTime)
            // Constant quality: a quantization parameter of 26, by OpenH264's default.
            .rate_control_mode(RateControlMode::Off)
            .max_frame_rate(FrameRate::from_hz(rate as f32))
            .intra_frame_period(IntraFramePeriod::from_num_frames(between_keys as u32))
            .skip_frames(false)
            .vui(color);
        let encoder = encoder::Encoder::with_api_config(OpenH264API::from_source(), config);
        Ok(Self {
            encoder: encoder.map_err(|error| error.to_string())?,
            size,
            planes: YUVBuffer::new(width as usize, height as usize),
            fitted: Vec::new(),
        })
    }

    pub(super) fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Encodes a picture.
    pub(super) fn encode(&mut self, picture: &Shot, time: Duration) -> Result<AccessUnit, String> {
        let (size, order) = image_of(picture)?;
        let pixels = match size == self.size {
            true => &picture.bytes,
            false => {
                fit(&picture.bytes, size, self.size, &mut self.fitted);
                &self.fitted
            }
        };
        let sides = self.size.map(|side| side as usize);
        match order {
            Order::Rgba => self
                .planes
                .read_rgba8(RgbaSliceU8::new(pixels, sides.into())),
            Order::Bgra => self
                .planes
                .read_bgra8(BgraSliceU8::new(pixels, sides.into())),
        }
        let time = Timestamp::from_millis(time.as_millis() as u64);
        let encoded = self.encoder.encode_at(&self.planes, time);
        let encoded = encoded.map_err(|error| error.to_string())?;
        let layers = (0..encoded.num_layers()).filter_map(|at| encoded.layer(at));
        let mut units = Vec::new();
        for layer in layers {
            let of_layer = (0..layer.nal_count()).filter_map(|at| layer.nal_unit(at));
            units.extend(of_layer.map(|unit| without_start_code(unit).to_vec()));
        }
        Ok(AccessUnit {
            units,
            is_key: encoded.frame_type() == FrameType::IDR,
        })
    }
}

/// Order of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Rgba,
    Bgra,
}

/// Size and order of channels of a picture.
fn image_of(picture: &Shot) -> Result<([u32; 2], Order), String> {
    let (size, format) = picture.image.ok_or("a buffer is not a picture")?;
    let order = match format {
        Format::R8G8B8A8_SRGB | Format::R8G8B8A8_UNORM => Order::Rgba,
        Format::B8G8R8A8_SRGB | Format::B8G8R8A8_UNORM => Order::Bgra,
        other => return Err(format!("images of format {other:?} cannot be encoded")),
    };
    let bytes = size.iter().map(|&side| side as usize).product::<usize>() * 4;
    match picture.bytes.len() == bytes {
        true => Ok((size, order)),
        false => Err(format!(
            "{} bytes are not {size:?} pixels",
            picture.bytes.len()
        )),
    }
}

/// Crops pixels to a size, or adds opaque black ones at the right and bottom.
fn fit(from: &[u8], from_size: [u32; 2], size: [u32; 2], to: &mut Vec<u8>) {
    let [from_row, row] = [from_size, size].map(|[width, _]| width as usize * 4);
    to.clear();
    for line in from.chunks_exact(from_row).take(size[1] as usize) {
        to.extend_from_slice(&line[..row.min(from_row)]);
        pad(to, row.saturating_sub(from_row));
    }
    let missing = (row * size[1] as usize).saturating_sub(to.len());
    pad(to, missing);
}

/// Adds opaque black pixels.
fn pad(to: &mut Vec<u8>, bytes: usize) {
    to.extend([0, 0, 0, 255].repeat(bytes / 4));
}

/// NAL unit without the start code of byte streams.
fn without_start_code(unit: &[u8]) -> &[u8] {
    let without = unit.strip_prefix(&[0, 0, 0, 1]);
    without.or(unit.strip_prefix(&[0, 0, 1])).unwrap_or(unit)
}
