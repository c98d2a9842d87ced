//! Validation of SPIR-V modules (SPIR-V specification, section 2.3 "Physical Layout").

mod control_flow;
mod table_bounds;

use crate::error::ShaderError;

pub(crate) use control_flow::control_flow_depth;
pub(crate) use table_bounds::{BOUNDS, SHIFT, for_tables};

/// The first word of every module.
const MAGIC: u32 = 0x0723_0203;
/// Number of words of the header.
const HEADER: usize = 5;
/// Upper bound of ids: a hostile bound would make readers allocate without limit.
const MAX_IDS: u32 = 4 << 20;

/// `OpCapability`
const CAPABILITY: u32 = 17;
/// `OpExtension`
const EXTENSION: u32 = 10;
/// `RuntimeDescriptorArray`
const RUNTIME_ARRAYS: u32 = 5302;

/// `OpExtInstImport`
const EXT_INST_IMPORT: u32 = 11;

/// `OpDecorate`
const DECORATE: u32 = 71;
/// `OpMemberDecorate`
const MEMBER_DECORATE: u32 = 72;
/// `Binding`
const BINDING: u32 = 33;
/// `InputAttachmentIndex`
const INPUT_ATTACHMENT_INDEX: u32 = 43;

/// Adds the capability `RuntimeDescriptorArray` to a module with runtime-sized arrays of resources. naga 30.0.2 omits
/// it, because it expects a length for each array. To be removed once naga adds it.
pub(super) fn declare_runtime_arrays(words: &mut Vec<u32>) {
    let mut at = HEADER;
    while words
        .get(at)
        .is_some_and(|word| word & 0xffff == CAPABILITY)
    {
        at += 2;
    }
    // Without the extension, this capability needs SPIR-V 1.5.
    let name: Vec<u32> = b"SPV_EXT_descriptor_indexing\0"
        .chunks(4)
        .map(|part| {
            let mut bytes = [0; 4];
            bytes[..part.len()].copy_from_slice(part);
            u32::from_le_bytes(bytes)
        })
        .collect();
    let head = (name.len() as u32 + 1) << 16 | EXTENSION;
    let added = [2 << 16 | CAPABILITY, RUNTIME_ARRAYS, head];
    words.splice(at..at, added.into_iter().chain(name));
}

/// Returns the bindings of input attachments with an index. Input attachments without an index are depth or stencil
/// (section "Fragment Input Attachment Interface").
pub(super) fn numbered_attachments(words: &[u32]) -> Vec<u32> {
    let decorations = |wanted: u32| {
        let is_it = move |&(op, operands): &(u32, &[u32])| {
            op == DECORATE && operands.get(1) == Some(&wanted)
        };
        instructions(words)
            .filter(is_it)
            .map(|(_, operands)| operands)
    };
    let numbered: Vec<u32> = decorations(INPUT_ATTACHMENT_INDEX)
        .map(|it| it[0])
        .collect();
    let bindings = decorations(BINDING).filter(|it| numbered.contains(&it[0]));
    bindings.filter_map(|it| it.get(2).copied()).collect()
}

/// Returns the instructions of a checked module as opcode and operands.
fn instructions(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut rest = words.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let (one, behind) = rest.split_at_checked((first >> 16).max(1) as usize)?;
        rest = behind;
        Some((first & 0xffff, &one[1..]))
    })
}

/// Returns the words of a file in either byte order.
pub(super) fn words(label: &str, bytes: &[u8]) -> Result<Vec<u32>, ShaderError> {
    let (chunks, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        let problem = format!("its length of {} bytes is no multiple of 4", bytes.len());
        return Err(ShaderError::Spirv {
            label: label.to_owned(),
            problem,
        });
    }
    let swapped = chunks
        .first()
        .is_some_and(|&first| u32::from_be_bytes(first) == MAGIC);
    let read = |&chunk: &[u8; 4]| {
        if swapped {
            u32::from_be_bytes(chunk)
        } else {
            u32::from_le_bytes(chunk)
        }
    };
    Ok(chunks.iter().map(read).collect())
}

/// Checks the header, and that the instructions fill the module exactly.
pub(super) fn check(label: &str, words: &[u32]) -> Result<(), ShaderError> {
    let wrong = |problem: String| {
        Err(ShaderError::Spirv {
            label: label.to_owned(),
            problem,
        })
    };
    if words.len() < HEADER {
        return wrong(format!(
            "it has {} words; the header alone has {HEADER}",
            words.len()
        ));
    }
    if words[0] != MAGIC {
        return wrong(format!(
            "it begins with {:#010x}, not {MAGIC:#010x}",
            words[0]
        ));
    }
    let [major, minor] = [(words[1] >> 16) & 0xff, (words[1] >> 8) & 0xff];
    if major != 1 || minor > 6 {
        return wrong(format!(
            "its version is {major}.{minor}; Vulkan 1.3 takes 1.0 to 1.6"
        ));
    }
    if words[3] == 0 || words[3] > MAX_IDS {
        return wrong(format!(
            "its bound of {} ids is not between 1 and {MAX_IDS}",
            words[3]
        ));
    }
    let mut at = HEADER;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        if length == 0 || at + length > words.len() {
            return wrong(format!(
                "the instruction at word {at} has a length of {length} words"
            ));
        }
        at += length;
    }
    Ok(())
}
