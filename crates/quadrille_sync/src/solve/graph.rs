//! The order between passes as a graph, and reachability in it.

pub(super) mod alias;
pub(super) mod cull;
pub(super) mod depend;
pub(super) mod hazard;
mod lists;
pub(super) mod order;
pub(super) mod overlap;
pub(super) mod range_uses;
pub(super) mod timelines;

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use lists::Lists;

/// One pass precedes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: u32,
    pub(super) to: u32,
    /// The resource that the order is inferred from; none if the order is declared.
    pub(super) resource: Option<u32>,
}

/// Predecessor lists of up to this length are searched even if the list of successors is shorter, so
/// that only one direction is built.
const FEW: usize = 64;

/// A directed graph of passes with adjacency lists in both directions.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub(super) edges: Vec<Edge>,
    passes: usize,
    /// Built on first use: most graphs need only one direction, or none.
    before: OnceCell<Lists<u32>>,
    after: OnceCell<Lists<u32>>,
}

impl Graph {
    /// A graph of `passes` passes.
    pub(super) fn new(passes: usize, edges: Vec<Edge>) -> Self {
        Self {
            edges,
            passes,
            before: OnceCell::new(),
            after: OnceCell::new(),
        }
    }

    /// A graph of edges without a resource, from pairs of an earlier and a later pass.
    pub(super) fn of(passes: usize, pairs: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let edge = |(from, to)| Edge {
            from,
            to,
            resource: None,
        };
        Self::new(passes, pairs.into_iter().map(edge).collect())
    }

    /// The direct predecessors of a pass.
    pub(super) fn before(&self, pass: u32) -> &[u32] {
        let edges = || self.edges.iter().map(|edge| (edge.to, edge.from));
        let lists = || Lists::new(self.passes, edges());
        self.before.get_or_init(lists).of(pass)
    }

    /// The direct successors of a pass.
    pub(super) fn after(&self, pass: u32) -> &[u32] {
        let edges = || self.edges.iter().map(|edge| (edge.from, edge.to));
        let lists = || Lists::new(self.passes, edges());
        self.after.get_or_init(lists).of(pass)
    }

    /// Adds edges.
    pub(super) fn extend(&mut self, edges: impl Iterator<Item = Edge>) {
        self.edges.extend(edges);
        (self.before, self.after) = Default::default();
    }

    /// The number of passes.
    pub(super) fn len(&self) -> usize {
        self.passes
    }

    /// A topological order of the passes, in declaration order where edges leave a choice. If there
    /// is a cycle, the passes on it and those that depend on it are missing.
    pub(super) fn sort(&self) -> Vec<u32> {
        self.sort_late(|_| false)
    }

    /// A topological order in which late passes follow all others where edges leave a choice.
    pub(super) fn sort_late(&self, is_late: impl Fn(u32) -> bool) -> Vec<u32> {
        let count = self.len() as u32;
        let is_declared = self.edges.iter().all(|edge| edge.from < edge.to);
        if is_declared && (0..count).is_sorted_by_key(&is_late) {
            return (0..count).collect();
        }
        let place = |pass: u32| Reverse((is_late(pass), pass));
        let mut missing: Vec<u32> = (0..count)
            .map(|pass| self.before(pass).len() as u32)
            .collect();
        let mut ready: BinaryHeap<Reverse<(bool, u32)>> = (0..count)
            .filter(|pass| missing[*pass as usize] == 0)
            .map(place)
            .collect();
        let mut order = Vec::with_capacity(count as usize);
        while let Some(Reverse((_, pass))) = ready.pop() {
            order.push(pass);
            for next in self.after(pass) {
                missing[*next as usize] -= 1;
                if missing[*next as usize] == 0 {
                    ready.push(place(*next));
                }
            }
        }
        order
    }

    /// The edges of one cycle, each beginning where the previous one ends. `sorted` is the incomplete
    /// order from [`Graph::sort`].
    pub(super) fn cycle(&self, sorted: &[u32]) -> Vec<Edge> {
        let mut open = vec![true; self.len()];
        sorted.iter().for_each(|pass| open[*pass as usize] = false);
        // Every open pass has an open predecessor, so walking back must return to a visited pass.
        let back = |pass: u32| {
            let mut before = self.before(pass).iter().copied();
            before.find(|before| open[*before as usize])
        };
        let mut seen = vec![false; self.len()];
        let mut at = open.iter().position(|open| *open).map(|pass| pass as u32);
        while let Some(pass) = at.filter(|pass| !seen[*pass as usize]) {
            seen[pass as usize] = true;
            at = back(pass);
        }
        let Some(start) = at else { return Vec::new() };
        let mut edges = Vec::new();
        let mut to = start;
        while let Some(from) = back(to) {
            let mut all = self.edges.iter();
            edges.extend(all.find(|edge| (edge.from, edge.to) == (from, to)));
            to = from;
            if to == start {
                break;
            }
        }
        edges.reverse();
        edges
    }

