//! Phase `check`: validity of each declaration by itself.

use std::ops::Range;

use crate::access::{Access, Target};
use crate::error::{ConflictingAccess, PlanError, PlanErrors};
use crate::flags::Aspects;
use crate::frame::{Frame, PassDecl, PassIndex, PassKind, Use};
use crate::range::{Slices, SubRange};
use crate::resource::{Lifetime, Placement, Resource, ResourceKind, Sharing};
use crate::solve::graph::overlap::Overlaps;
use crate::solve::validate::custom;
use crate::states::{States, StreamOwnership};
use crate::topology::Topology;

/// Returns errors that end planning at once: indices out of bounds, a topology without queues,
/// resources that cannot exist. Without any, all later phases may index without checks.
pub(crate) fn check_shape(
    frame: &Frame,
    topology: &Topology,
    states: &States,
) -> Result<(), PlanErrors> {
    let mut errors = Vec::new();
    let count = topology.queues.len();
    if count == 0 {
        errors.push(PlanError::NoQueues);
    }
    if count > Topology::MAX_QUEUES {
        errors.push(PlanError::TooManyQueues { count });
    }
    for (queue, of) in topology.queues.iter().enumerate() {
        if of.family.is_outside() {
            let family = of.family;
            errors.push(PlanError::OutsideFamily { queue, family });
        }
    }
    let known = states.queue_count();
    if known > count {
        errors.push(PlanError::OtherTopology { known, count });
    }
    for pass in &frame.passes {
        check_indices(frame, pass, &mut errors);
    }
    let given = frame.gives.iter().map(|give| give.resource.0);
    for index in given.filter(|index| *index as usize >= frame.resources.len()) {
        errors.push(PlanError::UnknownIndex {
            pass: "give".into(),
            what: "resource",
            index,
        });
    }
    let given = frame.gives.iter();
    let given = given.filter_map(|give| frame.resources.get(give.resource.0 as usize));
    for resource in given.filter(|it| it.memory.is_some()) {
        errors.push(PlanError::InvalidResource {
            resource: resource.name.clone(),
            what: "is given away and lies in a memory block; such resources cannot leave their stream",
        });
    }
    for give in frame.gives.iter().filter(|give| give.family.is_outside()) {
        let resource = frame.resources.get(give.resource.0 as usize);
        if let Some(resource) = resource.filter(|it| it.sharing == Sharing::Concurrent) {
            errors.push(PlanError::InvalidResource {
                resource: resource.name.clone(),
                what: "is concurrent and leaves the device; only exclusive resources can do that",
            });
        }
    }
    check_slices(frame, &mut errors);
    for resource in &frame.resources {
        if let Some(what) = impossible(resource) {
            errors.push(PlanError::InvalidResource {
                resource: resource.name.clone(),
                what,
            });
        }
    }
    check_ids(frame, states, &mut errors);
    PlanErrors::check(errors)
}

/// Adds errors of single uses, and of uses of one pass that contradict each other.
pub(crate) fn check_uses(frame: &Frame, states: &States, errors: &mut Vec<PlanError>) {
    // By resource: the last pass that used it, to find repeated uses without comparing all pairs.
    let mut last_user = vec![u32::MAX; frame.resources.len()];
    let mut resources = frame.resources.iter();
    let all_own =
        resources.all(|resource| states.stream_ownership(resource.id) == StreamOwnership::Own);
    for pass in frame.pass_indices() {
        let uses = frame.uses_of(pass);
        let mut overlaps = None;
        for (at, one) in uses.iter().enumerate() {
            if !is_plain(frame, pass, one) {
                check_use(frame, pass, one, errors);
            }
            if !all_own {
                check_tenure(frame, pass, one, states, errors);
            }
            let last = &mut last_user[one.resource.0 as usize];
            if *last == pass.0 {
                let overlaps = overlaps.get_or_insert_with(|| Overlaps::new(uses));
                for other in overlaps.of(at).take_while(|other| *other < at) {
                    check_pair(frame, pass, &uses[other], one, errors);
                }
            }
            *last = pass.0;
        }
    }
}

