//! Logical order of stages: a first synchronization scope holds the stages that come logically earlier
//! than those named too, and a second one those that come later (section "Pipeline Stages").
//!
//! Only order spreads like that; memory is made available and visible in the stages named.

use crate::flags::{SHORTHANDS, Stages};

/// The pipelines, each in logical order.
const PIPELINES: [&[Stages]; 4] = [
    &[
        Stages::DRAW_INDIRECT,
        Stages::INDEX_INPUT,
        Stages::VERTEX_ATTRIBUTE_INPUT,
        Stages::VERTEX_SHADER,
        Stages::TESSELLATION_CONTROL_SHADER,
        Stages::TESSELLATION_EVALUATION_SHADER,
        Stages::GEOMETRY_SHADER,
        Stages::TRANSFORM_FEEDBACK,
        Stages::FRAGMENT_SHADING_RATE_ATTACHMENT,
        Stages::EARLY_FRAGMENT_TESTS,
        Stages::FRAGMENT_SHADER,
        Stages::LATE_FRAGMENT_TESTS,
        Stages::COLOR_ATTACHMENT_OUTPUT,
    ],
    &[
        Stages::DRAW_INDIRECT,
        Stages::TASK_SHADER,
        Stages::MESH_SHADER,
        Stages::FRAGMENT_SHADING_RATE_ATTACHMENT,
        Stages::EARLY_FRAGMENT_TESTS,
        Stages::FRAGMENT_SHADER,
        Stages::LATE_FRAGMENT_TESTS,
        Stages::COLOR_ATTACHMENT_OUTPUT,
    ],
    &[Stages::DRAW_INDIRECT, Stages::COMPUTE_SHADER],
    &[Stages::DRAW_INDIRECT, Stages::RAY_TRACING_SHADER],
];

/// All stages of a first synchronization scope, one by one; `ALL_COMMANDS` says more than that.
pub(super) fn first_scope(mask: Stages) -> Stages {
    let mut all = single(mask);
    for pipeline in PIPELINES {
        let last = pipeline.iter().rposition(|stage| all.contains(*stage));
        let earlier = pipeline[..last.unwrap_or(0)].iter();
        all = earlier.fold(all, |all, stage| all | *stage);
    }
    all
}

/// All stages of a second synchronization scope, one by one.
pub(super) fn second_scope(mask: Stages) -> Stages {
    let named = single(mask);
    let mut all = named;
    for pipeline in PIPELINES {
        let first = pipeline.iter().position(|stage| named.contains(*stage));
        let later = first.map_or(&[][..], |first| &pipeline[first..]);
        all = later.iter().fold(all, |all, stage| all | *stage);
    }
    all
}

/// The single stages that a mask names, and `ALL_COMMANDS` if it is among them.
pub(super) fn single(mask: Stages) -> Stages {
    let shorthands = SHORTHANDS.difference(Stages::ALL_COMMANDS);
    mask.expanded().difference(shorthands)
}

#[cfg(test)]
mod tests;
