//! Samplers.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk;

use crate::device::Device;
use crate::device::retire::Retired;
use crate::error::Error;
use crate::lock;

/// Description of a sampler.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplerDesc {
    /// Name in debuggers.
    pub name: String,
    /// Magnification filter.
    pub magnify: vk::Filter,
    /// Minification filter.
    pub minify: vk::Filter,
    /// Filter between mip levels.
    pub mipmap: vk::SamplerMipmapMode,
    /// Address mode of all axes.
    pub address: vk::SamplerAddressMode,
    /// Address modes of u, v and w, which override `address`.
    pub addresses: Option<[vk::SamplerAddressMode; 3]>,
    /// Border color, for `CLAMP_TO_BORDER`.
    pub border: vk::BorderColor,
    /// The reduction of the filtered texels: weighted average, or minimum or maximum per component. The latter two need
    /// the feature `samplerFilterMinmax`, and images whose format has `SAMPLED_IMAGE_FILTER_MINMAX`.
    pub reduction: vk::SamplerReductionMode,
    /// Bias added to the level of detail.
    pub bias: f32,
    /// Minimum and maximum level of detail.
    pub levels: [f32; 2],
    /// Maximum anisotropy; 1 disables it. Clamped to the limit of the device; NaN is an error.
    pub anisotropy: f32,
    /// Comparison with a reference value, for shadow maps.
    pub compare: Option<vk::CompareOp>,
}

impl SamplerDesc {
    /// Returns the address modes of u, v and w.
    fn addresses(&self) -> [vk::SamplerAddressMode; 3] {
        self.addresses.unwrap_or([self.address; 3])
    }

    /// Describes linear filtering with `CLAMP_TO_EDGE`.
    pub fn linear() -> Self {
        Self {
            name: "linear".to_owned(),
            magnify: vk::Filter::LINEAR,
            minify: vk::Filter::LINEAR,
            mipmap: vk::SamplerMipmapMode::LINEAR,
            address: vk::SamplerAddressMode::CLAMP_TO_EDGE,
            addresses: None,
            border: vk::BorderColor::default(),
            reduction: vk::SamplerReductionMode::default(),
            bias: 0.0,
            levels: [0.0, vk::LOD_CLAMP_NONE],
            anisotropy: 1.0,
            compare: None,
        }
    }

    /// Describes nearest filtering with `CLAMP_TO_EDGE`.
    pub fn nearest() -> Self {
        Self {
            name: "nearest".to_owned(),
            magnify: vk::Filter::NEAREST,
            minify: vk::Filter::NEAREST,
            mipmap: vk::SamplerMipmapMode::NEAREST,
            ..Self::linear()
        }
    }
}

/// A sampler. Clones are the same sampler.
#[derive(Clone)]
pub struct Sampler(Arc<SamplerInner>);

/// Describes why a description is invalid on any device (section "Samplers").
fn problem(desc: &SamplerDesc) -> Option<String> {
    let filters = [vk::Filter::NEAREST, vk::Filter::LINEAR];
    let mipmaps = [
        vk::SamplerMipmapMode::NEAREST,
        vk::SamplerMipmapMode::LINEAR,
    ];
    let addresses = [
        vk::SamplerAddressMode::REPEAT,
        vk::SamplerAddressMode::MIRRORED_REPEAT,
        vk::SamplerAddressMode::CLAMP_TO_EDGE,
        vk::SamplerAddressMode::CLAMP_TO_BORDER,
    ];
    let mut asked = [desc.magnify, desc.minify].into_iter();
    if let Some(filter) = asked.find(|filter| !filters.contains(filter)) {
        return Some(format!(
            "its filter is {filter:?}; it can be NEAREST or LINEAR"
        ));
    }
    if !mipmaps.contains(&desc.mipmap) {
        let mode = desc.mipmap;
        return Some(format!(
            "its filter between mip levels is {mode:?}; it can be NEAREST or LINEAR"
        ));
    }
    if let Some(mode) = desc.addresses().iter().find(|it| !addresses.contains(it)) {
        return Some(format!(
            "its address mode is {mode:?}; it can be one of {addresses:?}"
        ));
    }
    if desc.anisotropy.is_nan() {
        return Some("its anisotropy is NaN; set 1 for none".to_owned());
    }
    let last = vk::BorderColor::INT_OPAQUE_WHITE.as_raw();
    if !(0..=last).contains(&desc.border.as_raw()) {
        let border = desc.border;
        return Some(format!(
            "its border color is {border:?}, which is no value of Vulkan"
        ));
    }
    let [least, most] = desc.levels;
    // NaN fails as well, since it is in no range.
    if !(f32::MIN..=most).contains(&least) {
        return Some(format!(
            "its levels of detail are {least} to {most}; the first must be the smaller one"
        ));
    }
    let compare = desc.compare?;
    (compare.as_raw() > vk::CompareOp::ALWAYS.as_raw() || compare.as_raw() < 0)
        .then(|| format!("its comparison is {compare:?}, which is no value of Vulkan"))
}