/// Checks the index ranges of a pass, and the indices in them.
fn check_indices(frame: &Frame, pass: &PassDecl, errors: &mut Vec<PlanError>) {
    let mut unknown = |what, index| {
        errors.push(PlanError::UnknownIndex {
            pass: pass.name.clone(),
            what,
            index,
        });
    };
    let slice = |range: &Range<u32>| range.start as usize..range.end as usize;
    match frame.uses.get(slice(&pass.uses)) {
        None => unknown("uses up to", pass.uses.end),
        Some(uses) => {
            for one in uses
                .iter()
                .filter(|one| one.resource.0 as usize >= frame.resources.len())
            {
                unknown("resource", one.resource.0);
            }
        }
    }
    match frame.after.get(slice(&pass.after)) {
        None => unknown("predecessors up to", pass.after.end),
        Some(after) => {
            for before in after
                .iter()
                .filter(|before| before.0 as usize >= frame.passes.len())
            {
                unknown("pass", before.0);
            }
        }
    }
}

/// Checks that the index ranges of passes are contiguous: later phases iterate over the whole arrays.
fn check_slices(frame: &Frame, errors: &mut Vec<PlanError>) {
    let uses = frame.passes.iter().map(|pass| (pass, &pass.uses));
    let after = frame.passes.iter().map(|pass| (pass, &pass.after));
    errors.extend(scattered("uses", frame.uses.len(), uses));
    errors.extend(scattered("predecessors", frame.after.len(), after));
}

/// The error for the first range that does not begin at the end of the previous one, or for elements
/// after the last range.
fn scattered<'a>(
    what: &'static str,
    count: usize,
    slices: impl Iterator<Item = (&'a PassDecl, &'a Range<u32>)>,
) -> Option<PlanError> {
    let mut end = 0;
    for (pass, slice) in slices {
        if slice.start != end {
            return Some(PlanError::Scattered {
                pass: pass.name.clone(),
                what,
                slice: slice.clone(),
                end,
            });
        }
        end = slice.end;
    }
    (count > end as usize).then_some(PlanError::LeftOver { what, count, end })
}

/// The largest buffer, in bytes: the address space of a five-level page table.
const MAX_BYTES: u64 = 1 << 57;

/// The most array layers, and slices of a 3D image. Devices allow a few thousand. The bound matters
/// because a use of one mip level of all layers is split into as many intervals.
const MAX_LAYERS: u32 = 1 << 16;

/// The exclusive upper bound of resource ids. States are an array indexed by id.
const MAX_ID: u32 = 1 << 20;

/// The exclusive upper bound of block ids. States are an array indexed by these, too.
const MAX_BLOCK: u32 = 1 << 16;

/// Returns the first property of a resource that Vulkan does not allow, or no device has.
pub(crate) fn impossible(resource: &Resource) -> Option<&'static str> {
    if resource.id.0 >= MAX_ID {
        return Some("has an id of 1048576 or more; ids are dense and begin at 0");
    }
    if let Some(what) = resource
        .memory
        .and_then(|memory| misplaced(resource, memory))
    {
        return Some(what);
    }
    match resource.kind {
        ResourceKind::Buffer { .. } if resource.lifetime == Lifetime::Swapchain => {
            Some("is a buffer with the lifetime of a swapchain; only images can have that")
        }
        kind if resource.lifetime == Lifetime::Swapchain && kind != Resource::PRESENTABLE => Some(
            "is a swapchain image; these have the color aspect, one mip level and one array layer",
        ),
        ResourceKind::Buffer { bytes: 0 } => Some("is a buffer of 0 bytes"),
        ResourceKind::Buffer { bytes } if bytes > MAX_BYTES => {
            Some("is larger than 2^57 bytes, the address space of any device")
        }
        ResourceKind::Image { aspects, .. } if aspects.is_empty() => {
            Some("is an image without aspects")
        }
        ResourceKind::Image { mip_levels: 0, .. } => Some("is an image without mip levels"),
        ResourceKind::Image {
            array_layers: 0, ..
        } => Some("is an image without array layers"),
        ResourceKind::Image { array_layers, .. } if array_layers > MAX_LAYERS => {
            Some("is an image of more than 65536 array layers")
        }
        ResourceKind::Image { slices: 0, .. } => Some("is an image without slices"),
        ResourceKind::Image { slices, .. } if slices > MAX_LAYERS => {
            Some("is an image of more than 65536 slices")
        }
        ResourceKind::Image {
            slices,
            array_layers,
            ..
        } if slices > 1 && array_layers > 1 => {
            Some("is an image with slices and array layers; a 3D image has one layer")
        }
        // Keeps linear positions of subresources within 64 bits.
        ResourceKind::Image { mip_levels, .. } if mip_levels > 32 => {
            Some("is an image of more than 32 mip levels")
        }
        _ => None,
    }
}

