//! Extensions and features that a program requests for its own Vulkan commands.

use std::any::type_name;
use std::ffi::{CStr, CString};
use std::fmt::Debug;
use std::mem::offset_of;

use ash::vk;

use crate::instance::source::Source;

/// A set of extensions and features for your own Vulkan commands; either all of them are enabled, or none. See
/// [`Settings::extensions`](crate::instance::Settings::extensions).
///
/// ```
/// use quadrille_vulkan::ash::ext;
/// use quadrille_vulkan::instance::{Extension, Settings};
/// use quadrille_vulkan::vk;
///
/// // Without it there is no device:
/// let multi_draw = vk::PhysicalDeviceMultiDrawFeaturesEXT::default().multi_draw(true);
/// let multi_draw = Extension::required().device(ext::multi_draw::NAME).features(multi_draw);
/// // `Gpu::has_features` returns whether it is enabled:
/// let half = vk::PhysicalDeviceVulkan12Features::default().shader_float16(true);
/// let half = Extension::optional().features(half);
/// let settings = Settings { extensions: vec![multi_draw, half], ..Settings::default() };
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Extension {
    required: bool,
    of_instance: Vec<CString>,
    of_device: Vec<CString>,
    features: Vec<FeatureStructure>,
}

impl Extension {
    /// Starts a required request: a device that lacks any part of it is not chosen. If there is no other device,
    /// [`SetupError::LacksExtension`](crate::SetupError::LacksExtension) lists the missing parts.
    pub fn required() -> Self {
        Self {
            required: true,
            of_instance: Vec::new(),
            of_device: Vec::new(),
            features: Vec::new(),
        }
    }

    /// Starts an optional request: [`Gpu::is_enabled`](crate::device::Gpu::is_enabled) and
    /// [`Gpu::has_features`](crate::device::Gpu::has_features) return whether the device has it.
    pub fn optional() -> Self {
        Self {
            required: false,
            ..Self::required()
        }
    }

    /// Adds a device extension. Add its dependencies too.
    pub fn device(mut self, name: &CStr) -> Self {
        self.of_device.push(name.to_owned());
        self
    }

    /// Adds an instance extension. The instance is created before a device is chosen, so an available
    /// extension is enabled even if other parts of the request are missing.
    pub fn instance(mut self, name: &CStr) -> Self {
        self.of_instance.push(name.to_owned());
        self
    }

    /// Adds the features that are true in a structure of `VkDeviceCreateInfo`'s `pNext` chain. Features of
    /// Vulkan 1.1 to 1.3 have to be in `PhysicalDeviceVulkan11Features` and so on, not in the structure of
    /// the extension that was promoted. Features that Quadrille enables stay enabled.
    pub fn features<F>(mut self, features: F) -> Self
    where
        F: vk::ExtendsPhysicalDeviceFeatures2 + vk::ExtendsDeviceCreateInfo + Debug,
    {
        self.features.push(FeatureStructure::of(&features));
        self
    }

    /// Adds features of Vulkan 1.0.
    pub fn core_features(mut self, features: vk::PhysicalDeviceFeatures) -> Self {
        self.features.push(FeatureStructure::core(&features));
        self
    }

    pub(crate) fn of_instance(&self) -> &[CString] {
        &self.of_instance
    }

    /// Returns the parts of the request that a device lacks.
    fn lacking(&self, source: &Source<'_>) -> Vec<String> {
        let words = |name: &CStr| name.to_string_lossy().into_owned();
        let missing = |name: &&CString| !source.instance.has(name);
        let of_instance = self.of_instance.iter().filter(missing);
        let of_instance = of_instance.map(|name| format!("{} of the instance", words(name)));
        let missing = |name: &&CString| !source.has(name);
        let of_device = self.of_device.iter().filter(missing);
        let mut lacking: Vec<String> = of_instance
            .chain(of_device.map(|name| words(name)))
            .collect();
        // Drivers do not fill feature structures of unsupported extensions.
        if lacking.is_empty() {
            let wanted = self.features.iter();
            lacking.extend(wanted.flat_map(|wanted| wanted.lacking(source)));
        }
        lacking
    }
}

/// Requested extensions and features that a physical device has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Granted {
    /// Extensions of the device.
    pub names: Vec<CString>,
    /// Features, in a structure of each type.
    pub features: Vec<FeatureStructure>,
    /// The missing parts of required requests.
    pub lacking: Vec<String>,
}

impl Granted {
    /// Queries the support of a device.
    pub(crate) fn of(wanted: &[Extension], source: &Source<'_>) -> Self {
        let mut granted = Self::default();
        for wanted in wanted {
            let lacking = wanted.lacking(source);
            if lacking.is_empty() {
                granted.names.extend(wanted.of_device.iter().cloned());
                for features in &wanted.features {
                    granted.add(features);
                }
            } else if wanted.required {
                granted.lacking.extend(lacking);
            } else {
                tracing::debug!("the device lacks what is optional: {}", lacking.join(", "));
            }
        }
        granted
    }

