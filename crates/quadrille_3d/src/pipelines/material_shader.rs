//! Fragment shaders of materials, generated from their files.
//!
//! A shader declares the uniforms, textures and samplers of one material at `@group(MATERIAL_BIND_GROUP)`, as bevy's do.
//! Here all materials of a type are rows of a table, so that any number of them is one indirect draw, and textures lie in
//! the bindless table. So the generated shader has private variables in their place: a uniform is a copy of the
//! row's value, a texture or sampler is an index. The fragment's entry point takes the instance as a further input and fills
//! them first. Lines stay where they are, so that errors show the lines of the file.

use std::fmt::Write as _;
use std::ops::Range;

use quadrille::material::{
    MaterialBinding, MaterialBindingKind, SamplerBindingType, TextureDimension, TextureSampleType,
};
use quadrille::vulkan::{GpuShader, WgslToken, WgslTokenKind, wgsl_tokens};
use quadrille_content::Shader;

use crate::constants::MATERIAL_ROW_SHIFT;

/// Alignment of uniforms in a row, at least that of any WGSL type.
const UNIFORM_ALIGNMENT: u64 = 16;

/// Name of the group of materials in shaders of bevy.
const GROUP: &str = "MATERIAL_BIND_GROUP";

/// Variable of the table of rows.
pub(crate) const ROWS: &str = "quadrille_material_rows";

/// Prefix of all generated names.
const PREFIX: &str = "quadrille_";

/// Layout of the rows of a material type: uniforms, then indices of textures and samplers, four to a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MaterialLayout {
    pub(crate) bindings: Vec<MaterialBinding>,
    /// Offset of each uniform.
    pub(crate) offsets: Vec<u64>,
    /// Offset of the indices.
    pub(crate) indices_offset: u64,
    /// Bytes of a row.
    pub(crate) stride: u64,
}

impl MaterialLayout {
    pub(crate) fn new(bindings: Vec<MaterialBinding>) -> Self {
        let mut end = 0;
        let mut offsets = Vec::new();
        let mut indices = 0_u64;
        for binding in &bindings {
            match binding.kind {
                MaterialBindingKind::Uniform { bytes } => {
                    offsets.push(end);
                    end += bytes.next_multiple_of(UNIFORM_ALIGNMENT);
                }
                _ => indices += 1,
            }
        }
        Self {
            bindings,
            offsets,
            indices_offset: end,
            // At least one vector, behind which the compiler cannot hide the size of the last uniform.
            stride: end + indices.div_ceil(4).max(1) * 16,
        }
    }

    /// Index of a binding among uniforms, or among textures and samplers.
    fn rank(&self, binding: &MaterialBinding) -> usize {
        let is_uniform =
            |it: &&MaterialBinding| matches!(it.kind, MaterialBindingKind::Uniform { .. });
        let wanted = is_uniform(&binding);
        let before = self
            .bindings
            .iter()
            .take_while(|it| it.binding != binding.binding);
        before.filter(|it| is_uniform(it) == wanted).count()
    }
}

/// Generates and translates the fragment shader of a material type.
///
/// # Errors
/// The message for the user.
pub(crate) fn translate(
    material: &str,
    shader: &Shader,
    layout: &MaterialLayout,
) -> Result<GpuShader, String> {
    let generated = generate(material, shader, layout)?;
    let translated = shader
        .translate(&generated)
        .map_err(|error| error.to_string())?;
    check_layout(material, shader, layout, &translated)?;
    Ok(translated)
}

/// A variable of the material's group.
struct Global<'a> {
    /// From its first attribute to its semicolon.
    at: Range<usize>,
    /// Attributes other than `@group` and `@binding`.
    attributes: Vec<&'a str>,
    name: &'a str,
    ty: &'a str,
    is_uniform: bool,
    binding: &'a MaterialBinding,
}

