//! What a use asks for, looked up once: [`glance`](super::glance) looks at each use before the walk
//! does.

use crate::access::Row;
use crate::flags::Layout;
use crate::frame::Use;
use crate::range::SubRange;
use crate::resource::{Lifetime, Resource, ResourceIndex};

/// A use of a whole resource by an access that is in the table, which is what most uses are.
#[derive(Clone, Copy)]
pub(super) struct Lowered {
    pub(super) row: &'static Row,
    pub(super) resource: ResourceIndex,
    /// The layout that it needs; undefined for buffers.
    pub(super) layout: Layout,
    pub(super) discard: bool,
    /// The image of a swapchain, which has to be acquired first.
    pub(super) is_of_swapchain: bool,
}

impl Lowered {
    /// A use of a whole resource, whose access has this row.
    #[inline]
    pub(super) fn new(one: &Use, row: &'static Row, is_image: bool, lifetime: Lifetime) -> Self {
        Self {
            row,
            resource: one.resource,
            layout: match is_image {
                true => row.layout,
                false => Layout::Undefined,
            },
            discard: one.discard,
            is_of_swapchain: lifetime == Lifetime::Swapchain,
        }
    }
}

/// What a use asks for, if it is such.
#[inline]
pub(super) fn lower(one: &Use, resource: &Resource) -> Option<Lowered> {
    let (Some(row), SubRange::Whole) = (one.access.named(), one.range) else {
        return None;
    };
    let (is_image, lifetime) = (resource.is_image(), resource.lifetime);
    Some(Lowered::new(one, row, is_image, lifetime))
}
