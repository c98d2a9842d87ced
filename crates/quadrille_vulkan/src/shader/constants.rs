//! Shader constants that pipelines set: `override` in WGSL.
//!
//! Values are set before the translation to SPIR-V, so that reflection sees the resulting sizes of workgroups and
//! arrays, and drivers get plain constants.

use naga::back::PipelineConstants;
use naga::back::pipeline_constants::{PipelineConstantError, process_overrides};
use naga::valid::ModuleInfo;
use naga::{Scalar, ScalarKind, ShaderStage as NagaStage, TypeInner};
use quadrille_sync::text::closest_match;

use super::compose::Joined;
use super::{EntryPoint, GpuShader, ShaderStage, wgsl};
use crate::error::ShaderError;

/// The value of an `override` constant of a shader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    /// A `bool`.
    Bool(bool),
    /// An `i32`.
    I32(i32),
    /// A `u32`.
    U32(u32),
    /// An `f32`, or an `f16` for values that fit into it.
    F32(f32),
}

/// Constants by name.
pub(crate) type Constants = Vec<(String, Constant)>;

/// A module with unset `override` constants.
pub(super) struct Overrides {
    module: naga::Module,
    info: ModuleInfo,
    joined: Joined,
    constants: Vec<Override>,
}

/// An `override` constant.
struct Override {
    /// Key in naga: name in the joined source, or `@id`.
    key: String,
    /// Name in its module.
    own: String,
    /// Name qualified by the imported module: `noise::OCTAVES`.
    shown: String,
    is_imported: bool,
    /// Name qualified by the path of its module: `math::noise::OCTAVES`.
    path: String,
    scalar: Option<Scalar>,
    has_default: bool,
}

impl GpuShader {
    /// Whether the shader or an imported module has an `override` of this name.
    pub fn has_constant(&self, name: &str) -> bool {
        let overrides = self.0.overrides.iter();
        let mut constants = overrides.flat_map(|it| &it.constants);
        constants.any(|constant| constant.own == name)
    }

    /// Qualified name of the `override` of this name in an imported module below a path; `None` without one. Constants of
    /// other modules may have the same name.
    ///
    /// ```
    /// use quadrille_vulkan::shader::{GpuShader, ShaderModule};
    ///
    /// ShaderModule::new("math::noise", "override OCTAVES: u32 = 3;").publish()?;
    /// let source = "
    ///     import math::noise::OCTAVES;
    ///     @fragment fn main() -> @location(0) vec4f { return vec4f(f32(OCTAVES)); }
    /// ";
    /// let shader = GpuShader::wgsl("clouds.wgsl", source)?;
    /// assert_eq!(shader.imported_constant("math", "OCTAVES"), Some("math::noise::OCTAVES"));
    /// assert_eq!(shader.imported_constant("terrain", "OCTAVES"), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn imported_constant(&self, path: &str, name: &str) -> Option<&str> {
        let overrides = self.0.overrides.as_ref()?;
        let is_below = |it: &Override| {
            let rest = it.path.strip_prefix(path);
            it.is_imported && rest.is_some_and(|rest| rest.starts_with("::"))
        };
        let mut constants = overrides.constants.iter();
        let found = constants.find(|it| it.own == name && is_below(it))?;
        Some(&found.path)
    }

    /// A number as the type of the `override` of this name, as bevy and WebGPU give constants; `None` if the shader has
    /// none, or its type cannot have that value.
    pub fn constant(&self, name: &str, value: f64) -> Option<Constant> {
        let known = self.0.overrides.as_ref()?.find(name)?;
        let is_whole = value.fract() == 0.0;
        match known.scalar?.kind {
            ScalarKind::Bool => Some(Constant::Bool(value != 0.0)),
            ScalarKind::Sint if is_whole => Some(Constant::I32(value as i32)),
            ScalarKind::Uint if is_whole && value >= 0.0 => Some(Constant::U32(value as u32)),
            ScalarKind::Float => Some(Constant::F32(value as f32)),
            _ => None,
        }
    }
}

impl Overrides {
    pub(super) fn new(module: naga::Module, info: ModuleInfo, joined: Joined) -> Self {
        let constants = module.overrides.iter().map(|(_, it)| {
            let name = it.name.as_deref().unwrap_or_default();
            let (own, is_imported) = joined.own_name(name);
            Override {
                key: it.id.map_or_else(|| name.to_owned(), |id| id.to_string()),
                own: own.to_owned(),
                shown: joined.shown_name(name).to_owned(),
                is_imported,
                path: format!("{}::{own}", joined.module_of(name)),
                scalar: match module.types[it.ty].inner {
                    TypeInner::Scalar(scalar) => Some(scalar),
                    _ => None,
                },
                has_default: it.init.is_some(),
            }
        });
        let constants = constants.collect();
        Self {
            module,
            info,
            joined,
            constants,
        }
    }

    /// Sets all constants to their defaults, or to 1 without a default: the interface does not depend on values.
    pub(super) fn with_any_values(
        &self,
        label: &str,
    ) -> Result<(Vec<u32>, Vec<EntryPoint>), ShaderError> {
        let without = self.constants.iter().filter(|it| !it.has_default);
        let values = without.map(|it| (it.key.clone(), 1.0)).collect();
        self.translate(label, None, &values)
    }

    fn translate(
        &self,
        label: &str,
        entry: Option<(NagaStage, &str)>,
        values: &PipelineConstants,
    ) -> Result<(Vec<u32>, Vec<EntryPoint>), ShaderError> {
        let (module, info) = process_overrides(&self.module, &self.info, entry, values)
            .map_err(|error| self.error(label, error))?;
        wgsl::write(label, &self.joined, &module, &info)
    }

