//! The Vulkan instance: loader, layers, extensions, messenger.

pub(crate) mod debug;
pub(crate) mod device_choice;
pub(crate) mod environment;
pub(crate) mod extension;
pub(crate) mod features;
pub(crate) mod imported;
mod loaded;
pub(crate) mod queues;
pub(crate) mod settings;
pub(crate) mod sharing;
pub(crate) mod source;

pub use debug::validation_messages;
pub use extension::Extension;
pub use imported::ImportedInstance;
pub use settings::{Settings, WantedQueue};

use std::ffi::{CStr, CString, c_char};

use ash::{ext, khr, vk};
use raw_window_handle::RawDisplayHandle;

use crate::error::SetupError;
use crate::instance::features::KHR_SURFACE_MAINTENANCE1;
use crate::instance::imported::KeepAlive;

/// Khronos' validation layer.
const VALIDATION: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Surface extensions of all window systems. Without a display handle every available one is enabled, since a
/// window may be created later.
const SURFACES: [&CStr; 6] = [
    khr::xcb_surface::NAME,
    khr::xlib_surface::NAME,
    khr::wayland_surface::NAME,
    khr::win32_surface::NAME,
    khr::android_surface::NAME,
    ext::metal_surface::NAME,
];

/// Optional extensions for surfaces.
const SURFACE_EXTRAS: [&CStr; 5] = [
    ext::headless_surface::NAME,
    khr::get_surface_capabilities2::NAME,
    ext::surface_maintenance1::NAME,
    KHR_SURFACE_MAINTENANCE1,
    ext::swapchain_colorspace::NAME,
];

/// The loader and the instance. Dropped after all objects created from them.
pub(crate) struct Instance {
    /// The loader. Stays open as long as the instance.
    pub entry: ash::Entry,
    /// The instance.
    pub raw: ash::Instance,
    /// The surface functions, if surfaces are enabled.
    pub surface: Option<khr::surface::Instance>,
    /// Extended surface queries, if the instance has `VK_EXT_surface_maintenance1`.
    pub capabilities2: Option<khr::get_surface_capabilities2::Instance>,
    /// The enabled extensions.
    pub extensions: Vec<CString>,
    /// The version of the validation layer, if it is active.
    pub validation: Option<String>,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    /// The program's keep-alive of an imported instance; dropped last.
    imported: Option<KeepAlive>,
}

/// Functions of the enabled window extensions.
struct Functions {
    surface: Option<khr::surface::Instance>,
    capabilities2: Option<khr::get_surface_capabilities2::Instance>,
}

impl Functions {
    fn new(entry: &ash::Entry, raw: &ash::Instance, extensions: &[CString]) -> Self {
        let has = |name: &CStr| extensions.iter().any(|enabled| enabled.as_c_str() == name);
        let surface = has(khr::surface::NAME).then(|| khr::surface::Instance::new(entry, raw));
        let knows_modes = has(khr::get_surface_capabilities2::NAME)
            && (has(ext::surface_maintenance1::NAME) || has(KHR_SURFACE_MAINTENANCE1));
        let capabilities2 = (surface.is_some() && knows_modes)
            .then(|| khr::get_surface_capabilities2::Instance::new(entry, raw));
        Self {
            surface,
            capabilities2,
        }
    }
}

impl Instance {
    /// Loads the loader and creates an instance.
    pub(crate) fn new(
        settings: &Settings,
        display: Option<RawDisplayHandle>,
    ) -> Result<Self, SetupError> {
        // SAFETY: the initialization of the system's Vulkan loader has no preconditions.
        let entry = unsafe { ash::Entry::load() }.map_err(|error| SetupError::NoLoader {
            reason: error.to_string(),
        })?;
        check_version(&entry)?;
        settings.check_extensions()?;
        let layer = ValidationLayer::find(&entry, settings)?;
        let available = extension_names(&entry, None)?;
        let mut extensions = wanted_extensions(settings, display, &available);
        let use_messenger = available
            .iter()
            .any(|name| name.as_c_str() == ext::debug_utils::NAME)
            && (layer.active() || settings.debug_names);
        let messenger_name = use_messenger.then_some(ext::debug_utils::NAME);
        for name in messenger_name.into_iter().chain(layer.settings_extension()) {
            if !extensions.iter().any(|known| known.as_c_str() == name) {
                extensions.push(name.to_owned());
            }
        }

        let raw = create(&entry, settings, &layer, &extensions, use_messenger)?;
        let Functions {
            surface,
            capabilities2,
        } = Functions::new(&entry, &raw, &extensions);
        let messenger = use_messenger
            .then(|| create_messenger(&entry, &raw))
            .flatten();
        let validation = layer.version.filter(|_| layer.from_outside || layer.enable);
        loaded::keep_drivers(&entry);
        Ok(Self {
            entry,
            raw,
            surface,
            capabilities2,
            extensions,
            validation,
            messenger,
            imported: None,
        })
    }

