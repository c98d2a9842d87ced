//! Shaders: SPIR-V modules with reflection of their entry points.
//!
//! WGSL is translated with naga; SPIR-V from other compilers (GLSL, Slang, rust-gpu) is used unchanged.
//! Both are validated and reflected before they are passed to a driver.

mod compose;
mod composed;
mod constants;
mod data_layout;
mod defs;
mod file;
mod image;
mod implicit;
mod invariance;
mod location;
mod module;
mod nesting;
mod reflect;
mod row;
mod spirv;
pub(crate) mod table;
mod wgsl;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ash::vk;

use crate::error::ShaderError;
use compose::{Root, compose};
use constants::Overrides;

pub use compose::{Token as WgslToken, TokenKind as WgslTokenKind, tokens as wgsl_tokens};
pub use composed::ComposedShader;
pub use constants::Constant;
pub use data_layout::{DataLayout, ValueLayout};
pub use defs::{ShaderDefVal, ShaderOptions};
pub use image::{InputAttachment, ShaderImage};
pub use location::{Location, LocationType, ScalarKind};
pub use module::ShaderModule;
pub use row::{RowField, RowLayout, RowType, RowValue, ShaderRow};
pub(crate) use table::Members;
use table::written_members;
pub use table::{TableBinding, TableKind};

pub(crate) use spirv::{BOUNDS, SHIFT, control_flow_depth, for_tables};

pub(crate) use constants::{Constants, check as check_constants};

/// Guaranteed minimum of `maxPushConstantsSize`, in bytes.
pub(crate) const MAX_PUSH_CONSTANTS: usize = 128;

/// A shader module. Clones are the same module.
///
/// ```
/// use quadrille_vulkan::shader::GpuShader;
/// let shader = GpuShader::wgsl("fill", "
///     @group(0) @binding(0) var<storage, read_write> cells: array<u32>;
///     @compute @workgroup_size(64)
///     fn main(@builtin(global_invocation_id) id: vec3<u32>) { cells[id.x] = id.x; }
/// ")?;
/// assert_eq!(shader.entry_points()[0].workgroup_size, [64, 1, 1]);
/// assert!(shader.entry_points()[0].bindings[0].writes);
/// # Ok::<(), quadrille_vulkan::ShaderError>(())
/// ```
#[derive(Clone)]
pub struct GpuShader(Arc<ShaderInner>);

#[derive(Clone)]
struct ShaderInner {
    label: String,
    /// The file that hot reload reads.
    file: Option<PathBuf>,
    /// The WGSL source embedded in the program, if it has imports.
    source: Option<Arc<str>>,
    /// The files of the imported modules.
    imports: Vec<PathBuf>,
    /// Shader defs and root folder of imports.
    options: ShaderOptions,
    words: Vec<u32>,
    entry_points: Vec<EntryPoint>,
    /// The naga module before `override` constants are set; `None` without such constants.
    overrides: Option<Arc<Overrides>>,
}

/// A stage of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShaderStage {
    /// Vertex.
    Vertex,
    /// Fragment.
    Fragment,
    /// Compute.
    Compute,
}

/// An entry point of a shader module, with its interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// Its name.
    pub name: String,
    /// Its stage.
    pub stage: ShaderStage,
    /// Invocations of a workgroup in each direction; zeros for other stages than compute.
    pub workgroup_size: [u32; 3],
    /// The bindings used by the function and its callees.
    pub bindings: Vec<Binding>,
    /// The table bindings used by the function and its callees.
    pub tables: Vec<TableBinding>,
    /// Size of the push constants that it reads, in bytes (`var<immediate>` in WGSL).
    pub push_constant_bytes: u32,
    /// Maximum size of the push constants with padding at the end of their struct. WGSL defines that padding;
    /// SPIR-V states only where the last member of a block ends.
    pub push_constant_padded: u32,
    /// Byte offsets of the members of the push constants.
    pub push_layout: DataLayout,
    /// Its inputs, by location.
    pub inputs: Vec<Location>,
    /// Its outputs, by location.
    pub outputs: Vec<Location>,
}

