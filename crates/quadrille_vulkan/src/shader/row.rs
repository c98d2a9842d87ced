//! Rows of tables: plain data that shaders read in its Rust memory layout.
//!
//! Rust and WGSL both declare a struct for such a row. [`RowLayout::check`] compares names, offsets and types of their
//! members, which needs no device.

use ash::vk;

use super::compose::{Root, compose};
use super::{ScalarKind, ShaderOptions, wgsl};
use crate::error::ShaderError;
use wgsl::structs::{ShaderStruct, StructMember};

/// A `#[repr(C)]` struct that shaders read in its Rust memory layout. Derived, with the shader and the struct that it
/// corresponds to: `#[row("quadrille_3d/scene.wgsl", "Light")]`.
pub trait ShaderRow: RowValue {
    /// Its fields, and the shader struct that declares them.
    const LAYOUT: RowLayout;
}

/// Type of a field of a [`ShaderRow`]: `f32`, `u32`, `i32`, a row, or an array of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of a row's field",
    label = "`f32`, `u32`, `i32`, an array of such, or another row is expected here"
)]
pub trait RowValue: Copy + 'static {
    /// Its type in shaders.
    const TYPE: RowType;
}

/// Fields of a [`ShaderRow`].
#[derive(Clone, Copy, Debug)]
pub struct RowLayout {
    /// Name of the row in Rust.
    pub name: &'static str,
    /// Label of the shader that declares the struct, as in `GpuShader::wgsl`.
    pub shader: &'static str,
    /// Name of the struct there.
    pub shader_struct: &'static str,
    /// Size in bytes: the stride of an array of rows.
    pub bytes: u32,
    /// Fields in memory order.
    pub fields: &'static [RowField],
}

/// A field of a [`ShaderRow`].
#[derive(Clone, Copy, Debug)]
pub struct RowField {
    /// Its name, equal in the shader.
    pub name: &'static str,
    /// Offset in the row in bytes.
    pub offset: u32,
    /// Its type.
    pub ty: RowType,
}

/// Type of a field of a [`ShaderRow`].
#[derive(Clone, Copy, Debug)]
pub enum RowType {
    /// A number of 32 bits.
    Scalar {
        /// Its kind.
        kind: ScalarKind,
    },
    /// An array; in shaders it may be a vector or a matrix.
    Array {
        /// Type of its elements.
        of: &'static RowType,
        /// Number of its elements.
        count: u32,
    },
    /// Another row.
    Row {
        /// Its fields.
        layout: &'static RowLayout,
    },
}

macro_rules! implement_row_value {
    ($($ty:ty: $kind:ident),*) => {$(
        impl RowValue for $ty {
            const TYPE: RowType = RowType::Scalar { kind: ScalarKind::$kind };
        }
    )*};
}

implement_row_value!(f32: Float, u32: Uint, i32: Sint);

impl<T: RowValue, const N: usize> RowValue for [T; N] {
    const TYPE: RowType = RowType::Array {
        of: &T::TYPE,
        count: N as u32,
    };
}

impl RowLayout {
    /// Compares the row with the struct in the shader's source. The members must have the names, offsets and scalar
    /// types of the fields, in the same order, and the struct must have the same size. Vertex inputs must have
    /// consecutive locations instead of offsets; an array of vectors is `name_0`, `name_1` and so on there.
    ///
    /// ```
    /// use quadrille_vulkan::shader::{RowField, RowLayout, RowValue};
    /// let row = RowLayout {
    ///     name: "Sphere",
    ///     shader: "spheres.wgsl",
    ///     shader_struct: "Sphere",
    ///     bytes: 16,
    ///     fields: &[
    ///         RowField { name: "center", offset: 0, ty: <[f32; 3]>::TYPE },
    ///         RowField { name: "radius", offset: 12, ty: f32::TYPE },
    ///     ],
    /// };
    /// row.check("struct Sphere { center: vec3f, radius: f32 }")?;
    /// assert!(row.check("struct Sphere { radius: f32, center: vec3f }").is_err());
    /// # Ok::<(), quadrille_vulkan::ShaderError>(())
    /// ```
    ///
    /// # Errors
    /// [`ShaderError::Interface`] if they differ or the struct does not exist; the errors of invalid WGSL.
    pub fn check(&self, source: &str) -> Result<(), ShaderError> {
        let root = Root {
            label: self.shader,
            source,
            file: None,
            options: &ShaderOptions::new(),
            follows_files: false,
        };
        let joined = compose(&root, &mut Vec::new())?;
        let found = wgsl::structs::find(self.shader, &joined, self.shader_struct)?;
        let problem = match &found {
            None => Some("there is none".to_owned()),
            Some(found) if found.is_input() => self.input_problem(found),
            Some(found) => self.buffer_problem(found),
        };
        let Self {
            name,
            shader,
            shader_struct,
            ..
        } = self;
        problem.map_or(Ok(()), |problem| {
            Err(ShaderError::Interface {
                label: (*shader).to_owned(),
                problem: format!(
                    "the row `{name}` is no `struct {shader_struct}` of it: {problem}; give both the \
                     same members in the same order"
                ),
            })
        })
    }

