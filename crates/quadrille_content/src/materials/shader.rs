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
use quadrille::vulkan::shader::{
    GpuShader, LocationType, ScalarKind, ShaderStage, WgslToken, WgslTokenKind, wgsl_tokens,
};

use crate::materials::layout::{MaterialLayout, UNIFORM_ALIGNMENT};
use crate::shaders::Shader;

/// Name of the group of materials in shaders of bevy.
const GROUP: &str = "MATERIAL_BIND_GROUP";

/// Variable of the table of rows.
pub const MATERIAL_ROWS: &str = "quadrille_material_rows";

/// Prefix of all generated names.
const PREFIX: &str = "quadrille_";

/// Places of rows and images in the shaders of a renderer.
#[derive(Clone, Copy, Debug)]
pub struct MaterialShaderForm {
    /// Number of the group of materials, for shaders that have no `constants::MATERIAL_BIND_GROUP` there.
    pub group: u32,
    /// Imports that the other texts need.
    pub imports: &'static str,
    /// WGSL expression of the row of `quadrille_index`, the fragment input at location 15.
    pub row: &'static str,
    /// Binding of the table of rows.
    pub rows_binding: u32,
    /// Access to textures and samplers.
    pub images: MaterialImages,
}

/// Access of generated shaders to textures and samplers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaterialImages {
    /// Elements of `quadrille_textures` and `quadrille_samplers`, whose indices are in the rows; `quadrille_image_mask` and
    /// `quadrille_sampler_shift` take them apart.
    Bindless,
    /// Bindings of their own: textures and samplers in their order, from this number on.
    Bound(u32),
}

/// Generates and translates the fragment shader of a material type.
///
/// # Errors
/// The message for the user.
pub fn translate_material(
    material: &str,
    shader: &Shader,
    layout: &MaterialLayout,
    form: &MaterialShaderForm,
) -> Result<GpuShader, String> {
    let generated = generate(material, shader, layout, form)?;
    let translated = shader
        .translate(&generated)
        .map_err(|error| error.to_string())?;
    check_layout(material, shader, layout, &translated)?;
    Ok(translated)
}

/// Name of the fragment's entry point for pipelines; empty if there is only one.
pub fn material_entry_point(fragment: &GpuShader) -> &'static str {
    let entry_points = fragment.entry_points().iter();
    let entry_points = entry_points.filter(|entry| entry.stage == ShaderStage::Fragment);
    match entry_points.count() {
        0 | 1 => "",
        _ => "fragment",
    }
}

/// Checks that all entry points of a fragment shader return a color.
///
/// # Errors
/// The message for the user.
pub fn check_material_output(fragment: &GpuShader) -> Result<(), String> {
    let entries = fragment.entry_points().iter();
    for entry in entries.filter(|entry| entry.stage == ShaderStage::Fragment) {
        let color = entry.outputs.iter().find(|it| it.location == 0);
        let is_color = |ty: LocationType| ty.scalar == ScalarKind::Float && ty.components == 4;
        if !color.is_some_and(|it| it.ty.is_some_and(is_color)) {
            return Err(format!(
                "its entry point `{}` returns no `@location(0) vec4f`. Return a color of that type",
                entry.name
            ));
        }
    }
    Ok(())
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
fn generate(
    material: &str,
    shader: &Shader,
    layout: &MaterialLayout,
    form: &MaterialShaderForm,
) -> Result<String, String> {
    let source = &*shader.source;
    let scanner = Scanner {
        source,
        group: format!("({})", form.group),
        tokens: wgsl_tokens(source),
        subject: format!("`{}` of the material `{material}`", shader.path),
    };
    let globals = scanner.globals(layout)?;
    let mut edits = Vec::new();
    for global in &globals {
        let rank = layout.rank(global.binding) as u32;
        match form.images {
            MaterialImages::Bound(first) if !global.is_uniform => {
                edits.push((global.at.clone(), bound(source, global, first + rank)));
            }
            MaterialImages::Bindless if !global.is_uniform => {
                edits.push((global.at.clone(), declaration(source, global)));
                scanner.replace_uses(global, &mut edits)?;
            }
            _ => edits.push((global.at.clone(), declaration(source, global))),
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
    text.push_str(&rows(layout, &globals, form));
    Ok(text)
}

/// The private variable of a binding, in as many lines as its declaration.
fn declaration(source: &str, global: &Global<'_>) -> String {
    let ty = if global.is_uniform { global.ty } else { "u32" };
    declared(source, global, "var<private>", ty)
}

/// The binding of a texture or sampler at a number of group 0, in as many lines as its declaration.
fn bound(source: &str, global: &Global<'_>, number: u32) -> String {
    let variable = format!("@group(0) @binding({number}) var");
    declared(source, global, &variable, global.ty)
}

fn declared(source: &str, global: &Global<'_>, variable: &str, ty: &str) -> String {
    let attributes = global.attributes.join(" ");
    let lines = source[global.at.clone()].matches('\n').count();
    let lines_of_type = ty.matches('\n').count();
    let lines = "\n".repeat(lines.saturating_sub(lines_of_type));
    format!("{attributes} {variable} {}: {ty};{lines}", global.name)
}

/// The table of rows, and the function that fills the private variables.
fn rows(layout: &MaterialLayout, globals: &[Global<'_>], form: &MaterialShaderForm) -> String {
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
    let is_bindless = form.images == MaterialImages::Bindless;
    for global in globals.iter().filter(|it| is_bindless && !it.is_uniform) {
        let rank = layout.rank(global.binding);
        let name = global.name;
        let _ = write!(
            loads,
            " {name} = {PREFIX}row.indices[{}][{}];",
            rank / 4,
            rank % 4
        );
    }
    let MaterialShaderForm {
        imports,
        row,
        rows_binding,
        ..
    } = form;
    format!(
        "
{imports}
struct QuadrilleMaterialRow {{ {members}@align(16) indices: array<vec4u, {count}> }}
@group(0) @binding({rows_binding}) var<storage, read> {PREFIX}material_rows: array<QuadrilleMaterialRow>;
fn {PREFIX}load_material({PREFIX}index: u32) {{
    let {PREFIX}row = {PREFIX}material_rows[{row}];{loads}
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
    let Some(table) = bindings.find(|binding| binding.name == MATERIAL_ROWS) else {
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
    /// The number of the group in parentheses.
    group: String,
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
            if self.word(end) == "var" && attributes.iter().any(|it| self.is_group(it)) {
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

    /// Whether an attribute is the group of materials.
    fn is_group(&self, attribute: &Range<usize>) -> bool {
        let text = &self.source[attribute.clone()];
        let number = text.strip_prefix("@group").map(str::trim);
        text.contains(GROUP) || number.is_some_and(|number| number == self.group)
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
