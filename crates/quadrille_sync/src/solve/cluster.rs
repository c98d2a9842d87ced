//! Phase `cluster`: which readers had better come together?
//!
//! Readers that want a range in different layouts or families cannot overlap, and each change
//! between them costs a barrier, or a transfer with its wait. But nobody could see in which order
//! they come. So there may be a better order of the frame: one in which readers of a range that
//! want it alike come together.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use smallvec::SmallVec;

use super::graph::{Edge, Graph, ranks};
use super::touch::Touches;
use crate::flags::Layout;
use crate::frame::Frame;
use crate::resource::{Lifetime, Sharing};
use crate::topology::{FamilyIndex, QueueIndex, Topology};

/// An order in which readers that want the same come together, as far as hazards allow, and passes
/// stay in `order` otherwise. None if that is no other order.
///
/// `needs` gives pairs of an earlier and a later pass that have to keep their order whatever is
/// changed between reads. `touches` is sorted by `order`.
pub(super) fn cluster(
    frame: &Frame,
    topology: &Topology,
    touches: &Touches,
    needs: impl FnOnce() -> Vec<(u32, u32)>,
    order: &[u32],
    queues: &[Option<QueueIndex>],
) -> Option<Vec<u32>> {
    let crowds = Crowds::new(frame, topology, touches, queues);
    if crowds.list.is_empty() {
        return None;
    }
    let edge = |(from, to)| Edge {
        from,
        to,
        resource: None,
    };
    let graph = Graph::new(order.len(), needs().into_iter().map(edge).collect());
    let clustered = crowds.order(&graph, order);
    (clustered != order).then_some(clustered)
}

/// What has to be the same for two readers to overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wish {
    /// None if nobody owns the range.
    family: Option<FamilyIndex>,
    layout: Layout,
}

impl Wish {
    /// Whether what is as one wish has it need not move for another one.
    fn leads_to(self, next: Self) -> bool {
        let is_alike = self.layout == next.layout || next.layout == Layout::PresentSrc;
        self.family == next.family && is_alike
    }
}

/// A pass that uses a span.
#[derive(Clone, Copy, Debug)]
struct User {
    pass: u32,
    queue: QueueIndex,
    wish: Wish,
    writes: bool,
    discards: bool,
}

/// Readers of a range with no writer among them, who wish for different things.
#[derive(Debug)]
struct Crowd {
    /// What they wish for, in the order in which they had better come, and how many of them are
    /// left.
    wishes: SmallVec<[(Wish, u32); 3]>,
    /// Passes that let others go first.
    waiting: Vec<u32>,
}

impl Crowd {
    /// Whether a reader had better let others go first.
    fn defers(&self, wish: Wish) -> bool {
        let mut others = self.wishes.iter().take_while(|(other, _)| *other != wish);
        others.any(|(_, left)| *left > 0)
    }
}

/// The wishes of some readers in the order in which these had better come. Last come those who
/// leave what the next user wishes for, or are of its family. Before them, where they are on several
/// queues, the last is that of whoever comes last: so nobody is held up by others that come first
/// now. On one queue those go first who find what they wish for.
fn sorted(readers: &[User], now: Option<Wish>, next: Option<Wish>) -> SmallVec<[(Wish, u32); 3]> {
    let mut wishes: SmallVec<[(Wish, u32); 3]> = SmallVec::new();
    let mut families: SmallVec<[Option<FamilyIndex>; 3]> = SmallVec::new();
    for User { wish, .. } in readers {
        wishes.retain(|(known, _)| known != wish);
        wishes.push((*wish, 0));
        families.retain(|known| known != &wish.family);
        families.push(wish.family);
    }
    let leads_on = |wish: &Wish| next.is_some_and(|next| wish.leads_to(next));
    if readers.iter().all(|user| user.queue == readers[0].queue) {
        wishes.sort_by_key(|(wish, _)| (now != Some(*wish), leads_on(wish)));
    } else {
        let last = next.map(|next| next.family);
        let place = |wish: &Wish| families.iter().position(|it| *it == wish.family);
        let is_last = |wish: &Wish| last == Some(wish.family);
        wishes.sort_by_key(|(wish, _)| (is_last(wish), place(wish), leads_on(wish)));
    }
    wishes
}

/// A pass that reads among a crowd.
#[derive(Clone, Copy, Debug)]
struct Reader {
    pass: u32,
    crowd: u32,
    wish: Wish,
}

/// All crowds of a frame, and who is in them.
#[derive(Debug, Default)]
struct Crowds {
    list: Vec<Crowd>,
    /// By pass.
    readers: Vec<Reader>,
}

impl Crowds {
    fn new(
        frame: &Frame,
        topology: &Topology,
        touches: &Touches,
        queues: &[Option<QueueIndex>],
    ) -> Self {
        let has_families = topology.family_count() > 1;
        let mut crowds = Self::default();
        let mut users: Vec<User> = Vec::new();
        for (span, members) in touches.spans() {
            let resource = frame.resource(span.resource);
            let is_owned = has_families && resource.sharing == Sharing::Exclusive;
            if !is_owned && !resource.is_image() || members.len() < 2 {
                continue;
            }
            users.clear();
            // The host owns nothing, and culled passes use nothing.
            users.extend(members.iter().filter_map(|member| {
                let one = &frame.uses[member.one as usize];
                let queue = queues[member.pass as usize]?;
                let wish = Wish {
                    family: is_owned.then(|| topology.family(queue)),
                    layout: match resource.is_image() {
                        true => one.access.layout(),
                        false => Layout::Undefined,
                    },
                };
                Some(User {
                    pass: member.pass,
                    queue,
                    wish,
                    writes: member.writes,
                    discards: one.discard,
                })
            }));
            crowds.add(resource.lifetime, topology, &users);
        }
        crowds.readers.sort_by_key(|reader| reader.pass);
        crowds
    }

