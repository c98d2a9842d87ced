//! Queries and conditional rendering.

use ash::vk;
use quadrille_sync::resource::ResourceId;
use quadrille_sync::topology::Capabilities;
use smallvec::SmallVec;

use super::{Encoder, Failure, aligned};
use crate::commands::{CONDITION_BYTES, CommandList, Query};
use crate::error::CommandError;
use crate::resources::buffer::BufferUsage;
use crate::resources::query::QuerySet;

/// Queries and conditional rendering that a pass has begun.
#[derive(Default)]
pub(super) struct Queries<'a> {
    open: SmallVec<[Open<'a>; 2]>,
    /// Set while conditional rendering is active; true if it began inside of a rendering.
    condition: Option<bool>,
    /// The queries used, in the order of the commands.
    used: SmallVec<[(&'a QuerySet, u32); 4]>,
}

/// A query that has begun.
struct Open<'a> {
    set: &'a QuerySet,
    query: u32,
    /// Inside of a rendering.
    inside: bool,
}

impl Queries<'_> {
    /// Checks that queries and conditions have ended: at the end of a rendering those that began inside
    /// of it, at the end of the list all.
    pub(super) fn check_ended(&self, inside: bool) -> Result<(), CommandError> {
        let is_open = |it: &bool| *it || !inside;
        let mut open = self.open.iter().filter(|open| is_open(&open.inside));
        if let Some(Open { set, query, .. }) = open.next() {
            return wrong(format!("query {query} of `{}` does not end", set.name()));
        }
        if self.condition.is_some_and(|begun| is_open(&begun)) {
            return wrong("conditional rendering does not end".to_owned());
        }
        Ok(())
    }
}

fn wrong(problem: String) -> Result<(), CommandError> {
    Err(CommandError::Query { problem })
}

impl<'a> Encoder<'a> {
    pub(super) fn query(&mut self, list: &'a CommandList, query: Query) -> Result<(), Failure> {
        let set = |set: u32| &list.side().query_sets[set as usize];
        match query {
            Query::Begin { set: at, query } => self.begin_query(set(at), query)?,
            Query::End { set: at, query } => self.end_query(set(at), query)?,
            Query::BeginCondition {
                buffer,
                offset,
                inverted,
            } => self.begin_condition(buffer, offset, inverted)?,
            Query::EndCondition => self.end_condition()?,
        }
        Ok(())
    }

    /// `vkCmdBeginQuery`
    fn begin_query(&mut self, set: &'a QuerySet, query: u32) -> Result<(), CommandError> {
        let (desc, kind) = (set.desc(), set.desc().kind);
        for capability in kind.needs().iter() {
            self.need(capability)?;
        }
        // Multiview: a query for each view (section "Query Operation").
        let mask = self.rendering.as_ref().map_or(0, |it| it.formats.view_mask);
        let views = mask.count_ones().max(1);
        if query >= desc.count || views > desc.count - query {
            let what = match views {
                1 => format!("query {query}"),
                _ => format!("query {query} and those of its {views} views, one for each,"),
            };
            return Err(CommandError::Outside {
                what,
                name: desc.name.clone(),
                room: format!("{} queries", desc.count),
            });
        }
        let is_of_kind = |open: &&Open<'_>| open.set.desc().kind.raw() == kind.raw();
        if let Some(open) = self.queries.open.iter().find(is_of_kind) {
            return wrong(format!(
                "query {query} of `{}` begins within query {} of `{}`; queries of one kind do not nest",
                desc.name,
                open.query,
                open.set.name()
            ));
        }
        for query in query..query + views {
            if !set.take(self.slot, query) {
                return wrong(format!(
                    "query {query} of `{}` is used twice in a frame; give each use a query of its own, and each \
                     view of a rendering",
                    desc.name
                ));
            }
            self.queries.used.push((set, query));
        }
        let pool = set.pool(self.slot);
        // SAFETY: the queries are in the pool, were reset, and begin once per frame; no other query of this kind is
        // active; the device has the feature of this kind.
        unsafe {
            self.device
                .raw
                .cmd_begin_query(self.buffer, pool, query, kind.control());
        }
        self.queries.open.push(Open {
            set,
            query,
            inside: self.rendering.is_some(),
        });
        Ok(())
    }