/// A variable of set 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Its number.
    pub binding: u32,
    /// Its name in the source; empty if unknown.
    pub name: String,
    /// The kind of resource.
    pub kind: BindingKind,
    /// Whether the shader may read it.
    pub reads: bool,
    /// Whether the shader may write it.
    pub writes: bool,
    /// The stages that access it.
    pub stages: vk::ShaderStageFlags,
    /// Minimum size of a buffer in bytes: the end of the last member, with one element for a runtime-sized array.
    /// 0 if the binding is not a buffer.
    pub least_bytes: u64,
    /// Byte offsets of the members of a buffer.
    pub layout: DataLayout,
}

/// Kind of resource at a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindingKind {
    /// A uniform buffer.
    UniformBuffer,
    /// A storage buffer.
    StorageBuffer,
    /// An image to sample or load.
    SampledImage(ShaderImage),
    /// A storage image.
    StorageImage(ShaderImage),
    /// A sampler.
    Sampler,
    /// A combined image sampler, as in GLSL.
    CombinedImageSampler(ShaderImage),
    /// An attachment of the current rendering, read at the fragment's position. Bound automatically.
    InputAttachment(InputAttachment),
}

impl BindingKind {
    /// Converts to `VkDescriptorType`.
    pub(crate) fn descriptor(self) -> vk::DescriptorType {
        match self {
            Self::UniformBuffer => vk::DescriptorType::UNIFORM_BUFFER,
            Self::StorageBuffer => vk::DescriptorType::STORAGE_BUFFER,
            Self::SampledImage(_) => vk::DescriptorType::SAMPLED_IMAGE,
            Self::StorageImage(_) => vk::DescriptorType::STORAGE_IMAGE,
            Self::Sampler => vk::DescriptorType::SAMPLER,
            Self::CombinedImageSampler(_) => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            Self::InputAttachment(_) => vk::DescriptorType::INPUT_ATTACHMENT,
        }
    }

    /// Whether the binding is a buffer.
    pub(crate) fn is_buffer(self) -> bool {
        matches!(self, Self::UniformBuffer | Self::StorageBuffer)
    }

    /// Whether passes bind a buffer or an image to it.
    pub(crate) fn takes_resource(self) -> bool {
        !matches!(self, Self::Sampler | Self::InputAttachment(_))
    }

    /// Its name in errors.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::UniformBuffer => "a buffer with the usage UNIFORM",
            Self::StorageBuffer => "a buffer with the usage STORAGE",
            Self::SampledImage(_) => "an image to sample",
            Self::StorageImage(_) => "a storage image",
            Self::Sampler => "a sampler",
            Self::CombinedImageSampler(_) => "an image to sample and a sampler",
            Self::InputAttachment(_) => "an attachment, which binds itself",
        }
    }
}

impl GpuShader {
    /// Maximum number of bindings: the guaranteed minimum of `maxPushDescriptors`.
    pub const MAX_BINDINGS: u32 = 32;

    /// Translates WGSL. `label` replaces the file name in errors. Push constants are `var<immediate>`. Resources are in
    /// `@group(0)`, and tables are arrays in groups of their own: see [`ImageTable`](crate::resources::ImageTable) and
    /// [`BufferTable`](crate::resources::BufferTable). The source may `import` modules that crates publish ([`ShaderModule`]);
    /// pipelines set its `override` constants.
    ///
    /// # Errors
    /// [`ShaderError::Source`] with the location, or [`ShaderError::Interface`] for unsupported bindings.
    pub fn wgsl(label: &str, source: &str) -> Result<Self, ShaderError> {
        ShaderOptions::new().wgsl(label, source)
    }

    /// Composes and translates WGSL with its imports, and adds their files to `files`, also on failure.
    fn composed(root: &Root<'_>, files: &mut Vec<PathBuf>) -> Result<Self, ShaderError> {
        let joined = compose(root, files)?;
        let has_imports = joined.has_imports();
        let shader = Self::of_joined(root.label, joined, root.options)?;
        let mut inner = Arc::unwrap_or_clone(shader.0);
        if has_imports {
            inner.source = Some(root.source.into());
            inner.imports.clone_from(files);
        }
        Ok(Self(Arc::new(inner)))
    }

