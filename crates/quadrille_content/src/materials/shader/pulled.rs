//! Vertex attributes of programs: read from a buffer of words, since meshes of all layouts share one vertex buffer.

use std::fmt::Write as _;
use std::ops::Range;

use super::PREFIX;
use super::entry::{Item, input_name};
use super::scan::Scanner;
use crate::meshes::{AttributeScalar, OwnAttribute};

/// An attribute of a program at a location of a vertex shader.
#[derive(Clone, Debug, PartialEq)]
pub struct PulledAttribute {
    /// `@location`.
    pub location: u32,
    /// The attribute.
    pub attribute: OwnAttribute,
}

/// Attributes of programs that a vertex shader reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PulledAttributes {
    /// All of them.
    pub attributes: Vec<PulledAttribute>,
    /// Words of a vertex.
    pub stride: u32,
}

/// Inputs of a generated vertex shader, and the arguments of the file's.
#[derive(Default)]
pub(super) struct VertexInputs {
    pub(super) parameters: Vec<String>,
    pub(super) arguments: Vec<String>,
    /// Structures of parameters without pulled attributes.
    pub(super) structures: String,
    /// Statements that read pulled attributes.
    pub(super) statements: String,
    /// The index of the vertex, if an input of the file has it.
    vertex_index: Option<String>,
}