    fn error(&self, label: &str, error: PipelineConstantError) -> ShaderError {
        let problem = match error {
            PipelineConstantError::ValidationError(error) => {
                return wgsl::invalid(&self.joined, &error);
            }
            PipelineConstantError::MissingValue(key) => {
                let known = self.constants.iter().find(|it| it.key == key);
                let name = known.map_or(&key, |it| &it.shown);
                format!("its constant {name} has no default; set it with .constant(\"{name}\", ..)")
            }
            other => {
                let mut text = self.joined.shown(&other.to_string());
                if let Some(first) = text.get(..1).map(str::to_lowercase) {
                    text.replace_range(..1, &first);
                }
                format!("its constants are not valid together: {text}")
            }
        };
        ShaderError::Pipeline {
            pipeline: label.to_owned(),
            problem,
        }
    }

    /// Finds a constant by name: the shader's own first, then imported ones.
    fn find(&self, name: &str) -> Option<&Override> {
        let mut own = self.constants.iter().filter(|it| it.own == name);
        let (first, is_single) = (own.next(), own.next().is_none());
        let all = || self.constants.iter();
        all()
            .find(|it| !it.is_imported && it.own == name)
            .or_else(|| all().find(|it| it.path == name))
            .or_else(|| all().find(|it| it.shown == name))
            .or(first.filter(|_| is_single))
    }
}

impl GpuShader {
    /// Returns the shader of one entry point with its constants set.
    pub(crate) fn specialized(
        &self,
        pipeline: &str,
        (stage, entry): (ShaderStage, &str),
        constants: &[(String, Constant)],
    ) -> Result<Self, ShaderError> {
        let Some(overrides) = &self.0.overrides else {
            return Ok(self.clone());
        };
        let entry = &self.entry_point(stage, entry)?.name;
        let values = constants.iter().filter_map(|(name, value)| {
            let known = overrides.find(name)?;
            Some((known.key.clone(), value.number()))
        });
        let values = values.collect();
        let (words, entry_points) = wgsl::guarded(pipeline, || {
            overrides.translate(pipeline, Some((stage.to_naga(), entry)), &values)
        })?;
        Self::new(self.label(), words, entry_points)
    }
}

/// Checks that each constant exists in one of the shaders, with a matching type.
pub(crate) fn check(
    pipeline: &str,
    shaders: &[&GpuShader],
    constants: &[(String, Constant)],
) -> Result<(), ShaderError> {
    let overrides = || shaders.iter().filter_map(|it| it.0.overrides.as_deref());
    let problem = constants.iter().find_map(|(name, value)| {
        let mut known = overrides().filter_map(|it| it.find(name)).peekable();
        if known.peek().is_some() {
            return known.find_map(|known| value.unfit(known));
        }
        let names = || {
            overrides()
                .flat_map(|it| &it.constants)
                .map(|it| &*it.shown)
        };
        let all: Vec<_> = names().collect();
        Some(match (closest_match(name, names()), &all[..]) {
            (Some(near), _) => {
                format!("its shaders have no constant {name}; did you mean {near}?")
            }
            (None, []) => format!("its shaders have no constant {name}, nor any other `override`"),
            (None, all) => {
                let all = all.join(", ");
                format!("its shaders have no constant {name}; they have {all}")
            }
        })
    });
    match problem {
        None => Ok(()),
        Some(problem) => Err(ShaderError::Pipeline {
            pipeline: pipeline.to_owned(),
            problem,
        }),
    }
}

impl Constant {
    /// Converts to `f64`, which represents all values exactly.
    fn number(self) -> f64 {
        match self {
            Self::Bool(value) => f64::from(u8::from(value)),
            Self::I32(value) => value.into(),
            Self::U32(value) => value.into(),
            Self::F32(value) => value.into(),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Bool(_) => "bool",
            Self::I32(_) => "i32",
            Self::U32(_) => "u32",
            Self::F32(_) => "f32",
        }
    }

    /// Describes why a constant cannot have this value; `None` if it can.
    fn unfit(self, known: &Override) -> Option<String> {
        let scalar = known.scalar?;
        let fits = match self {
            Self::Bool(_) => scalar.kind == ScalarKind::Bool,
            Self::I32(_) => scalar == Scalar::I32,
            Self::U32(_) => scalar == Scalar::U32,
            Self::F32(_) => scalar.kind == ScalarKind::Float,
        };
        let wanted = match scalar.kind {
            ScalarKind::Bool => "bool",
            ScalarKind::Sint => "i32",
            ScalarKind::Uint => "u32",
            _ => "f32",
        };
        (!fits).then(|| {
            let (name, given) = (&known.shown, self.word());
            format!("its constant {name} is of the type {wanted}, and is set to {self}, which is of {given}")
        })
    }
}

impl std::fmt::Display for Constant {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool(value) => write!(formatter, "{value}"),
            Self::I32(value) => write!(formatter, "{value}"),
            Self::U32(value) => write!(formatter, "{value}u"),
            Self::F32(value) => write!(formatter, "{value:?}f"),
        }
    }
}

impl From<bool> for Constant {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i32> for Constant {
    fn from(value: i32) -> Self {
        Self::I32(value)
    }
}

impl From<u32> for Constant {
    fn from(value: u32) -> Self {
        Self::U32(value)
    }
}

impl From<f32> for Constant {
    fn from(value: f32) -> Self {
        Self::F32(value)
    }
}

#[cfg(test)]
#[path = "constants_tests.rs"]
mod tests;