    /// Whether an extension is enabled.
    pub(crate) fn has(&self, name: &CStr) -> bool {
        self.extensions
            .iter()
            .any(|enabled| enabled.as_c_str() == name)
    }

    /// The surface functions.
    pub(crate) fn surfaces(&self) -> Option<&khr::surface::Instance> {
        self.surface.as_ref()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some((functions, messenger)) = self.messenger.take() {
            // SAFETY: created from this instance, and taken, so destroyed once.
            unsafe { functions.destroy_debug_utils_messenger(messenger, None) };
        }
        if self.imported.is_none() {
            // SAFETY: the device and all surfaces hold this instance, so they are already destroyed.
            unsafe { self.raw.destroy_instance(None) };
        }
    }
}

/// Availability of the validation layer, and whether to enable it.
struct ValidationLayer {
    /// Its version, if it is installed.
    version: Option<String>,
    /// Whether to enable it in the instance's create info.
    enable: bool,
    /// Whether the loader's environment variables enable it.
    from_outside: bool,
    /// Its instance extensions.
    extensions: Vec<CString>,
}

impl ValidationLayer {
    fn find(entry: &ash::Entry, settings: &Settings) -> Result<Self, SetupError> {
        let wanted = settings.validation;
        // SAFETY: the loader is open.
        let layers = unsafe { entry.enumerate_instance_layer_properties() }
            .map_err(vulkan("vkEnumerateInstanceLayerProperties"))?;
        let layer = layers
            .iter()
            .find(|layer| layer.layer_name_as_c_str() == Ok(VALIDATION));
        if wanted && layer.is_none() {
            tracing::warn!(
                "the Khronos validation layer is not installed (vulkan-validationlayers on Debian \
                 and Ubuntu, vulkan-validation-layers on Fedora and Arch); running without it"
            );
        }
        let extensions = match layer {
            Some(_) => extension_names(entry, Some(VALIDATION))?,
            None => Vec::new(),
        };
        Ok(Self {
            version: layer.map(|layer| version_text(layer.spec_version)),
            enable: wanted && layer.is_some(),
            from_outside: layer.is_some() && enabled_from_outside(),
            extensions,
        })
    }

    fn active(&self) -> bool {
        self.enable || self.from_outside
    }

    /// The extension that enables synchronization validation: the newer one if the layer has it.
    fn settings_extension(&self) -> Option<&'static CStr> {
        let has = |name: &CStr| self.extensions.iter().any(|known| known.as_c_str() == name);
        [ext::layer_settings::NAME, ext::validation_features::NAME]
            .into_iter()
            .find(|name| self.enable && has(name))
    }
}

