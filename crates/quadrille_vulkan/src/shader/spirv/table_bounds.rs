//! Indices of tables that stay within them.
//!
//! `robustBufferAccess` says nothing about arrays of descriptors: an index beyond them is undefined, and
//! crashes some drivers. The capacity of a table is not known when its shaders are translated, so it lies
//! in the table's own set, in an inline uniform block at binding 0 (section "Inline Uniform Block"); all
//! other bindings of these sets are one higher than in shaders. Each index becomes the lesser of itself
//! and the last one.

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
/// `UMin` of `GLSL.std.450`, which takes signed integers as well, and takes them for unsigned.
const U_MIN: u32 = 38;
/// SPIR-V 1.4, from which on entry points list variables of all storage classes.
const VERSION_1_4: u32 = 0x0001_0400;

/// The binding of the block that holds the last index of a table.
pub(crate) const BOUNDS: u32 = 0;
/// The other bindings of a table's set are higher than in shaders by this.
pub(crate) const SHIFT: u32 = 1;

/// A checked module for the sets that tables have, with indices that stay within tables if
/// `is_restricted`. Indices of other types than integers of 32 bits stay as they are, and so do those of
/// arrays that are passed to functions.
pub(crate) fn for_tables(words: &[u32], is_restricted: bool) -> Vec<u32> {
    let mut known = Known::read(words);
    let mut added = Added::default();
    if is_restricted {
        added.plan(&mut known, words);
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
            (DECORATE, &[id, BINDING, binding]) if known.is_in_table(id) => {
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
    out[3] = known.bound;
    out
}

fn push(words: &mut Vec<u32>, op: u32, operands: &[u32]) {
    words.push((operands.len() as u32 + 1) << 16 | op);
    words.extend(operands);
}

/// An array that a table is bound to.
#[derive(Clone, Copy)]
struct Table {
    set: u32,
    /// The length that its type has.
    length: Option<u32>,
    /// All samplers of a set are there, whatever the table has.
    has_samplers: bool,
}

/// The parts of a module that matter here.
#[derive(Default)]
struct Known {
    /// Ids are below this.
    bound: u32,
    sets: HashMap<u32, u32>,
    tables: HashMap<u32, Table>,
    /// Types of integers of 32 bits, and the unsigned one among them.
    integers: HashSet<u32>,
    unsigned: Option<u32>,
    /// Values of such types.
    values: HashSet<u32>,
    /// `GLSL.std.450`
    import: Option<u32>,
    /// The type of pointers to unsigned integers in uniform blocks.
    pointer: Option<u32>,
    non_uniform: HashSet<u32>,
}

impl Known {
    fn read(words: &[u32]) -> Self {
        let mut known = Self {
            bound: words[3],
            ..Self::default()
        };
        let mut pointees = HashMap::new();
        let mut arrays: HashMap<u32, (u32, Option<u32>)> = HashMap::new();
        let mut constants = HashMap::new();
        let mut samplers = HashSet::new();
        for (op, operands) in instructions(words) {
            match (op, operands) {
                (DECORATE, &[id, DESCRIPTOR_SET, set]) => drop(known.sets.insert(id, set)),
                (DECORATE, &[id, NON_UNIFORM]) => drop(known.non_uniform.insert(id)),
                (EXT_INST_IMPORT, &[id, ref name @ ..]) if is_glsl(name) => {
                    known.import = Some(id);
                }
                (TYPE_INT, &[id, 32, sign]) => {
                    known.integers.insert(id);
                    if sign == 0 {
                        known.unsigned = Some(id);
                    }
                }
                (TYPE_SAMPLER, &[id]) => drop(samplers.insert(id)),
                (TYPE_ARRAY, &[id, element, length]) => {
                    arrays.insert(id, (element, constants.get(&length).copied()));
                }
                (TYPE_RUNTIME_ARRAY, &[id, element]) => drop(arrays.insert(id, (element, None))),
                (TYPE_POINTER, &[id, class, pointee]) => {
                    pointees.insert(id, pointee);
                    if class == UNIFORM && Some(pointee) == known.unsigned {
                        known.pointer = Some(id);
                    }
                }
                (CONSTANT, &[ty, id, value]) if known.integers.contains(&ty) => {
                    constants.insert(id, value);
                    known.values.insert(id);
                }
                (VARIABLE, &[ty, id, ..]) if known.is_in_table(id) => {
                    let array = pointees.get(&ty).and_then(|it| arrays.get(it));
                    if let Some(&(element, length)) = array {
                        let table = Table {
                            set: known.sets[&id],
                            length,
                            has_samplers: samplers.contains(&element),
                        };
                        known.tables.insert(id, table);
                    }
                }
                // Only a result type can be a type here.
                (_, &[ty, id, ..]) if known.integers.contains(&ty) => drop(known.values.insert(id)),
                _ => {}
            }
        }
        known
    }

    /// Whether a variable is in the set of a table.
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

/// The last index of a table.
#[derive(Clone, Copy)]
enum Last {
    /// A constant.
    Constant(u32),
    /// In the block of a set: its variable.
    Block(u32),
}

/// A use of a table.
struct Chain {
    /// The index is the least of these and itself.
    most: Vec<Last>,
    /// Ids for values, three for each of them: a pointer, the last index and the lesser one.
    ids: Vec<u32>,
}

/// Instructions to be added to a module.
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
    /// By the id that the access has.
    chains: HashMap<u32, Chain>,
}

impl Added {
    /// Finds all uses of tables and gives ids to what they need.
    fn plan(&mut self, known: &mut Known, words: &[u32]) {
        let mut blocks = HashMap::new();
        let mut lengths = HashMap::new();
        for (op, operands) in instructions(words) {
            let (ACCESS_CHAIN | IN_BOUNDS_ACCESS_CHAIN, &[_, result, base, index, ..]) =
                (op, operands)
            else {
                continue;
            };
            let Some(&table) = known.tables.get(&base) else {
                continue;
            };
            if !known.values.contains(&index) {
                continue;
            }
            if self.glsl == 0 {
                self.declare(known);
            }
            let mut most = Vec::new();
            if !table.has_samplers {
                let block = *blocks
                    .entry(table.set)
                    .or_insert_with(|| self.declare_block(known, table.set));
                most.push(Last::Block(block));
            }
            if let Some(length) = table.length {
                let last = length.saturating_sub(1);
                let constant = *lengths.entry(last).or_insert_with(|| {
                    let id = known.id();
                    push(&mut self.declarations, CONSTANT, &[self.unsigned, id, last]);
                    id
                });
                most.push(Last::Constant(constant));
            }
            let ids: Vec<u32> = (0..3 * most.len()).map(|_| known.id()).collect();
            if known.non_uniform.contains(&index) {
                // The least of each three.
                for id in ids.iter().skip(2).step_by(3) {
                    push(&mut self.decorations, DECORATE, &[*id, NON_UNIFORM]);
                }
            }
            self.chains.insert(result, Chain { most, ids });
        }
    }

    /// Declares what all uses share.
    fn declare(&mut self, known: &mut Known) {
        self.glsl = known.import.unwrap_or_else(|| {
            let id = known.id();
            let name = [id, 0x4c53_4c47, 0x6474_732e, 0x3035_342e, 0];
            push(&mut self.import, EXT_INST_IMPORT, &name);
            id
        });
        self.unsigned = known.unsigned.unwrap_or_else(|| {
            let id = known.id();
            push(&mut self.declarations, TYPE_INT, &[id, 32, 0]);
            id
        });
        self.pointer = known.pointer.unwrap_or_else(|| {
            let id = known.id();
            push(
                &mut self.declarations,
                TYPE_POINTER,
                &[id, UNIFORM, self.unsigned],
            );
            id
        });
        self.zero = known.id();
        push(
            &mut self.declarations,
            CONSTANT,
            &[self.unsigned, self.zero, 0],
        );
    }

    /// Declares the block of a set; its variable.
    fn declare_block(&mut self, known: &mut Known, set: u32) -> u32 {
        let [ty, pointer, variable] = [known.id(), known.id(), known.id()];
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

    /// Computes the index of a use; its id.
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
