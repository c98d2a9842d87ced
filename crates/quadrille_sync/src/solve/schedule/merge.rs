//! Joins successive submissions of a queue if that delays the frame by no more than a submission costs.
//! Part of the phase [`arrange`](crate::solve::schedule::arrange).

use crate::frame::Frame;
use crate::solve::graph::Graph;
use crate::solve::schedule::objective::{Costs, SUBMISSION_US, time_us};
use crate::solve::schedule::split::Draft;
use crate::topology::Topology;

/// The most visits to submissions and links while joining, per pass of the frame. Keeps the time linear
/// in frames that change queues hundreds of times, at the price of untried joins.
const VISITS: usize = 64;

/// Submissions, and their estimated time.
pub(crate) struct Merged {
    pub(crate) drafts: Vec<Draft>,
    pub(crate) time_us: u64,
}

/// Joins submissions. `None` if the given submissions depend on each other in a cycle.
pub(crate) fn merge(
    frame: &Frame,
    topology: &Topology,
    graph: &Graph,
    drafts: Vec<Draft>,
) -> Option<Merged> {
    let mut groups = Groups::new(frame, topology.queues.len(), graph, drafts);
    groups.times()?;
    let mut visits = frame.passes.len() * VISITS;
    groups.join_all(&mut visits);
    let ends = groups.times()?.ends(&groups);
    let drafts = groups.into_drafts();
    Some(Merged {
        time_us: time_us(&ends, drafts.len()),
        drafts,
    })
}

/// The estimated time of submissions as they are, in microseconds; `None` if they depend on each other
/// in a cycle.
pub(crate) fn time_of(
    frame: &Frame,
    topology: &Topology,
    graph: &Graph,
    drafts: &[Draft],
) -> Option<u64> {
    let groups = Groups::new(frame, topology.queues.len(), graph, drafts.to_vec());
    let ends = groups.times()?.ends(&groups);
    Some(time_us(&ends, drafts.len()))
}

/// Submissions, some of them joined.
struct Groups {
    drafts: Vec<Draft>,
    cost: Vec<u64>,
    /// The submission that each was joined with, or itself.
    leader: Vec<u32>,
    /// Dependencies across submissions, each pair once.
    links: Vec<(u32, u32)>,
    /// The leaders of each queue in order.
    sequence: Vec<Vec<u32>>,
}

/// Estimated start and end of the submissions of [`Groups`], in microseconds.
struct Times {
    /// Leaders in an order of execution.
    order: Vec<u32>,
    start: Vec<u64>,
    end: Vec<u64>,
    graph: Graph,
}

impl Times {
    /// When each queue ends.
    fn ends(&self, groups: &Groups) -> Vec<u64> {
        let last = |sequence: &Vec<u32>| sequence.last().map_or(0, |at| self.end[*at as usize]);
        groups.sequence.iter().map(last).collect()
    }

    /// The latest time that each submission may end, if the frame ends at a limit.
    fn latest(&self, groups: &Groups, limit: u64) -> Vec<u64> {
        let mut latest = vec![limit; self.end.len()];
        for at in self.order.iter().rev() {
            let own = *at as usize;
            let after = self.graph.after(*at).iter().map(|next| {
                let next = *next as usize;
                latest[next].saturating_sub(groups.cost[next])
            });
            latest[own] = after.min().unwrap_or(limit).min(limit);
        }
        latest
    }
}

impl Groups {
    fn new(frame: &Frame, queues: usize, graph: &Graph, drafts: Vec<Draft>) -> Self {
        let costs = Costs::new(frame);
        let mut draft_of = vec![u32::MAX; frame.passes.len()];
        let mut sequence = vec![Vec::new(); queues];
        let mut cost = Vec::with_capacity(drafts.len());
        for (at, draft) in (0..).zip(&drafts) {
            sequence[usize::from(draft.queue.0)].push(at);
            let passes = draft.passes.iter();
            cost.push(passes.map(|pass| costs.of(frame, *pass)).sum());
            for pass in &draft.passes {
                draft_of[pass.0 as usize] = at;
            }
        }
        let edges = graph.edges.iter();
        let ends = edges.map(|edge| (draft_of[edge.from as usize], draft_of[edge.to as usize]));
        let mut links: Vec<(u32, u32)> = ends
            .filter(|(from, to)| from != to && *from != u32::MAX && *to != u32::MAX)
            .collect();
        links.sort_unstable();
        links.dedup();
        Self {
            leader: (0..drafts.len() as u32).collect(),
            drafts,
            cost,
            links,
            sequence,
        }
    }

