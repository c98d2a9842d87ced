//! Tables: arrays of resources, each bound as a whole to a group of its own.

use super::Encoder;
use crate::error::CommandError;
use crate::record::calls::TableCall;
use crate::resources::table::SharedTable;
use crate::shader::{TableBinding, TableKind};

impl Encoder<'_> {
    /// `vkCmdBindDescriptorSets` of the table's set for this frame.
    pub(super) fn table(&self, call: &TableCall) {
        let sets = [call.table.set(self.slot)];
        // SAFETY: the pipeline layout has the set layout of tables at this group. The set was updated
        // before the frame was recorded, and no frame in flight uses it.
        unsafe {
            self.device.raw.cmd_bind_descriptor_sets(
                self.buffer,
                call.point,
                call.layout,
                call.group,
                &sets,
                &[],
            );
        }
    }
}

/// Checks that a table has the kind that a shader declares.
pub(super) fn check(
    pipeline: &str,
    binding: &TableBinding,
    table: &SharedTable,
) -> Result<(), CommandError> {
    let has_samplers = matches!(table.kind(), TableKind::Images(_));
    let given = match binding.kind {
        kind if kind == table.kind() => return Ok(()),
        TableKind::Samplers(count) if has_samplers && count <= table.samplers() => return Ok(()),
        TableKind::Samplers(_) if has_samplers => match table.samplers() {
            0 => "no samplers".to_owned(),
            count => TableKind::Samplers(count).word(),
        },
        _ => table.kind().word(),
    };
    let wanted = format!("{} at {}", binding.kind.word(), binding.words());
    Err(CommandError::OtherTable {
        pipeline: pipeline.into(),
        wanted: wanted.into(),
        table: table.name().into(),
        given: given.into(),
    })
}

/// The error for a missing table.
#[cold]
pub(super) fn unbound(pipeline: &str, binding: &TableBinding) -> CommandError {
    CommandError::NoTable {
        pipeline: pipeline.into(),
        variable: binding.words().into(),
        kind: binding.kind.word().into(),
    }
}