/// Returns the problem with a resource's offset in its block.
fn misplaced(resource: &Resource, memory: Placement) -> Option<&'static str> {
    let end = memory.offset.checked_add(memory.bytes);
    match resource.kind {
        _ if resource.lifetime != Lifetime::Transient => Some(
            "has a placement in a memory block and is not transient; only transient resources can share memory",
        ),
        _ if memory.block.0 >= MAX_BLOCK => {
            Some("lies in a block with an id of 65536 or more; ids are dense and begin at 0")
        }
        _ if memory.bytes == 0 => Some("has a placement of 0 bytes in its memory block"),
        _ if end.is_none_or(|end| end > MAX_BYTES) => {
            Some("lies beyond byte 2^57 of its block, which is larger than any memory")
        }
        ResourceKind::Buffer { bytes } if bytes > memory.bytes => {
            Some("is a buffer that is larger than its placement in its memory block")
        }
        _ => None,
    }
}

/// Checks that ids are unique within the frame, and keep their kind from frame to frame.
pub(crate) fn check_ids(frame: &Frame, states: &States, errors: &mut Vec<PlanError>) {
    for resource in &frame.resources {
        let before = states.kind(resource.id);
        if let Some(before) = before.filter(|before| *before != resource.kind) {
            let (mut now, mut then) = (extent(&resource.kind), extent(&before));
            if now == then {
                // Only the number of slices differs: name those.
                (now, then) = (first_level(&resource.kind), first_level(&before));
            }
            errors.push(PlanError::ReusedId {
                resource: resource.name.clone(),
                id: resource.id,
                now,
                before: then,
            });
        }
    }
    if frame.resources.is_sorted_by(|one, next| one.id < next.id) {
        return;
    }
    let mut by_id: Vec<&Resource> = frame.resources.iter().collect();
    by_id.sort_by_key(|resource| resource.id);
    for pair in by_id.windows(2).filter(|pair| pair[0].id == pair[1].id) {
        errors.push(PlanError::DuplicateResource {
            first: pair[0].name.clone(),
            second: pair[1].name.clone(),
            id: pair[0].id,
        });
    }
}

/// Whether a use needs no further checks; true for most.
#[inline]
fn is_plain(frame: &Frame, pass: PassIndex, one: &Use) -> bool {
    let is_host = frame.pass(pass).kind == PassKind::Host || one.access.is_host();
    let is_custom = matches!(one.access, Access::Custom(_));
    let is_plain = one.range == SubRange::Whole && !one.discard && !is_custom && !is_host;
    let whole = Target::of(&frame.resource(one.resource).kind);
    is_plain && one.access.target().meets(whole)
}

/// Checks that a use lies within its resource, and is a host access exactly if the pass is a host pass.
fn check_use(frame: &Frame, pass: PassIndex, one: &Use, errors: &mut Vec<PlanError>) {
    let decl = frame.pass(pass);
    let resource = frame.resource(one.resource);
    if !one.range.fits(&resource.kind) {
        errors.push(PlanError::OutOfBounds {
            user: ConflictingAccess::new(decl, one.access),
            resource: resource.name.clone(),
            range: one.range,
            limit: limit(&resource.kind, &one.range),
        });
    }
    let part = Target::of_part(&resource.kind, &one.range);
    if one.range.fits(&resource.kind) && !one.access.target().meets(part) {
        errors.push(PlanError::WrongTarget {
            user: ConflictingAccess::new(decl, one.access),
            resource: resource.name.clone(),
            aspects: part.aspects(),
        });
    }
    if one.discard && !one.access.is_write() {
        errors.push(PlanError::DiscardedRead {
            user: ConflictingAccess::new(decl, one.access),
            resource: resource.name.clone(),
        });
    }
    if let Access::Custom(custom) = &one.access
        && let Some(what) = custom::wrong(custom, resource.is_image())
    {
        errors.push(PlanError::InvalidCustom {
            user: ConflictingAccess::new(decl, one.access),
            resource: resource.name.clone(),
            what,
        });
    }
    if one.access.is_host() != (decl.kind == PassKind::Host) {
        errors.push(PlanError::WrongSide {
            user: ConflictingAccess::new(decl, one.access),
            resource: resource.name.clone(),
        });
    } else if one.access.is_host() && resource.lifetime == Lifetime::Swapchain {
        errors.push(PlanError::HostOnSwapchain {
            user: ConflictingAccess::new(decl, one.access),
            resource: resource.name.clone(),
        });
    } else if one.access.is_host() && resource.memory.is_some() {
        errors.push(PlanError::HostOnShared {
            user: ConflictingAccess::new(decl, one.access),
            resource: resource.name.clone(),
        });
    }
}