    /// Estimates all times; `None` if submissions depend on each other in a cycle.
    fn times(&self) -> Option<Times> {
        let count = self.drafts.len();
        let chains = self.sequence.iter().flat_map(|it| it.windows(2));
        let chains = chains.map(|two| (two[0], two[1]));
        let leader = |at: u32| self.leader(at);
        let links = self.links.iter().map(|(a, b)| (leader(*a), leader(*b)));
        let graph = Graph::of(count, chains.chain(links.filter(|(from, to)| from != to)));
        let mut order = graph.sort();
        if order.len() < count {
            return None;
        }
        order.retain(|at| leader(*at) == *at);
        let (mut start, mut end) = (vec![0; count], vec![0; count]);
        for at in &order {
            let own = *at as usize;
            let before = graph.before(*at).iter().map(|from| end[*from as usize]);
            start[own] = before.max().unwrap_or(0);
            end[own] = start[own] + self.cost[own];
        }
        Some(Times {
            order,
            start,
            end,
            graph,
        })
    }

    /// Joins submissions in order of time. A join may delay the end of the frame by as much as a
    /// submission costs.
    fn join_all(&mut self, visits: &mut usize) {
        let Some(mut times) = self.times() else {
            return;
        };
        let end = |times: &Times, groups: &Self| times.ends(groups).into_iter().max().unwrap_or(0);
        let mut limit = end(&times, self) + SUBMISSION_US;
        let mut latest = times.latest(self, limit);
        for second in times.order.clone() {
            let queue = usize::from(self.drafts[second as usize].queue.0);
            // Submissions are numbered in order, so each sequence is sorted.
            let Ok(at) = self.sequence[queue].binary_search(&second) else {
                continue;
            };
            let first = at.checked_sub(1).map(|at| self.sequence[queue][at]);
            let Some(first) = first.filter(|first| self.may_join(*first, second, &times, &latest))
            else {
                continue;
            };
            let cost = self.drafts.len() + self.links.len();
            if *visits < cost {
                return;
            }
            *visits -= cost;
            self.join(first, second, at);
            match self.times().filter(|times| end(times, self) <= limit) {
                Some(found) => {
                    limit = end(&found, self) + SUBMISSION_US;
                    latest = found.latest(self, limit);
                    times = found;
                }
                None => self.part(first, second, at),
            }
        }
    }

    /// Quick check whether two submissions may be joined: with all their waits and dependents in common,
    /// the joined submission must start and end in time.
    fn may_join(&self, first: u32, second: u32, times: &Times, latest: &[u64]) -> bool {
        let (one, two) = (first as usize, second as usize);
        let before = times.graph.before(second).iter();
        let before = before.filter(|from| **from != first);
        let ready = before.map(|from| times.end[*from as usize]).max();
        let start = times.start[one].max(ready.unwrap_or(0));
        let after = times.graph.after(first).iter();
        let after = after.filter(|next| **next != second).map(|next| {
            let next = *next as usize;
            latest[next].saturating_sub(self.cost[next])
        });
        let limit = after.min().unwrap_or(u64::MAX).min(latest[two]);
        start + self.cost[one] + self.cost[two] <= limit
    }

    /// Joins submission `second`, at index `at` of its queue, with the one before it.
    fn join(&mut self, first: u32, second: u32, at: usize) {
        let queue = usize::from(self.drafts[second as usize].queue.0);
        self.sequence[queue].remove(at);
        self.leader[second as usize] = first;
        self.cost[first as usize] += self.cost[second as usize];
    }

    /// Undoes [`Groups::join`].
    fn part(&mut self, first: u32, second: u32, at: usize) {
        let queue = usize::from(self.drafts[second as usize].queue.0);
        self.sequence[queue].insert(at, second);
        self.leader[second as usize] = second;
        self.cost[first as usize] -= self.cost[second as usize];
    }

    /// The leader that a submission is joined with.
    fn leader(&self, mut at: u32) -> u32 {
        while self.leader[at as usize] != at {
            at = self.leader[at as usize];
        }
        at
    }

    /// Returns the submissions in an order in which each follows those that it waits for.
    fn into_drafts(self) -> Vec<Draft> {
        let Some(times) = self.times() else {
            unreachable!("submissions that would wait for each other are not joined");
        };
        // Every submission has a cost, so one that waits starts later.
        let mut leaders = times.order;
        leaders.sort_by_key(|at| (times.start[*at as usize], *at));
        let mut place = vec![0; self.drafts.len()];
        for (to, at) in leaders.iter().enumerate() {
            place[*at as usize] = to;
        }
        let queue = |at: &u32| self.drafts[*at as usize].queue;
        let empty = |at| Draft {
            queue: queue(at),
            passes: Vec::new(),
        };
        let mut joined: Vec<Draft> = leaders.iter().map(empty).collect();
        for (at, draft) in (0..).zip(&self.drafts) {
            joined[place[self.leader(at) as usize]]
                .passes
                .extend_from_slice(&draft.passes);
        }
        joined
    }
}
