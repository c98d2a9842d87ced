//! WGSL modules that crates publish for imports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::{Constant, file};
use crate::error::ShaderError;
use crate::lock;

/// A WGSL module that shaders import by a path beginning with the name of its crate.
///
/// ```
/// use quadrille_vulkan::shader::{GpuShader, ShaderModule};
///
/// // A crate, in the `build` of its plugin:
/// ShaderModule::new("waves::noise", "fn ripple(at: f32) -> f32 { return sin(at * 7.0); }")
///     .publish()?;
///
/// // A program:
/// GpuShader::wgsl("lake.wgsl", "
///     import waves::noise::ripple;
///     @group(0) @binding(0) var<storage, read_write> heights: array<f32>;
///     @compute @workgroup_size(64)
///     fn main(@builtin(global_invocation_id) id: vec3u) { heights[id.x] = ripple(f32(id.x)); }
/// ")?;
/// # Ok::<(), quadrille_vulkan::ShaderError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShaderModule {
    path: String,
    published: Published,
}

/// Declares Rust constants that shaders import, and a function that returns their [`ShaderModule`], so that each value
/// is written only once in a program's source.
///
/// ```
/// use quadrille_vulkan::shader::GpuShader;
/// use quadrille_vulkan::shader_constants;
///
/// shader_constants! {
///     /// The constants of the fountain.
///     pub fn constants() -> "fountain::constants";
///
///     /// Invocations of a workgroup.
///     pub const WORKGROUP_SIZE: u32 = 64;
///     /// Metres per square second.
///     pub const GRAVITY: f32 = 9.81;
/// }
///
/// constants().publish()?;
/// GpuShader::wgsl("fall.wgsl", "
///     import fountain::constants::{GRAVITY, WORKGROUP_SIZE};
///     @group(0) @binding(0) var<storage, read_write> speeds: array<f32>;
///     @compute @workgroup_size(WORKGROUP_SIZE)
///     fn main(@builtin(global_invocation_id) id: vec3u) { speeds[id.x] -= GRAVITY; }
/// ")?;
/// # Ok::<(), quadrille_vulkan::ShaderError>(())
/// ```
#[macro_export]
macro_rules! shader_constants {
    (
        $(#[$about:meta])* $seen:vis fn $module:ident() -> $path:literal;
        $($(#[$meta:meta])* $vis:vis const $name:ident: $ty:ty = $value:expr;)*
    ) => {
        $($(#[$meta])* $vis const $name: $ty = $value;)*

        $(#[$about])*
        $seen fn $module() -> $crate::shader::ShaderModule {
            $crate::shader::ShaderModule::constants($path, &[
                $((stringify!($name), $crate::shader::Constant::from($name)),)*
            ])
        }
    };
}

/// State of a published module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Published {
    source: Arc<str>,
    /// The file that hot reload reads.
    pub file: Option<PathBuf>,
    /// The last valid source in that file.
    newest: Option<Arc<str>>,
}

impl Published {
    /// Its current source.
    pub(super) fn text(&self) -> &Arc<str> {
        self.newest.as_ref().unwrap_or(&self.source)
    }
}

/// Advice for paths that are not published: see [`ShaderModule::advise`].
static ADVICE: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// All published modules. Global, because shaders import before they have a device.
static MODULES: Mutex<BTreeMap<String, Published>> = Mutex::new(BTreeMap::new());

impl ShaderModule {
    /// Creates a module with this path: `crate::module`.
    pub fn new(path: &str, source: &str) -> Self {
        Self {
            path: path.to_owned(),
            published: Published {
                source: source.into(),
                file: None,
                newest: None,
            },
        }
    }

    /// Creates a module of constants: see [`shader_constants!`](crate::shader_constants).
    pub fn constants(path: &str, constants: &[(&str, Constant)]) -> Self {
        let mut source = String::new();
        for (name, value) in constants {
            let declared = match value {
                Constant::Bool(value) => format!("const {name}: bool = {value};\n"),
                Constant::I32(value) => format!("const {name}: i32 = i32({value});\n"),
                Constant::U32(value) => format!("const {name}: u32 = {value}u;\n"),
                // `{:?}` prints the shortest digits that round-trip.
                Constant::F32(value) => format!("const {name}: f32 = f32({value:?});\n"),
            };
            source.push_str(&declared);
        }
        Self::new(path, &source)
    }

    /// Sets the file that hot reload of importing shaders reads, like
    /// [`GpuShader::with_file`](crate::shader::GpuShader::with_file).
    pub fn with_file(mut self, path: impl AsRef<Path>) -> Self {
        self.published.file = file::canonical(path.as_ref());
        self
    }

    /// Sets advice for the error of importing this path, or one below it, while it is not published: an imperative,
    /// such as "read `quadrille_3d::scene::camera`".
    pub fn advise(path: &str, advice: &str) {
        lock(&ADVICE).insert(path.to_owned(), advice.to_owned());
    }

    /// Makes the module available for imports. Publishing an equal module again has no effect.
    ///
    /// # Errors
    /// [`ShaderError::Module`] if its path is not of the form `crate::module`, or is taken by another module.
    pub fn publish(self) -> Result<(), ShaderError> {
        let Self { path, published } = self;
        let segments: Vec<_> = path.split("::").collect();
        let is_name = |it: &&str| {
            let mut letters = it.chars();
            letters
                .next()
                .is_some_and(|it| it == '_' || it.is_alphabetic())
                && letters.all(|it| it == '_' || it.is_alphanumeric())
        };
        let problem = if segments.len() < 2 || !segments.iter().all(is_name) {
            "its path must be the name of a crate and of a module, such as quadrille_3d::lighting"
        } else if matches!(segments[0], "super" | "package" | "constants") {
            "its path must begin with the name of a crate"
        } else {
            let mut modules = lock(&MODULES);
            let known = modules
                .entry(path.clone())
                .or_insert_with(|| published.clone());
            if (&known.source, &known.file) == (&published.source, &published.file) {
                return Ok(());
            }
            "there is another module of this path already"
        };
        let problem = problem.to_owned();
        Err(ShaderError::Module { path, problem })
    }
}

/// Returns the module of this path.
pub(super) fn published(path: &str) -> Option<Published> {
    lock(&MODULES).get(path).cloned()
}

/// Returns the advice for a path, or for its nearest parent.
pub(super) fn advice(path: &str) -> Option<String> {
    let all = lock(&ADVICE);
    let mut path = path;
    loop {
        if let Some(advice) = all.get(path) {
            return Some(advice.clone());
        }
        path = path.rsplit_once("::")?.0;
    }
}

/// The paths of all published modules.
pub(super) fn paths() -> Vec<String> {
    lock(&MODULES).keys().cloned().collect()
}

/// Replaces the source of the module with this file.
pub(crate) fn renew(file: &Path, source: &str) {
    let mut modules = lock(&MODULES);
    let edited = modules
        .values_mut()
        .filter(|it| it.file.as_deref() == Some(file));
    edited.for_each(|module| module.newest = Some(source.into()));
}
