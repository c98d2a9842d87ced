//! Entry points of generated shaders.

use std::fmt::Write as _;
use std::ops::Range;

use super::pulled::{PulledAttributes, VertexInputs};
use super::scan::{Edits, Scanner};
use super::{MATERIAL_VERTEX, MaterialStage, PREFIX};

/// Input or output of an entry point, or a member of its structure.
pub(super) struct Item<'a> {
    pub(super) attributes: Vec<Range<usize>>,
    pub(super) name: &'a str,
    pub(super) ty: &'a str,
}

/// An entry point.
struct Entry {
    /// Its attribute `@vertex` or `@fragment`.
    stage: Range<usize>,
    /// `fn`.
    at: usize,
    /// The parenthesis of its parameters.
    parameters: usize,
    /// The brace of its body.
    body: usize,
}

/// Outputs of a generated entry point.
#[derive(Default)]
struct Outputs {
    /// Members of its structure, without the instance.
    members: String,
    /// Their values.
    values: String,
    /// Value of the position; `None` without one.
    position: Option<String>,
}

/// Input of a vertex shader with the index of its instance.
struct InstanceIndex {
    expression: String,
    attribute: InstanceAttribute,
}

/// Location of the attribute of an instance's index.
enum InstanceAttribute {
    /// No input has it.
    Missing,
    OfParameter,
    /// A member of a structure, with the tokens of its attribute.
    OfMember(Range<usize>),
}

/// Name of a parameter of the generated entry point.
pub(super) fn input_name(index: usize) -> String {
    format!("{PREFIX}input_{index}")
}

