//! Clamping of table indices to the table's bounds.
//!
//! `robustBufferAccess` does not cover arrays of descriptors: an index out of bounds is undefined behavior, and crashes
//! some drivers. The capacity of a table is unknown when its shaders are translated. So it is stored in the table's own
//! set, in an inline uniform block at binding 0 (section "Inline Uniform Block"); all other bindings of these sets are
//! one higher than in shaders. Each index is clamped to the last one.

use std::collections::{HashMap, HashSet};

use super::{BINDING, DECORATE, EXT_INST_IMPORT, HEADER, MEMBER_DECORATE, instructions};

const MEMORY_MODEL: u32 = 14;
const ENTRY_POINT: u32 = 15;
const TYPE_INT: u32 = 21;
const TYPE_SAMPLER: u32 = 26;
const TYPE_ARRAY: u32 = 28;
const TYPE_RUNTIME_ARRAY: u32 = 29;
const TYPE_STRUCT: u32 = 30;
const TYPE_POINTER: u32 = 32;
const CONSTANT: u32 = 43;
const FUNCTION: u32 = 54;
const VARIABLE: u32 = 59;
const LOAD: u32 = 61;
const ACCESS_CHAIN: u32 = 65;
const IN_BOUNDS_ACCESS_CHAIN: u32 = 66;
const EXT_INST: u32 = 12;

/// Decorations.
const BLOCK: u32 = 2;
const DESCRIPTOR_SET: u32 = 34;
const OFFSET: u32 = 35;
const NON_UNIFORM: u32 = 5300;

/// The storage class `Uniform`.
const UNIFORM: u32 = 2;
/// `UMin` of `GLSL.std.450`, which accepts signed integers and interprets them as unsigned.
const U_MIN: u32 = 38;
/// SPIR-V 1.4, from which on entry points list variables of all storage classes.
const VERSION_1_4: u32 = 0x0001_0400;

/// Binding of the block with the last index of a table.
pub(crate) const BOUNDS: u32 = 0;
/// Offset of the other bindings of a table's set from those in shaders.
pub(crate) const SHIFT: u32 = 1;

/// Adapts a checked module to the descriptor sets of tables, and clamps indices if `is_restricted`. Unchanged are
/// indices that are not 32-bit integers, and accesses to arrays passed to functions.
pub(crate) fn for_tables(words: &[u32], is_restricted: bool) -> Vec<u32> {
    let mut declarations = Declarations::read(words);
    let mut added = Added::default();
    if is_restricted {
        added.plan(&mut declarations, words);
    }
    let mut out = words[..HEADER].to_vec();
    let mut is_declared = false;
    for (op, operands) in instructions(words) {
        match op {
            MEMORY_MODEL => out.extend(&added.import),
            DECORATE | MEMBER_DECORATE => out.append(&mut added.decorations),
            FUNCTION if !std::mem::replace(&mut is_declared, true) => {
                out.extend(&added.declarations);
            }
            _ => {}
        }
        match (op, operands) {
            (DECORATE, &[id, BINDING, binding]) if declarations.is_in_table(id) => {
                push(&mut out, DECORATE, &[id, BINDING, binding + SHIFT]);
            }
            (ENTRY_POINT, _) if words[1] >= VERSION_1_4 => {
                let mut operands = operands.to_vec();
                operands.extend(&added.variables);
                push(&mut out, op, &operands);
            }
            (ACCESS_CHAIN | IN_BOUNDS_ACCESS_CHAIN, &[ty, result, base, index, ref rest @ ..])
                if added.chains.contains_key(&result) =>
            {
                let index = added.clamp(&mut out, result, index);
                push(&mut out, op, &[&[ty, result, base, index], rest].concat());
            }
            _ => push(&mut out, op, operands),
        }
    }
    out[3] = declarations.bound;
    out
}

fn push(words: &mut Vec<u32>, op: u32, operands: &[u32]) {
    words.push((operands.len() as u32 + 1) << 16 | op);
    words.extend(operands);
}

/// Array variable of a table.
#[derive(Clone, Copy)]
struct Table {
    set: u32,
    /// Length in its type; `None` for a runtime-sized array.
    length: Option<u32>,
    /// Whether it holds samplers. All sampler entries of a set are valid, so only `length` limits the index.
    has_samplers: bool,
}