/// Returns the text of the shader with private variables for bindings.
fn generate(material: &str, shader: &Shader, layout: &MaterialLayout) -> Result<String, String> {
    let source = &*shader.source;
    let scanner = Scanner {
        source,
        tokens: wgsl_tokens(source),
        subject: format!("`{}` of the material `{material}`", shader.path),
    };
    let globals = scanner.globals(layout)?;
    let mut edits = Vec::new();
    for global in &globals {
        edits.push((global.at.clone(), declaration(source, global)));
        if !global.is_uniform {
            scanner.replace_uses(global, &mut edits)?;
        }
    }
    scanner.enter(&mut edits)?;
    edits.sort_by_key(|(range, _)| range.start);
    let mut text = String::new();
    let mut from = 0;
    for (range, replacement) in edits {
        text.push_str(&source[from..range.start]);
        text.push_str(&replacement);
        from = range.end;
    }
    text.push_str(&source[from..]);
    text.push_str(&rows(layout, &globals));
    Ok(text)
}

/// The private variable of a binding, in as many lines as its declaration.
fn declaration(source: &str, global: &Global<'_>) -> String {
    let ty = if global.is_uniform { global.ty } else { "u32" };
    let attributes = global.attributes.join(" ");
    let lines = source[global.at.clone()].matches('\n').count();
    let lines_of_type = ty.matches('\n').count();
    let lines = "\n".repeat(lines.saturating_sub(lines_of_type));
    format!("{attributes} var<private> {}: {ty};{lines}", global.name)
}

/// The table of rows, and the function that fills the private variables.
fn rows(layout: &MaterialLayout, globals: &[Global<'_>]) -> String {
    let mut members = String::new();
    let mut loads = String::new();
    let uniforms = layout.bindings.iter();
    let uniforms = uniforms.filter_map(|binding| match binding.kind {
        MaterialBindingKind::Uniform { bytes } => Some((binding, bytes)),
        _ => None,
    });
    for (rank, (binding, bytes)) in uniforms.enumerate() {
        let global = globals.iter().find(|it| it.binding == binding);
        match global {
            Some(global) => {
                let _ = write!(members, "@align(16) uniform_{rank}: {}, ", global.ty);
                let _ = write!(loads, " {} = {PREFIX}row.uniform_{rank};", global.name);
            }
            None => {
                let bytes = bytes.next_multiple_of(UNIFORM_ALIGNMENT);
                let _ = write!(members, "@align(16) @size({bytes}) unused_{rank}: vec4u, ");
            }
        }
    }
    let count = (layout.stride - layout.indices_offset) / 16;
    for global in globals.iter().filter(|it| !it.is_uniform) {
        let rank = layout.rank(global.binding);
        let name = global.name;
        let _ = write!(
            loads,
            " {name} = {PREFIX}row.indices[{}][{}];",
            rank / 4,
            rank % 4
        );
    }
    format!(
        "
import quadrille_3d::constants::{{IMAGE_MASK as {PREFIX}image_mask, SAMPLER_SHIFT as {PREFIX}sampler_shift}};
import quadrille_3d::scene::{{instances as {PREFIX}instances, materials as {PREFIX}materials, samplers as {PREFIX}samplers, textures as {PREFIX}textures}};
struct QuadrilleMaterialRow {{ {members}@align(16) indices: array<vec4u, {count}> }}
@group(0) @binding(24) var<storage, read> {PREFIX}material_rows: array<QuadrilleMaterialRow>;
fn {PREFIX}load_material({PREFIX}index: u32) {{
    let {PREFIX}row = {PREFIX}material_rows[{PREFIX}materials[{PREFIX}instances[{PREFIX}index].material].flags >> {MATERIAL_ROW_SHIFT}u];{loads}
}}
"
    )
}

/// Compares the sizes of uniforms on both sides: each starts where the one before ends, rounded up.
fn check_layout(
    material: &str,
    shader: &Shader,
    layout: &MaterialLayout,
    translated: &GpuShader,
) -> Result<(), String> {
    let entry_points = translated.entry_points().iter();
    let mut bindings = entry_points.flat_map(|entry| &entry.bindings);
    let Some(table) = bindings.find(|binding| binding.name == ROWS) else {
        return Ok(());
    };
    let found: Vec<u32> = table.layout.members().map(|(_, offset)| offset).collect();
    let uniforms = layout.bindings.iter();
    let uniforms = uniforms.filter_map(|binding| match binding.kind {
        MaterialBindingKind::Uniform { bytes } => Some((binding, bytes)),
        _ => None,
    });
    for (rank, (binding, bytes)) in uniforms.enumerate() {
        let Some([start, end]) = found.get(rank..rank + 2) else {
            continue;
        };
        let size = u64::from(end - start);
        if size != bytes.next_multiple_of(UNIFORM_ALIGNMENT) {
            let MaterialBinding { binding, field, .. } = binding;
            return Err(format!(
                "the uniform at binding {binding} of the material `{material}` has {bytes} bytes (`{field}`), and {} reads {size}. \
                 Give both the same fields in the same order",
                shader.path
            ));
        }
    }
    Ok(())
}

/// The tokens of a shader.
struct Scanner<'a> {
    source: &'a str,
    tokens: Vec<WgslToken>,
    /// The shader in messages.
    subject: String,
}