    /// Translates a composed source.
    fn of_joined(
        label: &str,
        joined: compose::Joined,
        options: &ShaderOptions,
    ) -> Result<Self, ShaderError> {
        let translated = wgsl::translate(label, joined)?;
        let shader = Self::new(label, translated.words, translated.entry_points)?;
        let mut inner = Arc::unwrap_or_clone(shader.0);
        inner.overrides = translated.overrides.map(Arc::new);
        inner.options = options.clone();
        Ok(Self(Arc::new(inner)))
    }

    /// Creates a shader from a SPIR-V module, which is used unchanged.
    ///
    /// # Errors
    /// [`ShaderError::Spirv`] if it is not well formed, or [`ShaderError::Interface`].
    pub fn spirv(label: &str, words: &[u32]) -> Result<Self, ShaderError> {
        let entry_points = reflect::entry_points(label, words)?;
        Self::new(label, words.to_vec(), entry_points)
    }

    /// Creates a shader from the bytes of a SPIR-V file, in either byte order.
    ///
    /// # Errors
    /// As for [`GpuShader::spirv`].
    pub fn spirv_bytes(label: &str, bytes: &[u8]) -> Result<Self, ShaderError> {
        Self::spirv(label, &spirv::words(label, bytes)?)
    }

    /// Loads a `.wesl`, `.wgsl` or `.spv` file of at most 16 MiB. Its pipelines can be hot-reloaded:
    /// [`Gpu::reload_shader`](crate::device::Gpu::reload_shader).
    ///
    /// WGSL imports from other files: `import super::noise::fbm;` imports `fbm` of `noise.wesl` or `noise.wgsl` in the
    /// same folder. `import super::noise;` imports the module, for use as `noise::fbm`. Each further `super::` is the
    /// parent folder. Hot reload covers imported files too. Imports outside the folder of `path`, also by symbolic
    /// links, are errors; [`ShaderOptions::within`] sets another root folder.
    ///
    /// # Errors
    /// [`ShaderError::File`] if the file cannot be read, and the errors of [`GpuShader::wgsl`] or [`GpuShader::spirv`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ShaderError> {
        ShaderOptions::new().load(path)
    }

    /// Sets the file that hot reload reads ([`Gpu::reload_shader`](crate::device::Gpu::reload_shader)), for sources that are
    /// embedded in the program. Has no effect if the file does not exist.
    ///
    /// ```
    /// # use quadrille_vulkan::shader::GpuShader;
    /// # fn load(source: &str) -> Result<GpuShader, quadrille_vulkan::ShaderError> {
    /// let shader = GpuShader::wgsl("fill", source)?
    ///     .with_file(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/fill.wgsl"));
    /// # Ok(shader) }
    /// ```
    pub fn with_file(self, path: impl AsRef<Path>) -> Self {
        let mut inner = Arc::unwrap_or_clone(self.0);
        inner.file = file::canonical(path.as_ref());
        Self(Arc::new(inner))
    }

    /// Reads a shader file.
    pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, ShaderError> {
        file::read(path)
    }

    /// Creates a shader from the contents of its file, and adds the imported files to `files`, also on failure.
    fn from_file(
        path: &Path,
        bytes: &[u8],
        options: &ShaderOptions,
        follows_files: bool,
        files: &mut Vec<PathBuf>,
    ) -> Result<Self, ShaderError> {
        let shader = file::parse(path, bytes, options, follows_files, files)?;
        let mut inner = Arc::unwrap_or_clone(shader.0);
        inner.file = file::canonical(path);
        Ok(Self(Arc::new(inner)))
    }

    /// Recreates the shader from the new contents of its file, like [`composed_again`](Self::composed_again).
    pub(crate) fn reloaded(
        &self,
        path: &Path,
        bytes: &[u8],
        files: &mut Vec<PathBuf>,
    ) -> Result<Self, ShaderError> {
        Self::from_file(path, bytes, &self.0.options, true, files)
    }

    /// Recreates the shader from the current contents of its file and imports, and adds the imports to `files`.
    pub(crate) fn composed_again(&self, files: &mut Vec<PathBuf>) -> Result<Self, ShaderError> {
        match (self.file(), &self.0.source) {
            (Some(file), _) if file.is_file() => self.reloaded(file, &file::read(file)?, files),
            (file, Some(source)) => {
                let root = Root {
                    label: self.label(),
                    source,
                    file: None,
                    options: &self.0.options,
                    follows_files: true,
                };
                let shader = Self::composed(&root, files)?;
                let mut inner = Arc::unwrap_or_clone(shader.0);
                inner.file = file.map(Path::to_owned);
                Ok(Self(Arc::new(inner)))
            }
            _ => Ok(self.clone()),
        }
    }

    /// Replaces the source of a published module by the contents of its file, for later imports.
    pub(crate) fn renew_module(file: &Path, bytes: &[u8]) {
        if let Ok(source) = std::str::from_utf8(bytes) {
            module::renew(file, source);
        }
    }

    fn new(
        label: &str,
        words: Vec<u32>,
        entry_points: Vec<EntryPoint>,
    ) -> Result<Self, ShaderError> {
        for entry in &entry_points {
            check_interface(label, entry)?;
        }
        Ok(Self(Arc::new(ShaderInner {
            label: label.to_owned(),
            file: None,
            source: None,
            imports: Vec::new(),
            options: ShaderOptions::new(),
            words,
            entry_points,
            overrides: None,
        })))
    }

    /// Its label.
    pub fn label(&self) -> &str {
        &self.0.label
    }

    /// The file that hot reload reads, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// The known files of its imports.
    pub(crate) fn imports(&self) -> &[PathBuf] {
        &self.0.imports
    }

    /// The entry points.
    pub fn entry_points(&self) -> &[EntryPoint] {
        &self.0.entry_points
    }

    /// The SPIR-V module.
    pub fn words(&self) -> &[u32] {
        &self.0.words
    }

    /// Finds an entry point of a stage by name; an empty name finds the stage's only one.
    pub(crate) fn entry_point(
        &self,
        stage: ShaderStage,
        name: &str,
    ) -> Result<&EntryPoint, ShaderError> {
        let entry_points = self.entry_points();
        let mut of_stage = entry_points.iter().filter(|entry| entry.stage == stage);
        let found = match name {
            "" => of_stage.next().filter(|_| of_stage.next().is_none()),
            _ => of_stage.find(|entry| entry.name == name),
        };
        found.ok_or_else(|| ShaderError::NoEntryPoint {
            label: self.label().to_owned(),
            stage: stage.word(),
            wanted: name.to_owned(),
            available: entry_points
                .iter()
                .map(|entry| format!("{} {}", entry.stage.word(), entry.name))
                .collect(),
        })
    }
}