impl Scanner<'_> {
    /// Lets the fragment's entry point fill the private variables first, and call the function of the form's `enter`.
    pub(super) fn enter_fragment(&self, loads: bool, edits: &mut Edits) -> Result<(), String> {
        let entry = self.entry("fragment")?;
        let mut calls = match self.has_function("quadrille_enter") {
            true => format!(" {PREFIX}enter({PREFIX}instance);"),
            false => String::new(),
        };
        if loads {
            let _ = write!(calls, " {PREFIX}load_material({PREFIX}instance);");
        }
        if calls.is_empty() {
            return Ok(());
        }
        let input = format!("@location(15) @interpolate(flat) {PREFIX}instance: u32, ");
        let at = self.bytes(entry.parameters..entry.parameters + 1).end;
        edits.push((at..at, input));
        let at = self.bytes(entry.body..entry.body + 1).end;
        edits.push((at..at, calls));
        Ok(())
    }

    /// Makes a function of the vertex's entry point, and adds one that calls it and hands the instance on.
    pub(super) fn enter_vertex(
        &self,
        loads: bool,
        (stage, index_attribute, pulled): (MaterialStage, &str, Option<&PulledAttributes>),
        edits: &mut Edits,
    ) -> Result<(), String> {
        let entry = self.entry("vertex")?;
        let parameters: Vec<_> = self
            .items(entry.parameters)
            .into_iter()
            .map(|item| self.item(item))
            .collect();
        let arrow = self.behind_bracket(entry.parameters);
        let (ty_at, of_result) = self.attributes(arrow + 2);
        for attribute in parameters
            .iter()
            .flat_map(|it| &it.attributes)
            .chain(&of_result)
            .chain([&entry.stage])
        {
            edits.push((self.bytes(attribute.clone()), String::new()));
        }
        let result = self.text(ty_at..entry.body);
        let outputs = self.structure(result).map(|open| {
            self.items(open)
                .into_iter()
                .map(|it| self.item(it))
                .collect()
        });
        let InstanceIndex {
            expression: index,
            attribute,
        } = self.instance_index(&parameters);
        let mut inputs = VertexInputs::new(self, &parameters, index_attribute, pulled)?;
        match attribute {
            InstanceAttribute::Missing => {
                let input = format!("{index_attribute} {index}: u32");
                inputs.parameters.push(input);
            }
            InstanceAttribute::OfMember(at) => {
                edits.push((self.bytes(at), index_attribute.to_owned()));
            }
            InstanceAttribute::OfParameter => {}
        }
        let function = self.word(entry.at + 1);
        let has_position = outputs.is_some() || self.has(&of_result, "builtin", "position");
        let text = self.wrapper((&inputs, &index), function, loads, stage, outputs);
        let text = text.filter(|_| has_position).ok_or_else(|| {
            let message = "the vertex shader returns no `@builtin(position) vec4f`. Return a position in clip space";
            self.error(message, entry.at..entry.at + 2)
        })?;
        let end = self.source.len();
        edits.push((end..end, text));
        Ok(())
    }

    /// The entry point that calls the one of the file; `None` without a position. `outputs` are members of the structure
    /// that is returned, if it is one.
    fn wrapper(
        &self,
        (inputs, index): (&VertexInputs, &str),
        function: &str,
        loads: bool,
        stage: MaterialStage,
        outputs: Option<Vec<Item<'_>>>,
    ) -> Option<String> {
        let Outputs {
            members,
            values,
            position,
        } = self.outputs(outputs.as_deref());
        let position = position?;
        let load = match loads {
            true => format!("{PREFIX}load_material({PREFIX}index);"),
            false => String::new(),
        };
        let begin = format!(
            "{}
@vertex fn {MATERIAL_VERTEX}({})",
            inputs.structures,
            inputs.parameters.join(", ")
        );
        let (statements, arguments) = (&inputs.statements, inputs.arguments.join(", "));
        let body = format!(
            "{{
    let {PREFIX}index = {PREFIX}vertex_index({index});
    {load}{statements}
    let {PREFIX}output = {function}({arguments});"
        );
        Some(match stage {
            MaterialStage::VertexPosition => format!(
                "{begin} -> @invariant @builtin(position) vec4f {body}
    return {position};
}}
"
            ),
            _ => format!(
                "
struct QuadrilleVertexOutput {{ {members}@location(15) @interpolate(flat) {PREFIX}instance: u32 }}
{begin} -> QuadrilleVertexOutput {body}
    return QuadrilleVertexOutput({values}{PREFIX}index);
}}
"
            ),
        })
    }

    /// Outputs of the generated entry point: the members of the structure that is returned, or a position alone.
    fn outputs(&self, outputs: Option<&[Item<'_>]>) -> Outputs {
        let clip_position = |value: &str| format!("{PREFIX}clip_position({value}, {PREFIX}index)");
        let Some(outputs) = outputs else {
            let value = clip_position(&format!("{PREFIX}output"));
            return Outputs {
                members: format!("@invariant @builtin(position) {PREFIX}position: vec4f, "),
                values: format!("{value}, "),
                position: Some(value),
            };
        };
        let mut all = Outputs::default();
        for Item {
            attributes,
            name,
            ty,
        } in outputs
        {
            let text: Vec<_> = attributes.iter().map(|it| self.text(it.clone())).collect();
            let _ = write!(all.members, "{} {name}: {ty}, ", text.join(" "));
            let mut value = format!("{PREFIX}output.{name}");
            if self.has(attributes, "builtin", "position") {
                value = clip_position(&value);
                all.position = Some(value.clone());
            }
            let _ = write!(all.values, "{value}, ");
        }
        all
    }

    pub(super) fn is_instance_index(&self, attribute: &Range<usize>) -> bool {
        self.has(std::slice::from_ref(attribute), "builtin", "instance_index")
    }

    /// Finds the builtin `instance_index` among the inputs.
    fn instance_index(&self, parameters: &[Item<'_>]) -> InstanceIndex {
        let find = |attributes: &[Range<usize>]| {
            let mut attributes = attributes.iter();
            attributes.find(|it| self.is_instance_index(it)).cloned()
        };
        for (at, Item { attributes, ty, .. }) in parameters.iter().enumerate() {
            let name = input_name(at);
            if find(attributes).is_some() {
                return InstanceIndex {
                    expression: name,
                    attribute: InstanceAttribute::OfParameter,
                };
            }
            let Some(open) = self.structure(ty) else {
                continue;
            };
            for member in self.items(open).into_iter().map(|it| self.item(it)) {
                if let Some(attribute) = find(&member.attributes) {
                    return InstanceIndex {
                        expression: format!("{name}.{}", member.name),
                        attribute: InstanceAttribute::OfMember(attribute),
                    };
                }
            }
        }
        InstanceIndex {
            expression: format!("{PREFIX}instance_index"),
            attribute: InstanceAttribute::Missing,
        }
    }

    pub(super) fn item(&self, tokens: Range<usize>) -> Item<'_> {
        let (name, attributes) = self.attributes(tokens.start);
        let ty = match name + 2 < tokens.end {
            true => self.text(name + 2..tokens.end),
            false => "",
        };
        Item {
            attributes,
            name: self.word(name),
            ty,
        }
    }

    /// The entry point of a stage: the only one of the shader's own module, or the one that has the stage's name.
    fn entry(&self, stage: &str) -> Result<Entry, String> {
        let subject = &self.subject;
        let mut entries = Vec::new();
        for (attributes, at) in self.attributed() {
            let mut of_stage = attributes.into_iter();
            let of_stage = of_stage.find(|it| self.word(it.start + 1) == stage);
            if let Some(of_stage) = of_stage
                && self.word(at) == "fn"
                && !self.is_imported(self.word(at + 1))
            {
                entries.push((of_stage, at));
            }
        }
        let named = |it: &(Range<usize>, usize)| self.own_name(self.word(it.1 + 1)) == stage;
        let count = entries.len();
        let found = match count {
            1 => entries.pop(),
            _ => entries.into_iter().find(named),
        };
        let Some((stage_at, at)) = found else {
            return Err(match (count, stage) {
                (0, "vertex") => format!(
                    "{subject} has no entry point. Write `@vertex fn vertex(vertex: Vertex) -> VertexOutput`"
                ),
                (0, _) => format!(
                    "{subject} has no entry point. Write `@fragment fn fragment(mesh: VertexOutput) -> @location(0) vec4f`"
                ),
                _ => format!(
                    "{subject} has several entry points with `@{stage}`. Name one of them `{stage}`"
                ),
            });
        };
        let parameters = at + 2;
        let body = self.is(parameters, '(').then(|| {
            let result = self.behind_bracket(parameters);
            // A semicolon ends a declaration without body.
            (result..self.len()).find(|&it| self.is(it, '{') || self.is(it, ';'))
        });
        let body = body.flatten().filter(|&it| self.is(it, '{'));
        let Some(body) = body else {
            return Err(format!(
                "{subject} has an entry point without parameters or body"
            ));
        };
        Ok(Entry {
            stage: stage_at,
            at,
            parameters,
            body,
        })
    }
}