/// Declarations of a module that the rewrite needs.
#[derive(Default)]
struct Declarations {
    /// Upper bound (exclusive) of ids.
    bound: u32,
    sets: HashMap<u32, u32>,
    tables: HashMap<u32, Table>,
    /// 32-bit integer types; `unsigned` is the unsigned one.
    integers: HashSet<u32>,
    unsigned: Option<u32>,
    /// Values of these types.
    values: HashSet<u32>,
    /// `GLSL.std.450`
    import: Option<u32>,
    /// Type of pointers to `u32` in uniform blocks.
    pointer: Option<u32>,
    non_uniform: HashSet<u32>,
}

impl Declarations {
    fn read(words: &[u32]) -> Self {
        let mut declarations = Self {
            bound: words[3],
            ..Self::default()
        };
        let mut pointees = HashMap::new();
        let mut arrays: HashMap<u32, (u32, Option<u32>)> = HashMap::new();
        let mut constants = HashMap::new();
        let mut samplers = HashSet::new();
        for (op, operands) in instructions(words) {
            match (op, operands) {
                (DECORATE, &[id, DESCRIPTOR_SET, set]) => drop(declarations.sets.insert(id, set)),
                (DECORATE, &[id, NON_UNIFORM]) => drop(declarations.non_uniform.insert(id)),
                (EXT_INST_IMPORT, &[id, ref name @ ..]) if is_glsl(name) => {
                    declarations.import = Some(id);
                }
                (TYPE_INT, &[id, 32, sign]) => {
                    declarations.integers.insert(id);
                    if sign == 0 {
                        declarations.unsigned = Some(id);
                    }
                }
                (TYPE_SAMPLER, &[id]) => drop(samplers.insert(id)),
                (TYPE_ARRAY, &[id, element, length]) => {
                    arrays.insert(id, (element, constants.get(&length).copied()));
                }
                (TYPE_RUNTIME_ARRAY, &[id, element]) => drop(arrays.insert(id, (element, None))),
                (TYPE_POINTER, &[id, class, pointee]) => {
                    pointees.insert(id, pointee);
                    if class == UNIFORM && Some(pointee) == declarations.unsigned {
                        declarations.pointer = Some(id);
                    }
                }
                (CONSTANT, &[ty, id, value]) if declarations.integers.contains(&ty) => {
                    constants.insert(id, value);
                    declarations.values.insert(id);
                }
                (VARIABLE, &[ty, id, ..]) if declarations.is_in_table(id) => {
                    let array = pointees.get(&ty).and_then(|it| arrays.get(it));
                    if let Some(&(element, length)) = array {
                        let table = Table {
                            set: declarations.sets[&id],
                            length,
                            has_samplers: samplers.contains(&element),
                        };
                        declarations.tables.insert(id, table);
                    }
                }
                // Only a result type can match a type here.
                (_, &[ty, id, ..]) if declarations.integers.contains(&ty) => {
                    declarations.values.insert(id);
                }
                _ => {}
            }
        }
        declarations
    }

    /// Whether a variable is in a table's set.
    fn is_in_table(&self, id: u32) -> bool {
        self.sets.get(&id).is_some_and(|&set| set > 0)
    }

    fn id(&mut self) -> u32 {
        self.bound += 1;
        self.bound - 1
    }
}

/// Whether the name of an import is `GLSL.std.450`.
fn is_glsl(name: &[u32]) -> bool {
    let bytes: Vec<u8> = name.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.starts_with(b"GLSL.std.450\0")
}

/// Source of a table's last index.
#[derive(Clone, Copy)]
enum Last {
    /// A constant.
    Constant(u32),
    /// A block in the table's set: the id of its variable.
    Block(u32),
}

/// An access to a table.
struct Chain {
    /// Upper bounds of the index.
    most: Vec<Last>,
    /// Result ids, three per bound: a pointer, the last index, and the minimum.
    ids: Vec<u32>,
}

/// Instructions added to a module.
#[derive(Default)]
struct Added {
    glsl: u32,
    unsigned: u32,
    pointer: u32,
    zero: u32,
    import: Vec<u32>,
    decorations: Vec<u32>,
    declarations: Vec<u32>,
    variables: Vec<u32>,
    /// Accesses by result id.
    chains: HashMap<u32, Chain>,
}

