//! Queries, and conditional rendering.

use quadrille_sync::access::Access;
use quadrille_sync::resource::ResourceId;

use super::declared::{Part, Reader, Role};
use super::{Command, CommandList};
use crate::resources::buffer::GpuBuffer;
use crate::resources::query::QuerySet;

/// Begins and ends of queries and of conditional rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Query {
    Begin {
        set: u32,
        query: u32,
    },
    End {
        set: u32,
        query: u32,
    },
    BeginCondition {
        buffer: ResourceId,
        offset: u64,
        /// Whether commands run if the value is 0.
        inverted: bool,
    },
    EndCondition,
}

/// Size of the predicate in bytes.
pub(crate) const CONDITION_BYTES: u64 = 4;

impl CommandList {
    /// Begins a query of the commands up to [`CommandList::end_query`]. At the end of the
    /// list the result is copied to the set's buffer. Each query may be used once a frame; begin and end must be in
    /// the same rendering, or both outside. In a rendering with a [`view_mask`](crate::commands::Rendering) it
    /// uses as many consecutive queries as the mask has bits; their sum is the result.
    pub fn begin_query(&mut self, set: &QuerySet, query: u32) {
        let set = self.side_mut().query_sets.index(set);
        self.add_query(Query::Begin { set, query });
    }

    /// Ends a query.
    pub fn end_query(&mut self, set: &QuerySet, query: u32) {
        let set = self.side_mut().query_sets.index(set);
        self.add_query(Query::End { set, query });
    }

    /// Begins conditional rendering: draws, dispatches and clears of attachments up to
    /// [`CommandList::end_condition`] run if the `u32` at byte `offset` of the buffer is not 0, or
    /// with `inverted` if it is 0. Begin and end must be in the same rendering, or both outside.
    pub fn begin_condition(&mut self, buffer: &GpuBuffer, offset: u64, inverted: bool) {
        self.add_query(Query::BeginCondition {
            buffer: buffer.id(),
            offset,
            inverted,
        });
    }

    /// Ends conditional rendering.
    pub fn end_condition(&mut self) {
        self.add_query(Query::EndCondition);
    }

    /// The query sets that the list uses.
    pub(crate) fn query_sets(&self) -> impl Iterator<Item = &QuerySet> {
        let sets = self.has_side.then(|| self.side.query_sets.iter());
        sets.into_iter().flatten()
    }

    fn add_query(&mut self, query: Query) {
        let queries = &mut self.side_mut().queries;
        queries.push(query);
        let query = queries.len() as u32 - 1;
        self.add(Command::Query { query });
    }
}

impl Reader<'_> {
    pub(super) fn query(&mut self, query: Query) {
        match query {
            Query::Begin { set, query } => {
                let set = &self.list.side().query_sets[set as usize];
                let from = set.result_offset(query);
                let end = set.result_offset(query.saturating_add(self.queries));
                let part = Part::Bytes(from, end - from);
                let role = Role::Words("the results of queries");
                self.check(set.id(), part, Access::CopyWrite, role);
            }
            Query::BeginCondition { buffer, offset, .. } => {
                let part = Part::Bytes(offset, CONDITION_BYTES);
                let role = Role::Words("the condition of conditional rendering");
                self.check(buffer, part, Access::ConditionalRenderingRead, role);
            }
            Query::End { .. } | Query::EndCondition => {}
        }
    }
}
