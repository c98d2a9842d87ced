//! Removal of memory layout decorations from types outside of buffers.
//!
//! naga decorates all arrays and structures with their layout in buffers. Vulkan forbids layout decorations
//! in workgroup memory (VUID-StandaloneSpirv-None-10684), so they are removed from types that no buffer uses. A
//! type used by both keeps them, which the validation layer reports and drivers accept.

use std::collections::{HashMap, HashSet};

/// Opcodes.
const TYPE_ARRAY: u32 = 28;
const TYPE_RUNTIME_ARRAY: u32 = 29;
const TYPE_STRUCT: u32 = 30;
const TYPE_POINTER: u32 = 32;
const DECORATE: u32 = 71;
const MEMBER_DECORATE: u32 = 72;

/// Storage classes of buffers and push constants: `Uniform`, `PushConstant`, `StorageBuffer`, `PhysicalStorageBuffer`.
const WITH_LAYOUT: [u32; 4] = [2, 9, 12, 5349];

/// `RowMajor`, `ColMajor`, `ArrayStride`, `MatrixStride`, `Offset`.
const LAYOUT: [u32; 5] = [4, 5, 6, 7, 35];

/// Removes the layout decorations of types that no buffer uses, in a module written by naga.
pub(super) fn remove_layouts(words: &mut Vec<u32>) {
    let mut parts: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut open = Vec::new();
    for instruction in instructions(words) {
        match (instruction[0] & 0xffff, &instruction[1..]) {
            (TYPE_ARRAY | TYPE_RUNTIME_ARRAY, &[id, element, ..]) => {
                parts.insert(id, vec![element]);
            }
            (TYPE_STRUCT, [id, members @ ..]) => {
                parts.insert(*id, members.to_vec());
            }
            (TYPE_POINTER, &[_, class, of]) if WITH_LAYOUT.contains(&class) => open.push(of),
            _ => {}
        }
    }
    let mut in_buffers = HashSet::new();
    while let Some(id) = open.pop() {
        if in_buffers.insert(id) {
            open.extend(parts.get(&id).into_iter().flatten());
        }
    }
    let is_needless = |instruction: &[u32]| {
        let (id, decoration) = match (instruction[0] & 0xffff, &instruction[1..]) {
            (DECORATE, &[id, decoration, ..]) => (id, decoration),
            (MEMBER_DECORATE, &[id, _, decoration, ..]) => (id, decoration),
            _ => return false,
        };
        LAYOUT.contains(&decoration) && parts.contains_key(&id) && !in_buffers.contains(&id)
    };
    let kept = instructions(words).filter(|instruction| !is_needless(instruction));
    let kept: Vec<u32> = kept.flatten().copied().collect();
    words.truncate(HEADER);
    words.extend(kept);
}

/// Words before the first instruction.
const HEADER: usize = 5;

/// Returns the instructions of a module, each including its first word.
fn instructions(words: &[u32]) -> impl Iterator<Item = &[u32]> {
    let mut rest = words.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let length = (rest.first()? >> 16) as usize;
        let (instruction, behind) = rest.split_at(length.clamp(1, rest.len()));
        rest = behind;
        Some(instruction)
    })
}