    /// Adds features: a chain must have only one structure of each type.
    pub(crate) fn add(&mut self, features: &FeatureStructure) {
        let known = self.features.iter_mut();
        match known.into_iter().find(|it| it.s_type == features.s_type) {
            Some(known) => known.join(features),
            None => self.features.push(features.clone()),
        }
    }

    /// Enables the granted features in a structure of their type.
    pub(crate) fn add_to<F: vk::TaggedStructure>(&self, own: &mut F) {
        let features = self.features.iter();
        for features in features.filter(|it| it.s_type == F::STRUCTURE_TYPE) {
            features.add_to(own);
        }
    }

    /// [`add_to`](Self::add_to), which also removes the features here.
    pub(crate) fn move_to<F: vk::TaggedStructure>(&mut self, own: &mut F) {
        self.add_to(own);
        self.features.retain(|it| it.s_type != F::STRUCTURE_TYPE);
    }
}

/// Describes the first invalid request.
pub(crate) fn problem(wanted: &[Extension]) -> Option<String> {
    let mut structures = wanted.iter().flat_map(|wanted| &wanted.features);
    structures.find_map(|structure| match promoted(structure.s_type) {
        Some(version) => Some(format!(
            "the features of `{}` belong to {version} by now; ask for them in \
             `PhysicalDevice{}Features`",
            structure.name,
            version.replace([' ', '.'], "")
        )),
        None if !structure.members.iter().any(|(_, wanted)| *wanted) => {
            Some(format!("`{}` has no feature that is true", structure.name))
        }
        None => None,
    })
}

/// Returns the name of the Vulkan version's structure that includes the features of this one. A chain may not have both
/// (section `VkDeviceCreateInfo`).
pub(crate) fn promoted(s_type: vk::StructureType) -> Option<&'static str> {
    use vk::StructureType as Type;
    match s_type {
        Type::PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES
        | Type::PHYSICAL_DEVICE_MULTIVIEW_FEATURES
        | Type::PHYSICAL_DEVICE_VARIABLE_POINTERS_FEATURES
        | Type::PHYSICAL_DEVICE_PROTECTED_MEMORY_FEATURES
        | Type::PHYSICAL_DEVICE_SAMPLER_YCBCR_CONVERSION_FEATURES
        | Type::PHYSICAL_DEVICE_SHADER_DRAW_PARAMETERS_FEATURES => Some("Vulkan 1.1"),
        Type::PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES
        | Type::PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES
        | Type::PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES
        | Type::PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES
        | Type::PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES
        | Type::PHYSICAL_DEVICE_IMAGELESS_FRAMEBUFFER_FEATURES
        | Type::PHYSICAL_DEVICE_UNIFORM_BUFFER_STANDARD_LAYOUT_FEATURES
        | Type::PHYSICAL_DEVICE_SHADER_SUBGROUP_EXTENDED_TYPES_FEATURES
        | Type::PHYSICAL_DEVICE_SEPARATE_DEPTH_STENCIL_LAYOUTS_FEATURES
        | Type::PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES
        | Type::PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES
        | Type::PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES
        | Type::PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES => Some("Vulkan 1.2"),
        Type::PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES
        | Type::PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES
        | Type::PHYSICAL_DEVICE_INLINE_UNIFORM_BLOCK_FEATURES
        | Type::PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES
        | Type::PHYSICAL_DEVICE_PIPELINE_CREATION_CACHE_CONTROL_FEATURES
        | Type::PHYSICAL_DEVICE_PRIVATE_DATA_FEATURES
        | Type::PHYSICAL_DEVICE_SHADER_DEMOTE_TO_HELPER_INVOCATION_FEATURES
        | Type::PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES
        | Type::PHYSICAL_DEVICE_SHADER_TERMINATE_INVOCATION_FEATURES
        | Type::PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES
        | Type::PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES
        | Type::PHYSICAL_DEVICE_TEXTURE_COMPRESSION_ASTC_HDR_FEATURES
        | Type::PHYSICAL_DEVICE_ZERO_INITIALIZE_WORKGROUP_MEMORY_FEATURES => Some("Vulkan 1.3"),
        _ => None,
    }
}

/// Upper bound of the features of a structure (Vulkan 1.0 has 55).
const MAX_FEATURES: usize = 64;

/// Features by name, in the order in which their structure has them.
#[derive(Clone, Debug)]
pub(crate) struct FeatureStructure {
    pub s_type: vk::StructureType,
    name: &'static str,
    members: Vec<(String, bool)>,
}

/// A feature structure in memory: this head, then a `VkBool32` per feature (section "Features"). Large enough for the
/// longest structure.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct FeatureNode {
    head: vk::BaseOutStructure<'static>,
    flags: [vk::Bool32; MAX_FEATURES],
}

// SAFETY: it has the head of the structure of its type, and is at least as large.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for FeatureNode {}
// SAFETY: as above.
unsafe impl vk::ExtendsDeviceCreateInfo for FeatureNode {}

