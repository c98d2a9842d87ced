//! Variables of a material's group.

use std::fmt::Write as _;
use std::ops::Range;

use quadrille::material::{
    MaterialBinding, MaterialBindingKind, SamplerBindingType, StorageTextureAccess,
    TextureDimension, TextureSampleType,
};

use super::scan::{Edits, Scanner};
use super::{BoundBinding, MATERIAL_ROWS, MaterialImages, MaterialShaderForm, PREFIX, fits_row};
use crate::materials::layout::{MaterialLayout, UNIFORM_ALIGNMENT};

/// Maximum number of bindings of a shader, and so one above the largest number.
const MAX_BINDINGS: u32 = 32;

/// Storage of a variable's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    /// A copy of a uniform in the row.
    Copy,
    /// An element of the bindless table, whose index is in the row.
    Element,
    /// A binding with this number.
    Bound(u32),
}

impl Storage {
    /// Whether it is filled from a row.
    pub(super) fn is_of_row(self) -> bool {
        !matches!(self, Self::Bound(_))
    }
}

/// A variable of the material's group.
pub(super) struct Global<'a> {
    /// From its first attribute to its semicolon.
    pub(super) at: Range<usize>,
    name: &'a str,
    ty: &'a str,
    /// Address space and access of a buffer.
    space: &'a str,
    pub(super) binding: &'a MaterialBinding,
    pub(super) storage: Storage,
}

impl Global<'_> {
    /// Whether shaders may write the resource. Storage textures that are only read need the same layout, `GENERAL`.
    fn writes(&self) -> bool {
        let is_texture = matches!(
            self.binding.kind,
            MaterialBindingKind::StorageTexture { .. }
        );
        is_texture || self.space.ends_with("read_write")
    }

    /// The declaration in its place.
    pub(super) fn declaration(&self) -> String {
        let Self {
            name, ty, space, ..
        } = self;
        match self.storage {
            Storage::Copy => format!("var<private> {name}: {ty};"),
            Storage::Element => format!("var<private> {name}: u32;"),
            Storage::Bound(number) => {
                let space = match *space {
                    "" => String::new(),
                    space => format!("<{space}>"),
                };
                format!("@group(0) @binding({number}) var{space} {name}: {ty};")
            }
        }
    }
}