impl VertexInputs {
    pub(super) fn new(
        scanner: &Scanner<'_>,
        parameters: &[Item<'_>],
        index_attribute: &str,
        pulled: Option<&PulledAttributes>,
    ) -> Result<Self, String> {
        let mut inputs = Self::default();
        for (at, parameter) in parameters.iter().enumerate() {
            // Another name than in the file, where a parameter may be called as the function is.
            let name = input_name(at);
            inputs.find_vertex_index(scanner, parameter, &name);
            let found = pulled.and_then(|it| it.find(scanner, &parameter.attributes));
            if let Some(attribute) = found {
                inputs.statements += &format!(
                    "\n    let {name} = {};",
                    value(scanner, attribute, parameter)?
                );
                inputs.arguments.push(name);
                continue;
            }
            let members = pulled.and_then(|it| it.members(scanner, parameter.ty));
            if let (Some(members), Some(pulled)) = (members, pulled) {
                inputs.add_structure(
                    (scanner, pulled),
                    (at, parameter),
                    members,
                    index_attribute,
                )?;
                continue;
            }
            let attributes = attributes_text(scanner, parameter, index_attribute);
            inputs
                .parameters
                .push(format!("{attributes} {name}: {}", parameter.ty));
            inputs.arguments.push(name);
        }
        if let Some(pulled) = pulled.filter(|_| !inputs.statements.is_empty()) {
            let index = inputs.vertex_index.take().unwrap_or_else(|| {
                let parameter = format!("@builtin(vertex_index) {PREFIX}vertex: u32");
                inputs.parameters.push(parameter);
                format!("{PREFIX}vertex")
            });
            let stride = pulled.stride;
            let first = format!(
                "\n    let {PREFIX}at = {PREFIX}attribute({PREFIX}index, {index}, {stride}u);"
            );
            inputs.statements.insert_str(0, &first);
        }
        Ok(inputs)
    }

    /// Adds a parameter with pulled members: the others are inputs of a structure of their own.
    fn add_structure(
        &mut self,
        (scanner, pulled): (&Scanner<'_>, &PulledAttributes),
        (at, parameter): (usize, &Item<'_>),
        members: Vec<Item<'_>>,
        index_attribute: &str,
    ) -> Result<(), String> {
        let (name, whole) = (input_name(at), format!("{PREFIX}whole_{at}"));
        let _ = write!(self.statements, "\n    var {whole}: {};", parameter.ty);
        let mut inputs = String::new();
        for member in &members {
            let field = member.name;
            let text = match pulled.find(scanner, &member.attributes) {
                Some(attribute) => value(scanner, attribute, member)?,
                None => {
                    let attributes = attributes_text(scanner, member, index_attribute);
                    let _ = write!(inputs, "{attributes} {field}: {}, ", member.ty);
                    format!("{name}.{field}")
                }
            };
            let _ = write!(self.statements, "\n    {whole}.{field} = {text};");
        }
        if !inputs.is_empty() {
            let structure = format!("QuadrilleVertexInput{at}");
            let _ = write!(self.structures, "\nstruct {structure} {{ {inputs}}}");
            self.parameters.push(format!("{name}: {structure}"));
        }
        self.arguments.push(whole);
        Ok(())
    }

    /// Notes where the index of the vertex is, if this parameter has it.
    fn find_vertex_index(&mut self, scanner: &Scanner<'_>, parameter: &Item<'_>, name: &str) {
        if scanner.has(&parameter.attributes, "builtin", "vertex_index") {
            self.vertex_index = Some(name.to_owned());
        }
        for member in members_of(scanner, parameter.ty) {
            if scanner.has(&member.attributes, "builtin", "vertex_index") {
                self.vertex_index = Some(format!("{name}.{}", member.name));
            }
        }
    }
}

impl PulledAttributes {
    /// The attribute at the location of an input.
    fn find(&self, scanner: &Scanner<'_>, attributes: &[Range<usize>]) -> Option<&OwnAttribute> {
        let location = scanner.number(attributes, "location")?;
        let found = self.attributes.iter().find(|it| it.location == location)?;
        Some(&found.attribute)
    }

    /// Members of a structure of which one is pulled.
    fn members<'a>(&self, scanner: &'a Scanner<'_>, ty: &str) -> Option<Vec<Item<'a>>> {
        let members = members_of(scanner, ty);
        let mut all = members.iter();
        let has_pulled = all.any(|it| self.find(scanner, &it.attributes).is_some());
        has_pulled.then_some(members)
    }
}

/// Members of a structure; none of another type.
fn members_of<'a>(scanner: &'a Scanner<'_>, ty: &str) -> Vec<Item<'a>> {
    let Some(open) = scanner.structure(ty) else {
        return Vec::new();
    };
    let items = scanner.items(open).into_iter();
    items.map(|it| scanner.item(it)).collect()
}

/// Attributes of an input, with the place of the instance's index.
fn attributes_text(scanner: &Scanner<'_>, item: &Item<'_>, index_attribute: &str) -> String {
    let attributes = item.attributes.iter();
    let texts = attributes.map(|it| match scanner.is_instance_index(it) {
        true => index_attribute,
        false => scanner.text(it.clone()),
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// Scalar and number of components of a type of inputs.
fn components_of(ty: &str) -> Option<(AttributeScalar, u32)> {
    let ty: String = ty.split_whitespace().collect();
    let scalar_of = |name: &str| match name {
        "f" | "f32" => Some(AttributeScalar::Float),
        "u" | "u32" => Some(AttributeScalar::Uint),
        "i" | "i32" => Some(AttributeScalar::Sint),
        _ => None,
    };
    let Some(vector) = ty.strip_prefix("vec") else {
        return Some((scalar_of(&ty)?, 1));
    };
    let count = vector.get(..1)?.parse().ok()?;
    let scalar = vector.get(1..)?;
    let inner = scalar.strip_prefix('<').and_then(|it| it.strip_suffix('>'));
    Some((scalar_of(inner.unwrap_or(scalar))?, count))
}

/// The value of an attribute as an input of this type: Vulkan's rule for missing components is 0, 0, 0, 1.
fn value(scanner: &Scanner<'_>, own: &OwnAttribute, input: &Item<'_>) -> Result<String, String> {
    let (name, format) = (own.attribute.name, own.attribute.format);
    let Some((scalar, count)) = components_of(input.ty).filter(|(it, _)| *it == own.scalar) else {
        return Err(format!(
            "{} reads the vertex attribute `{name}` ({format:?}) as `{}: {}`. Give it a scalar or vector of {}",
            scanner.subject,
            input.name,
            input.ty,
            scalar_name(own.scalar)
        ));
    };
    let scalar = scalar_name(scalar);
    let words = (0..count).map(|component| match component {
        _ if component < own.components => {
            let at = own.offset + component;
            format!("bitcast<{scalar}>({PREFIX}word({PREFIX}at + {at}u))")
        }
        3 => format!("{scalar}(1)"),
        _ => format!("{scalar}(0)"),
    });
    let words: Vec<_> = words.collect();
    Ok(match count {
        1 => words.concat(),
        _ => format!("vec{count}<{scalar}>({})", words.join(", ")),
    })
}

fn scalar_name(scalar: AttributeScalar) -> &'static str {
    match scalar {
        AttributeScalar::Float => "f32",
        AttributeScalar::Uint => "u32",
        AttributeScalar::Sint => "i32",
    }
}