    /// `vkCmdEndQuery`
    fn end_query(&mut self, set: &QuerySet, query: u32) -> Result<(), CommandError> {
        let inside = self.rendering.is_some();
        let is_it = |open: &Open<'_>| open.set == set && open.query == query;
        let found = self.queries.open.iter().position(is_it);
        let Some(at) = found.filter(|at| self.queries.open[*at].inside == inside) else {
            return wrong(format!(
                "query {query} of `{}` ends where it has not begun: in the same rendering, or outside of any",
                set.name()
            ));
        };
        self.queries.open.remove(at);
        // SAFETY: the query is active, and began in this rendering, or outside if it ends outside.
        unsafe {
            self.device
                .raw
                .cmd_end_query(self.buffer, set.pool(self.slot), query);
        }
        Ok(())
    }

    /// `vkCmdBeginConditionalRenderingEXT`
    fn begin_condition(
        &mut self,
        buffer: ResourceId,
        offset: u64,
        inverted: bool,
    ) -> Result<(), CommandError> {
        let Some(calls) = &self.device.extensions.conditional_rendering else {
            let feature = "conditionalRendering of VK_EXT_conditional_rendering";
            let device = self.device.info.name.clone();
            return Err(CommandError::Lacks { feature, device });
        };
        self.need(Capabilities::GRAPHICS | Capabilities::COMPUTE)?;
        if self.queries.condition.is_some() {
            return wrong(
                "a condition stands within another; conditional rendering does not nest".to_owned(),
            );
        }
        aligned("the offset of a condition", offset, CONDITION_BYTES)?;
        let usage = (BufferUsage::CONDITION, "CONDITION");
        let buffer = self.input(buffer, offset, CONDITION_BYTES, usage)?;
        let flags = if inverted {
            vk::ConditionalRenderingFlagsEXT::INVERTED
        } else {
            vk::ConditionalRenderingFlagsEXT::empty()
        };
        let info = vk::ConditionalRenderingBeginInfoEXT::default()
            .buffer(buffer)
            .offset(offset)
            .flags(flags);
        // SAFETY: the value lies in the buffer, which has the usage; no conditional rendering is active.
        unsafe {
            (calls.fp().cmd_begin_conditional_rendering_ext)(self.buffer, &raw const info);
        }
        self.queries.condition = Some(self.rendering.is_some());
        Ok(())
    }

    /// `vkCmdEndConditionalRenderingEXT`
    fn end_condition(&mut self) -> Result<(), CommandError> {
        let inside = self.rendering.is_some();
        if self.queries.condition.take() != Some(inside) {
            return wrong(
                "a condition ends where it has not begun: in the same rendering, or outside of any"
                    .to_owned(),
            );
        }
        if let Some(calls) = &self.device.extensions.conditional_rendering {
            // SAFETY: conditional rendering is active, and began in this rendering, or outside if it ends outside.
            unsafe { (calls.fp().cmd_end_conditional_rendering_ext)(self.buffer) };
        }
        Ok(())
    }

    /// Ends a pass: copies the results of its queries, with one command for consecutive queries.
    pub(super) fn copy_results(&mut self) -> Result<(), CommandError> {
        let mut used = std::mem::take(&mut self.queries.used);
        let order = |(set, query): &(&QuerySet, u32)| (set.id(), *query);
        used.sort_unstable_by_key(order);
        let runs = used.chunk_by(|one, next| one.0 == next.0 && one.1 + 1 == next.1);
        for run in runs {
            let (set, first) = run[0];
            let count = run.len() as u32;
            let offset = set.result_offset(first);
            let end = set.result_offset(first + count);
            let usage = (BufferUsage::TRANSFER_DST, "TRANSFER_DST");
            let buffer = self.input(set.id(), offset, end - offset, usage)?;
            // SAFETY: outside of rendering, on a queue that can run the queries; these were begun and
            // ended in this buffer before, and the buffer has room for their results.
            unsafe {
                self.device.raw.cmd_copy_query_pool_results(
                    self.buffer,
                    set.pool(self.slot),
                    first,
                    count,
                    buffer,
                    offset,
                    set.result_offset(1),
                    vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT,
                );
            }
        }
        Ok(())
    }
}