/// The table of rows, and the function that fills the private variables.
pub(super) fn rows(
    layout: &MaterialLayout,
    globals: &[Global<'_>],
    form: &MaterialShaderForm<'_>,
) -> String {
    let mut members = String::new();
    let mut loads = String::new();
    for (rank, (binding, bytes)) in layout.uniforms().enumerate() {
        let global = globals.iter().find(|it| it.binding == binding);
        match global.filter(|it| it.storage == Storage::Copy) {
            Some(global) => {
                let _ = write!(members, "@align(16) uniform_{rank}: {}, ", global.ty);
                let _ = write!(loads, " {} = {PREFIX}row_of.uniform_{rank};", global.name);
            }
            None => {
                let bytes = bytes.next_multiple_of(UNIFORM_ALIGNMENT);
                let _ = write!(members, "@align(16) @size({bytes}) unused_{rank}: vec4u, ");
            }
        }
    }
    let count = (layout.stride - layout.indices_offset) / 16;
    for global in globals.iter().filter(|it| it.storage == Storage::Element) {
        let rank = layout.rank(global.binding);
        let (name, word) = (global.name, rank % 4);
        let _ = write!(
            loads,
            " {name} = {PREFIX}row_of.indices[{}][{word}];",
            rank / 4
        );
    }
    let number = form.rows_binding;
    format!(
        "
struct QuadrilleMaterialRow {{ {members}@align(16) indices: array<vec4u, {count}> }}
@group(0) @binding({number}) var<storage, read> {MATERIAL_ROWS}: array<QuadrilleMaterialRow>;
fn {PREFIX}load_material({PREFIX}index: u32) {{
    let {PREFIX}row_of = {MATERIAL_ROWS}[{PREFIX}row({PREFIX}index)];{loads}
}}
"
    )
}

impl<'a> Scanner<'a> {
    /// All variables of the material, as private ones.
    pub(super) fn globals<'b>(
        &'b self,
        layout: &'b MaterialLayout,
    ) -> Result<Vec<Global<'b>>, String> {
        let mut globals: Vec<Global<'b>> = Vec::new();
        for (attributes, var) in self.attributed() {
            if self.word(var) != "var" || !self.is_of_material(&attributes, var) {
                continue;
            }
            let global = self.global(&attributes, var, layout)?;
            if let Some(other) = globals.iter().find(|it| it.binding == global.binding) {
                let [one, two] = [other.name, global.name].map(|name| self.own_name(name));
                let message = format!(
                    "two variables at binding {}: `{one}` and `{two}`. Give each a number of its own",
                    global.binding.binding
                );
                return Err(self.error(&message, var..var + 1));
            }
            globals.push(global);
        }
        Ok(globals)
    }

    fn global<'b>(
        &'b self,
        attributes: &[Range<usize>],
        var: usize,
        layout: &'b MaterialLayout,
    ) -> Result<Global<'b>, String> {
        let first = attributes.first().map_or(var, |it| it.start);
        // A declaration ends with its semicolon, whatever is left open before it.
        let end = (var..self.len()).find(|&at| self.is(at, ';') || self.is(at, '{'));
        let end = end.filter(|&end| self.is(end, ';'));
        let unfinished = || {
            let message =
                "the declaration of a binding does not end. Write it as `var NAME: TYPE;`";
            self.error(message, var..var + 1)
        };
        let end = end.ok_or_else(unfinished)?;
        let mut at = var + 1;
        let mut space = "";
        if self.is(at, '<') {
            let close = (at..end).find(|&it| self.is(it, '>')).unwrap_or(end);
            space = self.text(at + 1..close);
            at = (close + 1).min(end);
        }
        let name = self.word(at);
        if at + 2 >= end {
            return Err(unfinished());
        }
        let ty = self.text(at + 2..end);
        let Some(number) = self.number(attributes, "binding") else {
            let message =
                format!("`{name}` has no number of its binding. Write `@binding(0)` before it");
            return Err(self.error(&message, var..end));
        };
        let binding = self
            .binding(number, self.own_name(name), (space, ty), layout)
            .map_err(|message| self.error(&message, first..end))?;
        Ok(Global {
            at: self.bytes(first..end + 1),
            name,
            ty,
            space,
            binding,
            storage: Storage::Copy,
        })
    }

    /// Decides where the values of all variables are, and adds those that are bound by themselves.
    pub(super) fn assign_storage(
        &self,
        globals: &mut [Global<'_>],
        layout: &MaterialLayout,
        form: &MaterialShaderForm<'_>,
        bound: &mut Vec<BoundBinding>,
    ) -> Result<(), String> {
        let mut taken = self.numbers();
        taken.push(form.rows_binding);
        for global in globals {
            let kind = global.binding.kind;
            if matches!(kind, MaterialBindingKind::Uniform { .. }) {
                continue;
            }
            let is_bindless = form.images == MaterialImages::Bindless;
            if is_bindless && fits_row(kind) && !self.is_argument(global) {
                global.storage = Storage::Element;
                continue;
            }
            let bindings = layout.bindings.iter();
            let index = bindings.take_while(|it| *it != global.binding).count();
            let known = bound.iter().find(|it| it.index == index);
            let number = match (form.images, known) {
                (MaterialImages::Bound(first), _) => {
                    Some(first + layout.rank(global.binding) as u32)
                }
                (_, Some(known)) => Some(known.number),
                (MaterialImages::Bindless, None) => {
                    let is_free = |number: &u32| {
                        !taken.contains(number) && bound.iter().all(|it| it.number != *number)
                    };
                    (0..MAX_BINDINGS).rev().find(is_free)
                }
            };
            let number = number.filter(|it| *it < MAX_BINDINGS && !taken.contains(it));
            let Some(number) = number else {
                return Err(format!(
                    "{} has more resources than the {MAX_BINDINGS} that a shader binds; the last is `{}`. Remove some",
                    self.subject, global.name
                ));
            };
            taken.push(number);
            global.storage = Storage::Bound(number);
            let writes = global.writes();
            match bound.iter_mut().find(|it| it.index == index) {
                Some(known) => known.writes |= writes,
                None => bound.push(BoundBinding {
                    index,
                    number,
                    writes,
                }),
            }
        }
        Ok(())
    }

    /// Numbers of the bindings in group 0.
    fn numbers(&self) -> Vec<u32> {
        let declarations = self.attributed();
        let of_renderer = declarations.filter(|(attributes, var)| {
            self.word(*var) == "var" && !self.is_of_material(attributes, *var)
        });
        of_renderer
            .filter_map(|(attributes, _)| self.number(&attributes, "binding"))
            .collect()
    }

    /// The material's binding of a variable, if both are of one kind.
    fn binding<'b>(
        &self,
        number: u32,
        name: &str,
        (space, ty): (&str, &str),
        layout: &'b MaterialLayout,
    ) -> Result<&'b MaterialBinding, String> {
        let ty: String = ty.split_whitespace().collect();
        let read = kind_of_variable(space, &ty);
        let found = layout.bindings.iter().find(|it| it.binding == number);
        let Some(binding) = found else {
            let attribute = read.as_ref().map_or("uniform", |read| read.attribute());
            return Err(format!(
                "the shader reads `{name}: {ty}` at binding {number}, where the material has nothing. Add a field with \
                 `#[{attribute}({number})]`"
            ));
        };
        let Some(read) = read else {
            return Err(format!(
                "`{name}: {ty}` at binding {number} is nothing that a material has. Use a uniform, a storage buffer, a texture or \
                 a sampler"
            ));
        };
        let given = Shape::of(binding.kind);
        if given == (Shape::Storage { writes: false }) && read == (Shape::Storage { writes: true })
        {
            let field = binding.field;
            return Err(format!(
                "the shader writes `{name}: {ty}` at binding {number}, which the material only reads (`{field}`). Remove \
                 `read_only` from its attribute, or declare it as `var<storage, read>`"
            ));
        }
        if !given.allows(read) {
            let field = binding.field;
            return Err(format!(
                "the shader reads {read} at binding {number} (`{name}: {ty}`), where the material has {given} (`{field}`). Give \
                 both the same kind"
            ));
        }
        Ok(binding)
    }

    /// Whether a texture or sampler is passed to a function of the shader. An element of the bindless table as an argument
    /// is invalid SPIR-V in naga 30 (gfx-rs/wgpu 6283).
    fn is_argument(&self, global: &Global<'_>) -> bool {
        self.uses(global).any(|at| {
            let callee = self.callee(at);
            callee.is_some_and(|callee| !callee.starts_with("texture"))
        })
    }

    /// Tokens that are the name of a variable where it is used.
    fn uses(&self, global: &Global<'_>) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(|&at| {
            let is_use = self.is_word(at)
                && self.word(at) == global.name
                && !global.at.contains(&self.bytes(at..at + 1).start);
            let is_member = at > 0 && self.is(at - 1, '.') || self.is_member_of_structure(at);
            is_use && !is_member
        })
    }

    /// Replaces the uses of a texture or sampler by its element of the bindless table.
    pub(super) fn replace_uses(
        &self,
        global: &Global<'_>,
        edits: &mut Edits,
    ) -> Result<(), String> {
        let name = global.name;
        let [textures, mask, samplers, shift] = self.table_names();
        let element = match global.binding.kind {
            MaterialBindingKind::Sampler(_) => format!("{samplers}[{name} >> {shift}]"),
            _ => format!("{textures}[{name} & {mask}]"),
        };
        for at in self.uses(global) {
            let before = if at == 0 { "" } else { self.word(at - 1) };
            if matches!(before, "let" | "var" | "const" | "fn") || self.is(at + 1, ':') {
                let message = format!(
                    "`{}` has two meanings: a binding of the material, and a variable, parameter or member. Rename one",
                    self.own_name(name)
                );
                return Err(self.error(&message, at..at + 1));
            }
            edits.push((self.bytes(at..at + 1), element.clone()));
        }
        Ok(())
    }
}