    /// Adds the crowds of a span, of which the users are given in order.
    fn add(&mut self, lifetime: Lifetime, topology: &Topology, users: &[User]) {
        // Frames repeat: before the first comes the last, and the other way round.
        let repeats = |user: &&User| lifetime == Lifetime::Persistent && !user.discards;
        let first = users.first().filter(repeats);
        let end = match lifetime {
            Lifetime::Swapchain => presented(topology),
            _ => first.map(|user| user.wish),
        };
        let mut now = first.and(users.last()).map(|user| user.wish);
        let mut rest = users;
        while !rest.is_empty() {
            let count = rest.iter().take_while(|user| !user.writes).count();
            let (readers, behind) = rest.split_at(count);
            let next = match behind.first() {
                Some(writer) => Some(writer.wish).filter(|_| !writer.discards),
                None => end,
            };
            self.gather(readers, now, next);
            now = behind.first().map(|writer| writer.wish);
            rest = behind.get(1..).unwrap_or_default();
        }
    }

    /// Adds a crowd, if the readers wish for different things.
    fn gather(&mut self, readers: &[User], now: Option<Wish>, next: Option<Wish>) {
        if readers.iter().all(|user| user.wish == readers[0].wish) {
            return;
        }
        let mut crowd = Crowd {
            wishes: sorted(readers, now, next),
            waiting: Vec::new(),
        };
        let mut last = None;
        for User { pass, wish, .. } in readers {
            if last.replace(*pass) == Some(*pass) {
                continue;
            }
            let mut known = crowd.wishes.iter_mut();
            if let Some((_, left)) = known.find(|(known, _)| known == wish) {
                *left += 1;
            }
            self.readers.push(Reader {
                pass: *pass,
                crowd: self.list.len() as u32,
                wish: *wish,
            });
        }
        self.list.push(crowd);
    }

    /// The passes one by one: of those that can begin and need not let others go first, the one
    /// that comes first in `order`; if all let others go first, the first of them.
    fn order(mut self, graph: &Graph, order: &[u32]) -> Vec<u32> {
        let rank = ranks(order);
        let mut missing: Vec<u32> = (0..order.len() as u32)
            .map(|pass| graph.before(pass).len() as u32)
            .collect();
        let can_begin = order.iter().filter(|pass| missing[**pass as usize] == 0);
        let mut ready: BinaryHeap<Reverse<u32>> = can_begin
            .map(|pass| Reverse(rank[*pass as usize]))
            .collect();
        let mut waiting: BTreeSet<u32> = BTreeSet::new();
        let mut clustered = Vec::with_capacity(order.len());
        loop {
            let (pass, must) = match ready.pop() {
                Some(Reverse(at)) => (order[at as usize], false),
                None => match waiting.pop_first() {
                    Some(at) => (order[at as usize], true),
                    None => return clustered,
                },
            };
            if !must && let Some(crowd) = self.deferred(pass) {
                self.list[crowd as usize].waiting.push(pass);
                waiting.insert(rank[pass as usize]);
                continue;
            }
            clustered.push(pass);
            for woken in self.enter(pass) {
                let at = rank[woken as usize];
                if waiting.remove(&at) {
                    ready.push(Reverse(at));
                }
            }
            for next in graph.after(pass) {
                missing[*next as usize] -= 1;
                if missing[*next as usize] == 0 {
                    ready.push(Reverse(rank[*next as usize]));
                }
            }
        }
    }

    /// Where a pass reads among crowds.
    fn readers_of(&self, pass: u32) -> std::ops::Range<usize> {
        let first = self.readers.partition_point(|it| it.pass < pass);
        let count = self.readers[first..].partition_point(|it| it.pass == pass);
        first..first + count
    }

    /// A crowd in which a pass had better let others go first.
    fn deferred(&self, pass: u32) -> Option<u32> {
        let mut readers = self.readers[self.readers_of(pass)].iter();
        let defers = |it: &&Reader| self.list[it.crowd as usize].defers(it.wish);
        readers.find(defers).map(|reader| reader.crowd)
    }

    /// A pass takes its turn; gives those who let it go first, if it was the last of its kind.
    fn enter(&mut self, pass: u32) -> Vec<u32> {
        let mut woken = Vec::new();
        for at in self.readers_of(pass) {
            let Reader { crowd, wish, .. } = self.readers[at];
            let crowd = &mut self.list[crowd as usize];
            let known = crowd.wishes.iter_mut().find(|(known, _)| *known == wish);
            if let Some((_, left)) = known {
                *left -= 1;
                if *left == 0 {
                    woken.append(&mut crowd.waiting);
                }
            }
        }
        woken
    }
}

/// How images of swapchains have to be left: with a family that can present.
fn presented(topology: &Topology) -> Option<Wish> {
    let mut queues = topology.queues.iter();
    let queue = queues.find(|queue| queue.can_present && !queue.is_foreign())?;
    Some(Wish {
        family: (topology.family_count() > 1).then_some(queue.family),
        layout: Layout::PresentSrc,
    })
}