/// Checks that this stream may use a resource in this way. A resource that was given away cannot be
/// used. A lent one may only be read, in its current layout, by both streams.
fn check_tenure(
    frame: &Frame,
    pass: PassIndex,
    one: &Use,
    states: &States,
    errors: &mut Vec<PlanError>,
) {
    let resource = frame.resource(one.resource);
    let user = || ConflictingAccess::new(frame.pass(pass), one.access);
    match states.stream_ownership(resource.id) {
        StreamOwnership::Own => {}
        StreamOwnership::Given => errors.push(PlanError::Given {
            user: user(),
            resource: resource.name.clone(),
        }),
        StreamOwnership::Lent => {
            let layout = states.map(resource.id).and_then(|map| {
                let mut layouts = map.iter().map(|(_, state)| state.layout);
                layouts.find(|layout| resource.is_image() && *layout != one.access.layout())
            });
            if one.access.is_write() || one.discard || layout.is_some() {
                errors.push(PlanError::Lent {
                    user: user(),
                    resource: resource.name.clone(),
                    layout,
                });
            }
        }
    }
}

/// Checks that two overlapping uses of one resource by one pass both read, in one layout.
fn check_pair(frame: &Frame, pass: PassIndex, a: &Use, b: &Use, errors: &mut Vec<PlanError>) {
    // Disjoint slices may both be written, but share the layout of their mip level.
    let (a_levels, b_levels) = (a.range.levels(), b.range.levels());
    if !a_levels.overlaps(&b_levels) {
        return;
    }
    let resource = frame.resource(a.resource);
    let (pass, name) = (frame.pass(pass).name.clone(), resource.name.clone());
    let (first, second, overlap) = (a.access, b.access, a.range.overlaps(&b.range));
    let range = if overlap {
        a.range.intersection(&b.range)
    } else {
        a_levels.intersection(&b_levels)
    };
    if overlap && (first.is_write() || second.is_write()) {
        errors.push(PlanError::DuplicateUse {
            pass,
            resource: name,
            first,
            second,
            range,
        });
    } else if resource.is_image() && first.layout() != second.layout() {
        errors.push(PlanError::TwoLayouts {
            pass,
            resource: name,
            first,
            second,
            range,
        });
    }
}

/// The largest valid range of the same kind, for error messages.
fn limit(kind: &ResourceKind, range: &SubRange) -> SubRange {
    match (kind.subresources(), range) {
        (Some(all), SubRange::Slices(slices))
            if slices.mip < all.mip_count && all.layer_count == 1 =>
        {
            slices_of(kind, all.aspects, slices.mip)
        }
        _ => extent(kind),
    }
}

/// All slices of the first mip level of an image.
fn first_level(kind: &ResourceKind) -> SubRange {
    let all = kind.subresources();
    all.map_or(SubRange::Whole, |all| slices_of(kind, all.aspects, 0))
}

/// All slices of a mip level.
fn slices_of(kind: &ResourceKind, aspects: Aspects, mip: u32) -> SubRange {
    SubRange::Slices(Slices {
        aspects,
        mip,
        base: 0,
        count: kind.slices_of(mip),
    })
}

/// The whole resource as an explicit range.
fn extent(kind: &ResourceKind) -> SubRange {
    match (kind, kind.subresources()) {
        (ResourceKind::Buffer { bytes }, _) => SubRange::Bytes {
            offset: 0,
            size: *bytes,
        },
        (_, range) => range.map_or(SubRange::Whole, SubRange::Subresources),
    }
}