    /// Vertex formats of the fields, one per vector of one to four scalars.
    pub(crate) fn formats(&self) -> Vec<vk::Format> {
        self.attributes().map(|it| it.format()).collect()
    }

    fn buffer_problem(&self, found: &ShaderStruct) -> Option<String> {
        for (at, field) in self.fields.iter().enumerate() {
            let (name, offset) = (field.name, field.offset);
            let Some(member) = found.members.get(at) else {
                return Some(format!("it lacks `{name}` at byte {offset}"));
            };
            if (&*member.name, member.offset) != (name, offset) {
                let StructMember { name, offset, .. } = member;
                return Some(format!(
                    "`{}` is at byte {}, where it has `{name}` at byte {offset}",
                    field.name, field.offset
                ));
            }
            let mut numbers = Vec::new();
            field.ty.add_numbers(&mut numbers);
            let fits = member.numbers.len() <= numbers.len();
            let mut both = member.numbers.iter().zip(&numbers);
            if !fits || both.any(|(wanted, given)| wanted.is_some() && wanted != given) {
                return Some(format!("`{name}` has other numbers"));
            }
        }
        if let Some(member) = found.members.get(self.fields.len()) {
            return Some(format!("the row lacks `{}`", member.name));
        }
        let (given, wanted) = (self.bytes, found.bytes);
        (given != wanted).then(|| format!("the row has {given} bytes, the struct {wanted}"))
    }

    fn input_problem(&self, found: &ShaderStruct) -> Option<String> {
        let mut next = None;
        for attribute in self.attributes() {
            let name = attribute.name();
            let mut members = found.members.iter();
            let Some(member) = members.find(|member| *member.name == *name) else {
                return Some(format!("it lacks `{name}`"));
            };
            let location = member.location?;
            if next.is_some_and(|next| next != location) {
                return Some(format!(
                    "`{name}` is not at the location after its neighbour"
                ));
            }
            let wanted = vec![Some(attribute.kind); attribute.count as usize];
            if member.numbers != wanted {
                return Some(format!("`{name}` has other numbers"));
            }
            next = Some(location + 1);
        }
        None
    }

    fn attributes(&self) -> impl Iterator<Item = Attribute> {
        self.fields.iter().flat_map(|field| {
            let (parts, ty) = match field.ty {
                RowType::Array { of, count } if !matches!(of, RowType::Scalar { .. }) => {
                    (Some(count), *of)
                }
                ty => (None, ty),
            };
            let mut numbers = Vec::new();
            ty.add_numbers(&mut numbers);
            let kind = numbers.first().copied().flatten();
            (0..parts.unwrap_or(1)).map(move |part| Attribute {
                field: field.name,
                part: parts.map(|_| part),
                kind: kind.unwrap_or(ScalarKind::Float),
                count: numbers.len() as u32,
            })
        })
    }
}

impl RowType {
    /// Adds the scalar kind of each 4-byte word; `None` for padding.
    fn add_numbers(&self, to: &mut Vec<Option<ScalarKind>>) {
        match self {
            Self::Scalar { kind } => to.push(Some(*kind)),
            Self::Array { of, count } => (0..*count).for_each(|_| of.add_numbers(to)),
            Self::Row { layout } => {
                let first = to.len();
                for field in layout.fields {
                    to.resize(first + field.offset as usize / 4, None);
                    field.ty.add_numbers(to);
                }
                to.resize(first + layout.bytes as usize / 4, None);
            }
        }
    }
}

/// A vertex attribute: a field, or one element of an array.
struct Attribute {
    field: &'static str,
    part: Option<u32>,
    kind: ScalarKind,
    count: u32,
}

impl Attribute {
    fn name(&self) -> String {
        match self.part {
            Some(part) => format!("{}_{part}", self.field),
            None => self.field.to_owned(),
        }
    }

    /// Returns its vertex format; `UNDEFINED`, which pipelines reject, for more than four scalars.
    fn format(&self) -> vk::Format {
        use vk::Format;
        match (self.kind, self.count) {
            (ScalarKind::Float, 1) => Format::R32_SFLOAT,
            (ScalarKind::Float, 2) => Format::R32G32_SFLOAT,
            (ScalarKind::Float, 3) => Format::R32G32B32_SFLOAT,
            (ScalarKind::Float, 4) => Format::R32G32B32A32_SFLOAT,
            (ScalarKind::Uint, 1) => Format::R32_UINT,
            (ScalarKind::Uint, 2) => Format::R32G32_UINT,
            (ScalarKind::Uint, 3) => Format::R32G32B32_UINT,
            (ScalarKind::Uint, 4) => Format::R32G32B32A32_UINT,
            (ScalarKind::Sint, 1) => Format::R32_SINT,
            (ScalarKind::Sint, 2) => Format::R32G32_SINT,
            (ScalarKind::Sint, 3) => Format::R32G32B32_SINT,
            (ScalarKind::Sint, 4) => Format::R32G32B32A32_SINT,
            _ => Format::UNDEFINED,
        }
    }
}

#[cfg(test)]
mod tests;