/// Whether the loader's environment variables enable the validation layer. `VK_LOADER_LAYERS_ENABLE` has patterns such
/// as `*validation`.
fn enabled_from_outside() -> bool {
    ["VK_INSTANCE_LAYERS", "VK_LOADER_LAYERS_ENABLE"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .any(|value| names_validation(&value))
}

fn names_validation(value: &str) -> bool {
    let name = VALIDATION.to_string_lossy();
    value.split([':', ',', ';']).any(|pattern| {
        let pattern = pattern.trim();
        pattern == "~all~"
            || (pattern == "*")
            || (!pattern.trim_matches('*').is_empty() && name.contains(pattern.trim_matches('*')))
    })
}

fn check_version(entry: &ash::Entry) -> Result<(), SetupError> {
    // SAFETY: the loader is open.
    let version = unsafe { entry.try_enumerate_instance_version() }
        .map_err(vulkan("vkEnumerateInstanceVersion"))?
        .unwrap_or(vk::API_VERSION_1_0);
    if version >= vk::API_VERSION_1_3 {
        return Ok(());
    }
    Err(SetupError::Lacks {
        device: "the Vulkan loader".to_owned(),
        missing: vec![format!("Vulkan 1.3 (it has {})", version_text(version))],
    })
}

/// Returns the instance extensions of loader and drivers, or of a layer.
fn extension_names(entry: &ash::Entry, layer: Option<&CStr>) -> Result<Vec<CString>, SetupError> {
    // SAFETY: the loader is open and the layer's name was enumerated.
    let properties = unsafe { entry.enumerate_instance_extension_properties(layer) }
        .map_err(vulkan("vkEnumerateInstanceExtensionProperties"))?;
    let name = |property: &vk::ExtensionProperties| {
        property.extension_name_as_c_str().ok().map(CStr::to_owned)
    };
    Ok(properties.iter().filter_map(name).collect())
}

/// Returns the available instance extensions among those for surfaces, those of the program, and
/// `VK_KHR_portability_enumeration`, without which the loader hides some drivers.
fn wanted_extensions(
    settings: &Settings,
    display: Option<RawDisplayHandle>,
    available: &[CString],
) -> Vec<CString> {
    let mut wanted: Vec<&CStr> = vec![khr::portability_enumeration::NAME];
    if settings.windows {
        wanted.push(khr::surface::NAME);
        match display.and_then(|display| ash_window::enumerate_required_extensions(display).ok()) {
            // SAFETY: ash-window's list is one of names with static lifetime.
            Some(names) => wanted.extend(names.iter().map(|&name| unsafe { CStr::from_ptr(name) })),
            None => wanted.extend(SURFACES),
        }
        wanted.extend(SURFACE_EXTRAS);
    }
    let of_program = settings.extensions.iter();
    wanted.extend(of_program.flat_map(|it| it.of_instance().iter().map(CString::as_c_str)));
    let mut found: Vec<CString> = Vec::new();
    for name in wanted {
        let known = available.iter().any(|known| known.as_c_str() == name);
        if known && !found.iter().any(|taken| taken.as_c_str() == name) {
            found.push(name.to_owned());
        }
    }
    found
}

fn create(
    entry: &ash::Entry,
    settings: &Settings,
    layer: &ValidationLayer,
    extensions: &[CString],
    use_messenger: bool,
) -> Result<ash::Instance, SetupError> {
    let app_name = debug::c_string(&settings.app_name);
    let app = vk::ApplicationInfo::default()
        .application_name(&app_name)
        .engine_name(c"quadrille")
        .api_version(vk::API_VERSION_1_3);
    let extension_pointers: Vec<*const c_char> =
        extensions.iter().map(|name| name.as_ptr()).collect();
    let layer_pointers: &[*const c_char] = if layer.enable {
        &[VALIDATION.as_ptr()]
    } else {
        &[]
    };
    let has = |name: &CStr| extensions.iter().any(|enabled| enabled.as_c_str() == name);

    let mut info = vk::InstanceCreateInfo::default()
        .application_info(&app)
        .enabled_extension_names(&extension_pointers)
        .enabled_layer_names(layer_pointers);
    if has(khr::portability_enumeration::NAME) {
        info = info.flags(vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR);
    }
    let mut messenger = debug::messenger_info();
    if use_messenger {
        info = info.push_next(&mut messenger);
    }
    let on = vk::TRUE;
    let setting = [sync_setting(&on)];
    let mut layer_settings = vk::LayerSettingsCreateInfoEXT::default().settings(&setting);
    let features = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
    let mut validation_features =
        vk::ValidationFeaturesEXT::default().enabled_validation_features(&features);
    info = match layer.settings_extension() {
        Some(name) if name == ext::layer_settings::NAME => info.push_next(&mut layer_settings),
        Some(_) => info.push_next(&mut validation_features),
        None => info,
    };
    // SAFETY: all pointers in `info` are to locals that outlive the call.
    unsafe { entry.create_instance(&info, None) }.map_err(|result| match result {
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => SetupError::NoDevice,
        result => SetupError::Vulkan {
            call: "vkCreateInstance",
            result,
        },
    })
}

/// Layer setting `validate_sync = true` of the validation layer. The fields are set directly, because ash's setter
/// counts bytes where Vulkan counts values.
fn sync_setting(on: &vk::Bool32) -> vk::LayerSettingEXT<'_> {
    let mut setting = vk::LayerSettingEXT::default()
        .layer_name(VALIDATION)
        .setting_name(c"validate_sync")
        .ty(vk::LayerSettingTypeEXT::BOOL32);
    setting.value_count = 1;
    setting.p_values = std::ptr::from_ref(on).cast();
    setting
}

fn create_messenger(
    entry: &ash::Entry,
    instance: &ash::Instance,
) -> Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)> {
    let functions = ext::debug_utils::Instance::new(entry, instance);
    // SAFETY: the extension is enabled and the callback has the required type.
    let result = unsafe { functions.create_debug_utils_messenger(&debug::messenger_info(), None) };
    match result {
        Ok(messenger) => Some((functions, messenger)),
        Err(error) => {
            tracing::warn!("vkCreateDebugUtilsMessengerEXT fails: {error}");
            None
        }
    }
}

/// Formats a version.
pub(crate) fn version_text(version: u32) -> String {
    format!(
        "{}.{}.{}",
        vk::api_version_major(version),
        vk::api_version_minor(version),
        vk::api_version_patch(version)
    )
}

/// Returns the set-up error of a failed call.
pub(crate) fn vulkan(call: &'static str) -> impl FnOnce(vk::Result) -> SetupError {
    move |result| SetupError::Vulkan { call, result }
}

#[cfg(test)]
mod tests;
