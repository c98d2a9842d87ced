//! Nesting depth of control flow (SPIR-V specification, section 2.11 "Structured Control Flow").

use std::collections::BTreeMap;

use super::instructions;

/// `OpFunction`
const FUNCTION: u32 = 54;
/// `OpFunctionCall`
const CALL: u32 = 57;
/// `OpLoopMerge`
const LOOP_MERGE: u32 = 246;
/// `OpSelectionMerge`
const SELECTION_MERGE: u32 = 247;
/// `OpLabel`
const LABEL: u32 = 248;
/// `OpSwitch`
const SWITCH: u32 = 251;

/// Nesting of a function.
#[derive(Default)]
struct Function {
    /// Maximum depth, with callees included as far as known.
    depth: usize,
    /// Called functions, each with the depth of the call.
    calls: Vec<(u32, usize)>,
}

/// Returns the nesting depth of selections and loops in a checked module, with callees inlined. Each case of a switch
/// counts as one level, since drivers may convert a switch to a chain of conditions. The result is inexact above
/// `most`.
pub(crate) fn control_flow_depth(words: &[u32], most: usize) -> usize {
    let mut functions = functions(words);
    loop {
        let known: BTreeMap<u32, usize> =
            functions.iter().map(|(&id, it)| (id, it.depth)).collect();
        let mut has_changed = false;
        for function in functions.values_mut() {
            let of_call = |&(callee, at): &(u32, usize)| at + known.get(&callee).unwrap_or(&0);
            let calls = function.calls.iter().map(of_call).max().unwrap_or(0);
            has_changed |= calls > function.depth;
            function.depth = function.depth.max(calls);
        }
        let deepest = functions.values().map(|it| it.depth).max().unwrap_or(0);
        // Recursive calls, which are invalid, would increase the depth forever.
        if !has_changed || deepest > most {
            return deepest;
        }
    }
}

fn functions(words: &[u32]) -> BTreeMap<u32, Function> {
    let mut functions = BTreeMap::new();
    let mut function = Function::default();
    let mut id = 0;
    // Stack of merge labels at which constructs end, each with its number of levels.
    let mut open: Vec<(u32, usize)> = Vec::new();
    let mut depth = 0;
    for (op, operands) in instructions(words) {
        match (op, operands) {
            (FUNCTION, [_, new, ..]) => {
                functions.insert(id, std::mem::take(&mut function));
                (id, depth) = (*new, 0);
                open.clear();
            }
            (LOOP_MERGE | SELECTION_MERGE, [merge, ..]) => {
                open.push((*merge, 1));
                depth += 1;
            }
            (SWITCH, [_, _, cases @ ..]) => {
                if let Some((_, counts)) = open.last_mut() {
                    let more = (cases.len() / 2).saturating_sub(1);
                    (*counts, depth) = (*counts + more, depth + more);
                }
            }
            (LABEL, [label]) => {
                while let Some((_, counts)) = open.pop_if(|(merge, _)| merge == label) {
                    depth -= counts;
                }
            }
            (CALL, [_, _, callee, ..]) => function.calls.push((*callee, depth)),
            _ => {}
        }
        function.depth = function.depth.max(depth);
    }
    functions.insert(id, function);
    functions
}

#[cfg(test)]
mod tests;
