//! Shader defs: values for conditional translation.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use super::compose::{Root, compose};
use super::{GpuShader, file, wgsl};
use crate::error::ShaderError;

/// A named value for conditional translation, as in bevy: `@if(NAME)` keeps the decorated node if the value is true.
///
/// A number counts as true, and is a constant of the module `constants`: `constants::NAME`. An unset def is false.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ShaderDefVal {
    /// A flag.
    Bool(Cow<'static, str>, bool),
    /// A signed number.
    Int(Cow<'static, str>, i32),
    /// An unsigned number.
    UInt(Cow<'static, str>, u32),
}

impl ShaderDefVal {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Bool(name, _) | Self::Int(name, _) | Self::UInt(name, _) => name,
        }
    }

    /// Its value, as in WGSL.
    pub fn value_as_string(&self) -> String {
        match self {
            Self::Bool(_, value) => value.to_string(),
            Self::Int(_, value) => value.to_string(),
            Self::UInt(_, value) => value.to_string(),
        }
    }
}

/// A flag that is true.
impl From<&'static str> for ShaderDefVal {
    fn from(name: &'static str) -> Self {
        Self::Bool(name.into(), true)
    }
}

/// A flag that is true.
impl From<String> for ShaderDefVal {
    fn from(name: String) -> Self {
        Self::Bool(name.into(), true)
    }
}

/// Shader defs by name; the last of several with the same name applies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShaderDefs(BTreeMap<String, ShaderDefVal>);

impl ShaderDefs {
    fn set(&mut self, def: ShaderDefVal) {
        self.0.insert(def.name().to_owned(), def);
    }

    /// Whether a name is true in `@if`.
    pub(super) fn is_true(&self, name: &str) -> bool {
        let def = self.0.get(name);
        def.is_some_and(|def| !matches!(def, ShaderDefVal::Bool(_, false)))
    }

    /// Source of the module `constants`.
    pub(super) fn constants(&self) -> String {
        let mut source = String::new();
        for (name, def) in &self.0 {
            if !matches!(def, ShaderDefVal::Bool(..)) {
                let value = def.value_as_string();
                // Infallible for strings.
                let _ = writeln!(source, "const {name} = {value};");
            }
        }
        source
    }
}

/// Options for composing a shader.
///
/// ```
/// use quadrille_vulkan::shader::{ShaderDefVal, ShaderOptions};
///
/// let source = "
///     @group(0) @binding(constants::FIRST) var<storage, read_write> cells: array<u32>;
///     @compute @workgroup_size(64)
///     fn main(@builtin(global_invocation_id) id: vec3u) {
///         @if(DOUBLED) cells[id.x] *= 2u;
///         @else cells[id.x] += 1u;
///     }";
/// let shader = ShaderOptions::new()
///     .def("DOUBLED")
///     .def(ShaderDefVal::UInt("FIRST".into(), 3))
///     .wgsl("cells.wesl", source)?;
/// assert_eq!(shader.entry_points()[0].bindings[0].binding, 3);
/// # Ok::<(), quadrille_vulkan::ShaderError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShaderOptions {
    pub(super) defs: ShaderDefs,
    /// Root folder of imports, first as the user named it, later canonical.
    pub(super) folder: Option<Arc<Path>>,
}

impl ShaderOptions {
    /// No shader defs; imports are limited to the folder of the shader's file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a shader def.
    pub fn def(mut self, def: impl Into<ShaderDefVal>) -> Self {
        self.defs.set(def.into());
        self
    }

    /// Sets shader defs.
    pub fn defs(mut self, defs: impl IntoIterator<Item = ShaderDefVal>) -> Self {
        defs.into_iter().for_each(|def| self.defs.set(def));
        self
    }

    /// Sets the root folder of imports (`package::` in shaders), above the folder of the shader's file.
    pub fn within(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = Some(folder.as_ref().into());
        self
    }

    /// Translates WGSL like [`GpuShader::wgsl`].
    ///
    /// # Errors
    /// As for [`GpuShader::wgsl`]; [`ShaderError::File`] if the folder of imports does not exist.
    pub fn wgsl(self, label: &str, source: &str) -> Result<GpuShader, ShaderError> {
        let options = self.canonical()?;
        let root = Root {
            label,
            source,
            file: None,
            options: &options,
            follows_files: false,
        };
        GpuShader::composed(&root, &mut Vec::new())
    }

    /// Composes and validates WGSL without creating a shader, so resources may be in any group.
    ///
    /// # Errors
    /// [`ShaderError::Source`] with the location; [`ShaderError::File`] if the folder of imports does not exist.
    pub fn validate(self, label: &str, source: &str) -> Result<(), ShaderError> {
        let options = self.canonical()?;
        let root = Root {
            label,
            source,
            file: None,
            options: &options,
            follows_files: false,
        };
        wgsl::validate(label, &compose(&root, &mut Vec::new())?)
    }

    /// Loads a file like [`GpuShader::load`].
    ///
    /// # Errors
    /// As for [`GpuShader::load`]; [`ShaderError::File`] if the folder of imports does not exist.
    pub fn load(self, path: impl AsRef<Path>) -> Result<GpuShader, ShaderError> {
        let path = path.as_ref();
        let options = self.canonical()?;
        GpuShader::from_file(path, &file::read(path)?, &options, false, &mut Vec::new())
    }

    pub(super) fn canonical(mut self) -> Result<Self, ShaderError> {
        if let Some(folder) = &self.folder {
            let canonical = folder.canonicalize().map_err(|error| ShaderError::File {
                path: folder.to_path_buf(),
                reason: error.to_string(),
            })?;
            self.folder = Some(canonical.into());
        }
        Ok(self)
    }
}