/// Kind of a resource, as far as shader and material have to agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Uniform,
    Storage { writes: bool },
    StorageTexture(TextureDimension, StorageTextureAccess),
    Texture(TextureDimension, TextureSampleType, bool),
    Sampler { compares: bool },
}

/// Dimensions of textures.
const DIMENSIONS: [TextureDimension; 6] = [
    TextureDimension::D1,
    TextureDimension::D2,
    TextureDimension::D2Array,
    TextureDimension::D3,
    TextureDimension::Cube,
    TextureDimension::CubeArray,
];

impl Shape {
    fn of(kind: MaterialBindingKind) -> Self {
        match kind {
            MaterialBindingKind::Uniform { .. } => Self::Uniform,
            MaterialBindingKind::Storage { writes } => Self::Storage { writes },
            MaterialBindingKind::StorageTexture { dimension, access } => {
                Self::StorageTexture(dimension, access)
            }
            MaterialBindingKind::Texture {
                dimension,
                sample_type,
                multisampled,
            } => Self::Texture(dimension, sample_type, multisampled),
            MaterialBindingKind::Sampler(kind) => Self::Sampler {
                compares: kind == SamplerBindingType::Comparison,
            },
        }
    }

    /// Whether a shader may read a field of this kind as another.
    fn allows(self, read: Self) -> bool {
        match (self, read) {
            (Self::Storage { writes: true }, Self::Storage { .. }) => true,
            (Self::StorageTexture(dimension, given), Self::StorageTexture(other, access)) => {
                let is_covered = given == access || given == StorageTextureAccess::ReadWrite;
                dimension == other && is_covered
            }
            _ => self == read,
        }
    }