impl PartialEq for GpuShader {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for GpuShader {}

impl std::fmt::Debug for GpuShader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "GpuShader({})", self.label())
    }
}

impl ShaderStage {
    /// Its name in errors.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Vertex => "vertex",
            Self::Fragment => "fragment",
            Self::Compute => "compute",
        }
    }

    /// Converts to naga's stage.
    fn to_naga(self) -> naga::ShaderStage {
        match self {
            Self::Vertex => naga::ShaderStage::Vertex,
            Self::Fragment => naga::ShaderStage::Fragment,
            Self::Compute => naga::ShaderStage::Compute,
        }
    }

    /// Converts to `VkShaderStageFlags`.
    pub(crate) fn to_vk(self) -> vk::ShaderStageFlags {
        match self {
            Self::Vertex => vk::ShaderStageFlags::VERTEX,
            Self::Fragment => vk::ShaderStageFlags::FRAGMENT,
            Self::Compute => vk::ShaderStageFlags::COMPUTE,
        }
    }
}

/// Checks an interface against the guaranteed minimums of limits.
fn check_interface(label: &str, entry: &EntryPoint) -> Result<(), ShaderError> {
    let problem = |problem: String| {
        let name = &entry.name;
        Err(ShaderError::Interface {
            label: label.to_owned(),
            problem: format!("entry point {name}: {problem}"),
        })
    };
    let limit = GpuShader::MAX_BINDINGS;
    if let Some(binding) = entry
        .bindings
        .iter()
        .find(|binding| binding.binding >= limit)
    {
        let (number, name) = (binding.binding, &binding.name);
        return problem(format!(
            "@binding({number}) {name} is above the limit of {}",
            limit - 1
        ));
    }
    let most = MAX_PUSH_CONSTANTS as u32;
    if entry.push_constant_bytes > most {
        let bytes = entry.push_constant_bytes;
        return problem(format!(
            "{bytes} bytes of push constants are above the limit of {most}; read some from a uniform buffer"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