impl FeatureStructure {
    pub(crate) fn of<F: vk::ExtendsPhysicalDeviceFeatures2 + Debug>(features: &F) -> Self {
        let head = std::ptr::from_ref(features).cast::<vk::BaseInStructure<'_>>();
        // SAFETY: by the trait it is a Vulkan structure, all of which begin with this head.
        let s_type = unsafe { (*head).s_type };
        let name = type_name::<F>().rsplit("::").next().unwrap_or_default();
        Self {
            s_type,
            name: name.split('<').next().unwrap_or_default(),
            members: members(&format!("{features:?}")),
        }
    }

    fn core(features: &vk::PhysicalDeviceFeatures) -> Self {
        Self {
            s_type: vk::StructureType::PHYSICAL_DEVICE_FEATURES_2,
            name: "PhysicalDeviceFeatures",
            members: members(&format!("{features:?}")),
        }
    }

    fn join(&mut self, other: &Self) {
        for (own, other) in self.members.iter_mut().zip(&other.members) {
            own.1 |= other.1;
        }
    }

    /// Returns the requested features that a device lacks. The device must know the structure.
    fn lacking(&self, source: &Source<'_>) -> Vec<String> {
        let has = self.flags(source);
        let wanted = self.members.iter().zip(has).filter(|(it, _)| it.1);
        let lacking = wanted.filter(|(_, has)| *has == vk::FALSE);
        lacking.map(|((name, _), _)| name.clone()).collect()
    }

    /// Returns the structure's features that a device has.
    fn flags(&self, source: &Source<'_>) -> [vk::Bool32; MAX_FEATURES] {
        if self.s_type == vk::StructureType::PHYSICAL_DEVICE_FEATURES_2 {
            return Self::core(&source.core()).node().flags;
        }
        let mut node = FeatureNode {
            flags: [vk::FALSE; MAX_FEATURES],
            ..self.node()
        };
        if !source.is_made() {
            source.ask(&mut vk::PhysicalDeviceFeatures2::default().push_next(&mut node));
        } else if let Some(found) = source.in_chain(self.s_type) {
            let flags = found
                .cast::<u8>()
                .wrapping_add(offset_of!(FeatureNode, flags));
            for (at, flag) in node.flags.iter_mut().take(self.members.len()).enumerate() {
                let from = flags.cast::<vk::Bool32>().wrapping_add(at);
                // SAFETY: a structure of this type has a flag for each feature.
                *flag = unsafe { from.read() };
            }
        }
        node.flags
    }

    /// Whether all features that are true in another structure of the type are true in this one.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let mut both = self.members.iter().zip(&other.members);
        self.s_type == other.s_type && both.all(|(own, other)| own.1 || !other.1)
    }

    /// Enables its features in a structure of its type.
    fn add_to<F: vk::TaggedStructure>(&self, own: &mut F) {
        let room = (size_of::<F>() - size_of::<vk::BaseOutStructure<'_>>()) / size_of::<u32>();
        let own = std::ptr::from_mut(own).cast::<u8>();
        let flags = own.wrapping_add(offset_of!(FeatureNode, flags));
        let members = self.members.iter().take(room).enumerate();
        for (at, _) in members.filter(|(_, it)| it.1) {
            let flag = flags.cast::<vk::Bool32>().wrapping_add(at);
            // SAFETY: the flags are at the same offsets as in a node, and within the structure.
            unsafe { flag.write(vk::TRUE) };
        }
    }

    /// Returns it as a node of a `pNext` chain.
    pub(crate) fn node(&self) -> FeatureNode {
        let head = vk::BaseOutStructure {
            s_type: self.s_type,
            p_next: std::ptr::null_mut(),
            _marker: std::marker::PhantomData,
        };
        let mut flags = [vk::FALSE; MAX_FEATURES];
        for (flag, (_, wanted)) in flags.iter_mut().zip(&self.members) {
            *flag = (*wanted).into();
        }
        FeatureNode { head, flags }
    }
}

/// Parses the features of a structure (names and values) from its derived `Debug` output, without `sType`, `pNext` and
/// the marker.
fn members(shown: &str) -> Vec<(String, bool)> {
    let inside = shown.split_once("{ ").map_or("", |(_, inside)| inside);
    let fields = inside.trim_end_matches(" }").split(", ");
    let fields = fields.filter_map(|field| field.split_once(": "));
    let features = fields.filter(|(name, _)| !matches!(*name, "s_type" | "p_next" | "_marker"));
    let feature = |(name, value): (&str, &str)| (camel_case(name), value != "0");
    features.map(feature).take(MAX_FEATURES).collect()
}

/// Converts `multi_draw` to Vulkan's `multiDraw`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut all = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        all.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        all.push_str(letters.as_str());
    }
    for (found, written) in FORMATS {
        all = all.replace(found, written);
    }
    all
}

/// Names of compressed formats, which Vulkan capitalizes.
const FORMATS: [(&str, &str); 4] = [
    ("CompressionAstcLdr", "CompressionASTC_LDR"),
    ("CompressionAstcHdr", "CompressionASTC_HDR"),
    ("CompressionEtc2", "CompressionETC2"),
    ("CompressionBc", "CompressionBC"),
];

#[cfg(test)]
mod tests;