impl<'a> Scanner<'a> {
    fn word(&self, at: usize) -> &'a str {
        let token = self.tokens.get(at);
        token.map_or("", |token| &self.source[token.at.clone()])
    }

    fn is(&self, at: usize, mark: char) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(mark))
    }

    /// The index behind the bracket that closes the one at `at`.
    fn behind_bracket(&self, at: usize, [open, close]: [char; 2]) -> usize {
        let mut depth = 0_usize;
        for next in at..self.tokens.len() {
            if self.is(next, open) {
                depth += 1;
            } else if self.is(next, close) {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return next + 1;
                }
            }
        }
        self.tokens.len()
    }

    /// Indices of tokens outside of braces and parentheses.
    fn top_level(&self) -> impl Iterator<Item = usize> {
        let mut depth = 0_usize;
        (0..self.tokens.len()).filter(move |&at| {
            let was_top = depth == 0;
            if self.is(at, '{') || self.is(at, '(') {
                depth += 1;
            } else if self.is(at, '}') || self.is(at, ')') {
                depth = depth.saturating_sub(1);
            }
            was_top
        })
    }

    /// All variables of the material's group.
    fn globals<'b>(&'b self, layout: &'b MaterialLayout) -> Result<Vec<Global<'b>>, String> {
        let mut globals: Vec<Global<'b>> = Vec::new();
        let mut behind = 0;
        for at in self.top_level() {
            if at < behind || !self.is(at, '@') {
                continue;
            }
            let (end, attributes) = self.attributes(at);
            behind = end;
            let is_of_material =
                |range: &&Range<usize>| self.source[(*range).clone()].contains(GROUP);
            if self.word(end) == "var" && attributes.iter().any(|it| is_of_material(&it)) {
                self.refuse_conditions(&attributes, "a binding of the material")?;
                let global = self.global(at, end, &attributes, layout)?;
                if let Some(other) = globals.iter().find(|it| it.binding == global.binding) {
                    return Err(format!(
                        "{} has two variables at binding {}: `{}` and `{}`",
                        self.subject, global.binding.binding, other.name, global.name
                    ));
                }
                globals.push(global);
            }
        }
        Ok(globals)
    }

    /// Refuses conditions, which are translated only after bindings and entry points are found.
    fn refuse_conditions(&self, attributes: &[Range<usize>], subject: &str) -> Result<(), String> {
        let conditions = ["@if", "@elif", "@else"];
        let mut texts = attributes.iter().map(|it| &self.source[it.clone()]);
        let condition = texts.find(|text| conditions.iter().any(|it| text.starts_with(it)));
        condition.map_or(Ok(()), |condition| {
            Err(format!(
                "{} has `{condition}` before {subject}, which must not depend on a condition. Move the condition into the function",
                self.subject
            ))
        })
    }

    /// Name of the function that the token is an argument of.
    fn callee(&self, at: usize) -> Option<&'a str> {
        let mut depth = 0_usize;
        for before in (0..at).rev() {
            if self.is(before, ')') || self.is(before, ']') {
                depth += 1;
            } else if self.is(before, '(') || self.is(before, '[') {
                if depth == 0 {
                    return self.is(before, '(').then(|| match before {
                        0 => "",
                        _ => self.word(before - 1),
                    });
                }
                depth -= 1;
            } else if self.is(before, ';') || self.is(before, '{') || self.is(before, '}') {
                return None;
            }
        }
        None
    }

    /// Attributes from a token on: the index behind them, and their bytes.
    fn attributes(&self, mut at: usize) -> (usize, Vec<Range<usize>>) {
        let mut attributes = Vec::new();
        while self.is(at, '@') {
            let start = self.tokens[at].at.start;
            at += 2;
            if self.is(at, '(') {
                at = self.behind_bracket(at, ['(', ')']);
            }
            let end = self.tokens[at.min(self.tokens.len()) - 1].at.end;
            attributes.push(start..end);
        }
        (at, attributes)
    }

    fn global<'b>(
        &'b self,
        first: usize,
        var: usize,
        attributes: &[Range<usize>],
        layout: &'b MaterialLayout,
    ) -> Result<Global<'b>, String> {
        let mut at = var + 1;
        let mut space = "";
        if self.is(at, '<') {
            space = self.word(at + 1);
            at = self.behind_bracket(at, ['<', '>']);
        }
        let name = self.word(at);
        let Some(end) = (at..self.tokens.len()).find(|&end| self.is(end, ';')) else {
            return Err(format!(
                "{} ends within the declaration of a binding. Write it as `var NAME: TYPE;`",
                self.subject
            ));
        };
        let ty = match self.tokens.get(at + 2) {
            Some(token) if at + 2 < end => {
                &self.source[token.at.start..self.tokens[end - 1].at.end]
            }
            _ => "",
        };
        let text = |range: &Range<usize>| &self.source[range.clone()];
        let number = attributes.iter().find_map(|range| {
            let number = text(range).strip_prefix("@binding")?.trim();
            let number = number.strip_prefix('(')?.strip_suffix(')')?.trim();
            number.trim_end_matches('u').parse::<u32>().ok()
        });
        let Some(number) = number else {
            return Err(format!(
                "{} has `{name}` without the number of its binding. Write `@binding(0)` before it",
                self.subject
            ));
        };
        let binding = self.binding(number, name, (space, ty), layout)?;
        let others = attributes.iter().map(text);
        let others = others.filter(|it| !it.starts_with("@group") && !it.starts_with("@binding"));
        Ok(Global {
            at: self.tokens[first].at.start..self.tokens[end].at.end,
            attributes: others.collect(),
            name,
            ty,
            is_uniform: space == "uniform",
            binding,
        })
    }

    /// The material's binding of a variable, if both are of one kind.
    fn binding<'b>(
        &self,
        number: u32,
        name: &str,
        (space, ty): (&str, &str),
        layout: &'b MaterialLayout,
    ) -> Result<&'b MaterialBinding, String> {
        let subject = &self.subject;
        let ty: String = ty.split_whitespace().collect();
        let found = layout.bindings.iter().find(|it| it.binding == number);
        let Some(binding) = found else {
            return Err(format!(
                "{subject} reads `{name}: {ty}` at binding {number}, where the material has nothing. Add a field with `#[uniform({number})]`, \
                 `#[texture({number})]` or `#[sampler({number})]`"
            ));
        };
        let read = match (space, &*ty) {
            ("uniform", _) => "a uniform",
            ("", "texture_2d<f32>") => "a texture",
            ("", "sampler") => "a sampler",
            _ => {
                return Err(format!(
                    "{subject} reads `{name}: {ty}` at binding {number}; shaders of materials read uniforms, `texture_2d<f32>` and \
                     `sampler`. Bind other resources to a pass of your own"
                ));
            }
        };
        let given = match binding.kind {
            MaterialBindingKind::Uniform { .. } => "a uniform",
            MaterialBindingKind::Texture {
                dimension: TextureDimension::D2,
                sample_type: TextureSampleType::Float,
                multisampled: false,
            } => "a texture",
            MaterialBindingKind::Texture { .. } => {
                "a texture of another kind than `texture_2d<f32>`"
            }
            MaterialBindingKind::Sampler(SamplerBindingType::Comparison) => "a comparison sampler",
            MaterialBindingKind::Sampler(_) => "a sampler",
        };
        if read != given {
            let field = binding.field;
            return Err(format!(
                "{subject} reads {read} at binding {number} (`{name}: {ty}`), where the material has {given} (`{field}`). Give both the \
                 same kind"
            ));
        }
        Ok(binding)
    }

    /// Replaces the uses of a texture or sampler by its element of the bindless table.
    fn replace_uses(
        &self,
        global: &Global<'_>,
        edits: &mut Vec<(Range<usize>, String)>,
    ) -> Result<(), String> {
        let name = global.name;
        let element = match global.binding.kind {
            MaterialBindingKind::Sampler(_) => {
                format!("{PREFIX}samplers[{name} >> {PREFIX}sampler_shift]")
            }
            _ => format!("{PREFIX}textures[{name} & {PREFIX}image_mask]"),
        };
        for (at, token) in self.tokens.iter().enumerate() {
            let (before, after) = (&self.source[..token.at.start], &self.source[token.at.end..]);
            let is_of_path = before.ends_with("::") || after.starts_with("::");
            let is_member = at > 0 && self.is(at - 1, '.');
            let is_use = token.kind == WgslTokenKind::Word
                && self.word(at) == name
                && !global.at.contains(&token.at.start);
            if !is_use || is_of_path || is_member {
                continue;
            }
            // An element of the bindless table as an argument is invalid SPIR-V in naga 30 (gfx-rs/wgpu 6283).
            if let Some(callee) = self.callee(at)
                && !callee.starts_with("texture")
            {
                return Err(format!(
                    "{} passes the binding `{name}` to `{callee}`; textures and samplers of materials cannot be arguments. Use \
                     `{name}` within the function",
                    self.subject
                ));
            }
            let before = if at == 0 { "" } else { self.word(at - 1) };
            if matches!(before, "let" | "var" | "const" | "fn") || self.is(at + 1, ':') {
                return Err(format!(
                    "{} has two meanings of `{name}`: a binding of the material, and a variable, parameter or member. Rename one",
                    self.subject
                ));
            }
            edits.push((token.at.clone(), element.clone()));
        }
        Ok(())
    }

    /// Lets the fragment's entry point fill the private variables first.
    fn enter(&self, edits: &mut Vec<(Range<usize>, String)>) -> Result<(), String> {
        let subject = &self.subject;
        let mut entries = Vec::new();
        let mut behind = 0;
        for at in self.top_level() {
            if at < behind || !self.is(at, '@') {
                continue;
            }
            let (end, attributes) = self.attributes(at);
            behind = end;
            let is_fragment = attributes
                .iter()
                .any(|it| &self.source[it.clone()] == "@fragment");
            if is_fragment && self.word(end) == "fn" {
                self.refuse_conditions(&attributes, "an entry point")?;
                entries.push(end);
            }
        }
        let named = entries.iter().find(|&&at| self.word(at + 1) == "fragment");
        let entry = match (&entries[..], named) {
            ([only], _) => *only,
            (_, Some(named)) => *named,
            ([], None) => {
                return Err(format!(
                    "{subject} has no entry point. Write `@fragment fn fragment(mesh: VertexOutput) -> @location(0) vec4f`"
                ));
            }
            (_, None) => {
                return Err(format!(
                    "{subject} has several entry points with `@fragment`. Name one of them `fragment`"
                ));
            }
        };
        let parameters = entry + 2;
        let body = self.is(parameters, '(').then(|| {
            let result = self.behind_bracket(parameters, ['(', ')']);
            (result..self.tokens.len()).find(|&at| self.is(at, '{'))
        });
        let Some(body) = body.flatten() else {
            return Err(format!(
                "{subject} has an entry point without parameters or body"
            ));
        };
        let input = format!("@location(15) @interpolate(flat) {PREFIX}instance: u32, ");
        let at = self.tokens[parameters].at.end;
        edits.push((at..at, input));
        let at = self.tokens[body].at.end;
        edits.push((at..at, format!(" {PREFIX}load_material({PREFIX}instance);")));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