/// Describes the first request that the device does not support.
fn unserved(device: &Device, desc: &SamplerDesc) -> Option<String> {
    let (bias, most) = (desc.bias, device.limits.max_sampler_lod_bias);
    // NaN fails as well, since it is in no range.
    if !(-most..=most).contains(&bias) {
        return Some(format!(
            "its bias is {bias}; the device takes from -{most} to {most}"
        ));
    }
    let modes = [
        vk::SamplerReductionMode::WEIGHTED_AVERAGE,
        vk::SamplerReductionMode::MIN,
        vk::SamplerReductionMode::MAX,
    ];
    let reduction = desc.reduction;
    if !modes.contains(&reduction) {
        return Some(format!(
            "its reduction is {reduction:?}; it can be one of {modes:?}"
        ));
    }
    let is_average = reduction == modes[0];
    if !is_average && !device.optional.sampler_minmax {
        let device = &device.info.name;
        return Some(format!(
            "its reduction takes the feature samplerFilterMinmax, which the device `{device}` lacks"
        ));
    }
    (!is_average && desc.compare.is_some())
        .then(|| "it compares and has a reduction; it can have one of them".to_owned())
}

struct SamplerInner {
    desc: SamplerDesc,
    raw: vk::Sampler,
    device: Arc<Device>,
}

impl Sampler {
    /// The device that created it.
    pub(crate) fn device(&self) -> &Device {
        &self.0.device
    }

    /// Creates a sampler.
    pub(crate) fn new(device: &Arc<Device>, desc: &SamplerDesc) -> Result<Self, Error> {
        let invalid = |problem| Error::Invalid {
            name: desc.name.clone(),
            problem,
        };
        if let Some(problem) = problem(desc) {
            return Err(invalid(problem));
        }
        if let Some(problem) = unserved(device, desc) {
            return Err(invalid(problem));
        }
        let most = device.limits.max_sampler_allocation_count;
        if device.samplers.fetch_add(1, Ordering::Relaxed) >= most {
            device.samplers.fetch_sub(1, Ordering::Relaxed);
            return Err(invalid(format!(
                "the device has at most {most} samplers at once, with dropped ones that frames may \
                 still use; share samplers that are alike"
            )));
        }
        let limit = device.limits.max_sampler_anisotropy;
        let mut reduction =
            vk::SamplerReductionModeCreateInfo::default().reduction_mode(desc.reduction);
        let [u, v, w] = desc.addresses();
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(desc.magnify)
            .min_filter(desc.minify)
            .mipmap_mode(desc.mipmap)
            .address_mode_u(u)
            .address_mode_v(v)
            .address_mode_w(w)
            .border_color(desc.border)
            .mip_lod_bias(desc.bias)
            .anisotropy_enable(desc.anisotropy > 1.0 && limit > 1.0)
            .max_anisotropy(desc.anisotropy.clamp(1.0, limit.max(1.0)))
            .compare_enable(desc.compare.is_some())
            .compare_op(desc.compare.unwrap_or(vk::CompareOp::ALWAYS))
            .min_lod(desc.levels[0])
            .max_lod(desc.levels[1]);
        let info = match desc.reduction {
            vk::SamplerReductionMode::WEIGHTED_AVERAGE => info,
            _ => info.push_next(&mut reduction),
        };
        // SAFETY: the description is checked; anisotropy above 1 is within the limit, which is above 1 only if the
        // feature is enabled.
        let raw = unsafe { device.raw.create_sampler(&info, None) }
            .inspect_err(|_| {
                device.samplers.fetch_sub(1, Ordering::Relaxed);
            })
            .map_err(Error::vulkan(device, &desc.name, "vkCreateSampler"))?;
        device.names.name(raw, &desc.name);
        Ok(Self(Arc::new(SamplerInner {
            desc: desc.clone(),
            raw,
            device: Arc::clone(device),
        })))
    }

    /// The description it was created from.
    pub fn desc(&self) -> &SamplerDesc {
        &self.0.desc
    }

    /// The raw handle.
    pub(crate) fn raw(&self) -> vk::Sampler {
        self.0.raw
    }
}

impl Drop for SamplerInner {
    fn drop(&mut self) {
        lock(&self.device.dropped).push(Retired::Sampler(self.raw));
    }
}

impl PartialEq for Sampler {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Sampler {}

impl std::fmt::Debug for Sampler {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Sampler({})", self.0.desc.name)
    }
}