impl Added {
    /// Finds all accesses to tables, and assigns the ids that clamping needs.
    fn plan(&mut self, declarations: &mut Declarations, words: &[u32]) {
        let mut blocks = HashMap::new();
        let mut lengths = HashMap::new();
        for (op, operands) in instructions(words) {
            let (ACCESS_CHAIN | IN_BOUNDS_ACCESS_CHAIN, &[_, result, base, index, ..]) =
                (op, operands)
            else {
                continue;
            };
            let Some(&table) = declarations.tables.get(&base) else {
                continue;
            };
            if !declarations.values.contains(&index) {
                continue;
            }
            if self.glsl == 0 {
                self.declare(declarations);
            }
            let mut most = Vec::new();
            if !table.has_samplers {
                let block = *blocks
                    .entry(table.set)
                    .or_insert_with(|| self.declare_block(declarations, table.set));
                most.push(Last::Block(block));
            }
            if let Some(length) = table.length {
                let last = length.saturating_sub(1);
                let constant = *lengths.entry(last).or_insert_with(|| {
                    let id = declarations.id();
                    push(&mut self.declarations, CONSTANT, &[self.unsigned, id, last]);
                    id
                });
                most.push(Last::Constant(constant));
            }
            let ids: Vec<u32> = (0..3 * most.len()).map(|_| declarations.id()).collect();
            if declarations.non_uniform.contains(&index) {
                // Every third id is the minimum, which replaces the index.
                for id in ids.iter().skip(2).step_by(3) {
                    push(&mut self.decorations, DECORATE, &[*id, NON_UNIFORM]);
                }
            }
            self.chains.insert(result, Chain { most, ids });
        }
    }

    /// Declares the types and constants that all accesses share.
    fn declare(&mut self, declarations: &mut Declarations) {
        self.glsl = declarations.import.unwrap_or_else(|| {
            let id = declarations.id();
            let name = [id, 0x4c53_4c47, 0x6474_732e, 0x3035_342e, 0];
            push(&mut self.import, EXT_INST_IMPORT, &name);
            id
        });
        self.unsigned = declarations.unsigned.unwrap_or_else(|| {
            let id = declarations.id();
            push(&mut self.declarations, TYPE_INT, &[id, 32, 0]);
            id
        });
        self.pointer = declarations.pointer.unwrap_or_else(|| {
            let id = declarations.id();
            push(
                &mut self.declarations,
                TYPE_POINTER,
                &[id, UNIFORM, self.unsigned],
            );
            id
        });
        self.zero = declarations.id();
        push(
            &mut self.declarations,
            CONSTANT,
            &[self.unsigned, self.zero, 0],
        );
    }

    /// Declares the block of a set, and returns its variable.
    fn declare_block(&mut self, declarations: &mut Declarations, set: u32) -> u32 {
        let [ty, pointer, variable] = [declarations.id(), declarations.id(), declarations.id()];
        push(&mut self.declarations, TYPE_STRUCT, &[ty, self.unsigned]);
        push(
            &mut self.declarations,
            TYPE_POINTER,
            &[pointer, UNIFORM, ty],
        );
        push(
            &mut self.declarations,
            VARIABLE,
            &[pointer, variable, UNIFORM],
        );
        push(&mut self.decorations, DECORATE, &[ty, BLOCK]);
        push(&mut self.decorations, MEMBER_DECORATE, &[ty, 0, OFFSET, 0]);
        push(
            &mut self.decorations,
            DECORATE,
            &[variable, DESCRIPTOR_SET, set],
        );
        push(
            &mut self.decorations,
            DECORATE,
            &[variable, BINDING, BOUNDS],
        );
        self.variables.push(variable);
        variable
    }

    /// Emits the clamping of an index, and returns the id of the result.
    fn clamp(&self, out: &mut Vec<u32>, chain: u32, index: u32) -> u32 {
        let chain = &self.chains[&chain];
        let mut index = index;
        for (most, ids) in chain.most.iter().zip(chain.ids.chunks_exact(3)) {
            let last = match *most {
                Last::Constant(constant) => constant,
                Last::Block(variable) => {
                    push(
                        out,
                        ACCESS_CHAIN,
                        &[self.pointer, ids[0], variable, self.zero],
                    );
                    push(out, LOAD, &[self.unsigned, ids[1], ids[0]]);
                    ids[1]
                }
            };
            push(
                out,
                EXT_INST,
                &[self.unsigned, ids[2], self.glsl, U_MIN, index, last],
            );
            index = ids[2];
        }
        index
    }
}

#[cfg(test)]
mod tests;