    /// The attribute of a field of this kind.
    fn attribute(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Storage { .. } => "storage",
            Self::StorageTexture(..) => "storage_texture",
            Self::Texture(..) => "texture",
            Self::Sampler { .. } => "sampler",
        }
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = match *self {
            Self::Uniform => "a uniform",
            Self::Storage { .. } => "a storage buffer",
            Self::StorageTexture(shape, access) => {
                let (shape, access) = (dimension_name(shape), access_name(access));
                return write!(
                    to,
                    "a storage texture `texture_storage_{shape}<.., {access}>`"
                );
            }
            Self::Sampler { compares: false } => "a sampler",
            Self::Sampler { compares: true } => "a comparison sampler",
            Self::Texture(dimension, sample_type, multisampled) => {
                return write!(
                    to,
                    "a texture `{}`",
                    texture(dimension, sample_type, multisampled)
                );
            }
        };
        to.write_str(text)
    }
}

/// WGSL type of a texture.
fn texture(dimension: TextureDimension, sample: TextureSampleType, multisampled: bool) -> String {
    let depth = match sample {
        TextureSampleType::Depth => "depth_",
        _ => "",
    };
    let samples = if multisampled { "multisampled_" } else { "" };
    let dimension = dimension_name(dimension);
    let texel = match sample {
        TextureSampleType::Float => "<f32>",
        TextureSampleType::Depth => "",
        TextureSampleType::Sint => "<i32>",
        TextureSampleType::Uint => "<u32>",
    };
    format!("texture_{depth}{samples}{dimension}{texel}")
}

fn dimension_name(dimension: TextureDimension) -> &'static str {
    match dimension {
        TextureDimension::D1 => "1d",
        TextureDimension::D2 => "2d",
        TextureDimension::D2Array => "2d_array",
        TextureDimension::D3 => "3d",
        TextureDimension::Cube => "cube",
        TextureDimension::CubeArray => "cube_array",
    }
}

fn access_name(access: StorageTextureAccess) -> &'static str {
    match access {
        StorageTextureAccess::ReadOnly => "read",
        StorageTextureAccess::WriteOnly => "write",
        StorageTextureAccess::ReadWrite => "read_write",
    }
}

/// The kind of a storage texture by the rest of its type: `2d<rgba8unorm,write>`.
fn storage_texture(ty: &str) -> Option<Shape> {
    let (dimension, rest) = ty.split_once('<')?;
    let access = rest.strip_suffix('>')?.rsplit(',').next()?;
    let mut dimensions = DIMENSIONS.into_iter();
    let dimension = dimensions.find(|it| dimension_name(*it) == dimension)?;
    let accesses = [
        StorageTextureAccess::ReadOnly,
        StorageTextureAccess::WriteOnly,
        StorageTextureAccess::ReadWrite,
    ];
    let access = accesses.into_iter().find(|it| access_name(*it) == access)?;
    Some(Shape::StorageTexture(dimension, access))
}

/// The kind of a variable; `None` for none of a material.
fn kind_of_variable(space: &str, ty: &str) -> Option<Shape> {
    let mut words = space.split(',').map(str::trim);
    match (words.next().unwrap_or_default(), ty) {
        ("uniform", _) => Some(Shape::Uniform),
        ("storage", _) => {
            let writes = words.next() == Some("read_write");
            Some(Shape::Storage { writes })
        }
        ("", "sampler") => Some(Shape::Sampler { compares: false }),
        ("", "sampler_comparison") => Some(Shape::Sampler { compares: true }),
        ("", ty) if ty.starts_with("texture_storage_") => {
            storage_texture(ty.strip_prefix("texture_storage_")?)
        }
        ("", ty) => {
            let samples = [
                TextureSampleType::Float,
                TextureSampleType::Depth,
                TextureSampleType::Sint,
                TextureSampleType::Uint,
            ];
            let kinds = DIMENSIONS.into_iter().flat_map(|dimension| {
                let of_dimension =
                    samples.map(|sample| [(dimension, sample, false), (dimension, sample, true)]);
                of_dimension.into_iter().flatten()
            });
            let mut kinds = kinds.map(|(dimension, sample, multisampled)| {
                Shape::Texture(dimension, sample, multisampled)
            });
            kinds.find(|shape| match *shape {
                Shape::Texture(dimension, sample, multisampled) => {
                    texture(dimension, sample, multisampled) == ty
                }
                _ => false,
            })
        }
        _ => None,
    }
}