    /// For each pair, whether a path leads from its first pass to its second. `order` is from
    /// [`Graph::sort`] and complete.
    ///
    /// Neighbours, and passes of one chain, are decided without a search. For the rest, bit sets of
    /// ancestors are propagated for some hundred sources at a time: time is linear in edges for each
    /// block of sources, memory linear in passes.
    pub(super) fn reaches(&self, order: &[u32], pairs: &[(u32, u32)]) -> Vec<bool> {
        let mut reached = vec![false; pairs.len()];
        if self.edges.is_empty() {
            return reached;
        }
        let rank = ranks(order);
        let mut open = Vec::new();
        for (at, (from, to)) in pairs.iter().enumerate() {
            // No path leads back.
            if rank[*from as usize] >= rank[*to as usize] {
                continue;
            }
            reached[at] = self.is_edge(*from, *to);
            if !reached[at] {
                open.push(at as u32);
            }
        }
        if open.is_empty() {
            return reached;
        }
        let chains = self.chains(order);
        open.retain(|at| {
            let (from, to) = pairs[*at as usize];
            reached[*at as usize] = chains[from as usize] == chains[to as usize];
            !reached[*at as usize]
        });
        open.sort_unstable_by_key(|at| rank[pairs[*at as usize].0 as usize]);
        self.search(order, &rank, pairs, &open, &mut reached);
        reached
    }

    /// Whether there is an edge between two passes.
    fn is_edge(&self, from: u32, to: u32) -> bool {
        let before = self.before(to);
        if before.len() <= FEW {
            return before.contains(&from);
        }
        let after = self.after(from);
        if after.len() < before.len() {
            after.contains(&to)
        } else {
            before.contains(&from)
        }
    }

    /// Assigns each pass to a chain: a path of edges. Returns the first pass of each pass's chain.
    fn chains(&self, order: &[u32]) -> Vec<u32> {
        let mut chains: Vec<u32> = (0..order.len() as u32).collect();
        let mut goes_on = vec![false; order.len()];
        for pass in order {
            let before = self.before(*pass).iter();
            if let Some(last) = before.copied().find(|last| !goes_on[*last as usize]) {
                goes_on[last as usize] = true;
                chains[*pass as usize] = chains[last as usize];
            }
        }
        chains
    }

    /// Decides the pairs with the indices `open`, which are sorted by the rank of their first passes.
    fn search(
        &self,
        order: &[u32],
        rank: &[u32],
        pairs: &[(u32, u32)],
        mut open: &[u32],
        reached: &mut [bool],
    ) {
        const WORDS: usize = 8;
        const BLOCK: usize = WORDS * 64;
        let from = |at: &u32| rank[pairs[*at as usize].0 as usize] as usize;
        let to = |at: &u32| rank[pairs[*at as usize].1 as usize] as usize;
        let mut ancestors = vec![[0_u64; WORDS]; if open.is_empty() { 0 } else { order.len() }];
        while let Some(first) = open.first() {
            let start = from(first);
            let count = open.partition_point(|at| from(at) < start + BLOCK);
            let (block, rest) = open.split_at(count);
            open = rest;
            let end = block.iter().map(to).max().map_or(start, |last| last + 1);
            for pass in order.get(start..end).unwrap_or_default() {
                let mut set = [0_u64; WORDS];
                for before in self.before(*pass) {
                    let before_rank = rank[*before as usize] as usize;
                    if before_rank < start {
                        continue;
                    }
                    for (word, other) in set.iter_mut().zip(&ancestors[*before as usize]) {
                        *word |= other;
                    }
                    if let Some(word) = set.get_mut((before_rank - start) / 64) {
                        *word |= 1 << ((before_rank - start) % 64);
                    }
                }
                ancestors[*pass as usize] = set;
            }
            for at in block {
                let bit = from(at) - start;
                let set = &ancestors[pairs[*at as usize].1 as usize];
                reached[*at as usize] = to(at) > start && set[bit / 64] & (1 << (bit % 64)) != 0;
            }
        }
    }
}

/// The position of each pass in an order.
pub(super) fn ranks(order: &[u32]) -> Vec<u32> {
    let mut rank = vec![0; order.len()];
    for (at, pass) in order.iter().enumerate() {
        rank[*pass as usize] = at as u32;
    }
    rank
}

#[cfg(test)]
#[path = "graph_tests.rs"]
mod tests;
