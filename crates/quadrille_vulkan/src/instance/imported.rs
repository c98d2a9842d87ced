//! Import of an instance that the program created.

use std::any::Any;

use ash::{ext, vk};

use crate::error::SetupError;
use crate::instance::settings::Settings;
use crate::instance::source::names;
use crate::instance::{Functions, Instance, VALIDATION, ValidationLayer, create_messenger};

/// Value that is dropped after the last Vulkan call to an imported device.
pub(crate) type KeepAlive = Box<dyn Any + Send + Sync>;

/// An instance that the program created, and its choice of physical device: see [`Gpu::import`](crate::device::Gpu::import).
#[derive(Clone, Copy)]
pub struct ImportedInstance<'a> {
    /// The loader.
    pub entry: &'a ash::Entry,
    /// The instance, of Vulkan 1.3 (`VkApplicationInfo::apiVersion`).
    pub instance: &'a ash::Instance,
    /// Its create info, from which enabled extensions and layers are read.
    pub info: &'a vk::InstanceCreateInfo<'a>,
    /// The physical device.
    pub physical_device: vk::PhysicalDevice,
}

impl Instance {
    /// Imports an instance of the program. With `keep` the validation layer's messages are counted.
    ///
    /// # Safety
    /// The handles must be valid until `keep` is dropped, and `info` must be their complete create info.
    pub(crate) unsafe fn import(
        of: ImportedInstance<'_>,
        settings: &Settings,
        keep: Option<KeepAlive>,
    ) -> Result<Self, SetupError> {
        settings.check_extensions()?;
        let info = of.info;
        // SAFETY: by the caller's contract.
        let app = unsafe { info.p_application_info.as_ref() };
        if app.is_none_or(|app| app.api_version < vk::API_VERSION_1_3) {
            return Err(SetupError::Import {
                what: "the instance".to_owned(),
                missing: vec!["Vulkan 1.3 as the `apiVersion` of its VkApplicationInfo".to_owned()],
            });
        }
        // SAFETY: by the caller's contract.
        let extensions = unsafe {
            names(
                info.pp_enabled_extension_names,
                info.enabled_extension_count,
            )
        };
        // SAFETY: by the caller's contract.
        let layers = unsafe { names(info.pp_enabled_layer_names, info.enabled_layer_count) };
        let unwanted = Settings {
            validation: false,
            ..settings.clone()
        };
        let layer = ValidationLayer::find(of.entry, &unwanted)?;
        let is_validated =
            layer.from_outside || layers.iter().any(|it| it.as_c_str() == VALIDATION);
        let Functions {
            surface,
            capabilities2,
        } = Functions::new(of.entry, of.instance, &extensions);
        let has_messenger = extensions
            .iter()
            .any(|it| it.as_c_str() == ext::debug_utils::NAME);
        let messenger = (has_messenger && keep.is_some())
            .then(|| create_messenger(of.entry, of.instance))
            .flatten();
        Ok(Self {
            entry: of.entry.clone(),
            raw: of.instance.clone(),
            surface,
            capabilities2,
            extensions,
            validation: layer.version.filter(|_| is_validated),
            messenger,
            imported: Some(keep.unwrap_or_else(|| Box::new(()))),
        })
    }

    /// Whether the program created, and destroys, the instance and its device.
    pub(crate) fn is_imported(&self) -> bool {
        self.imported.is_some()
    }
}
