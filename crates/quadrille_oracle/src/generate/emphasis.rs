//! Emphasis of a sequence: the frequency of features.
//!
//! With the same frequencies everywhere, rare features would hardly ever combine. So most sequences
//! leave some features out and have others often (Groce et al., "Swarm Testing", 2012).

use quadrille_sync::access::Access;
use quadrille_sync::flags::Layout;
use quadrille_sync::topology::{QueueIndex, Topology};

use crate::random::Random;

/// Frequency of features in the frames of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Emphasis {
    /// Percent of passes that run on the host.
    pub(super) hosts: usize,
    /// Percent of passes that are fixed to a queue.
    pub(super) fixed: usize,
    /// The queues that passes are fixed to.
    pub(super) queues: Vec<QueueIndex>,
    /// Percent of uses that are directed to the last resource, besides random hits.
    pub(super) hot: usize,
    /// Percent of uses that are made to cover the whole resource, besides random hits.
    pub(super) whole: usize,
    /// Percent of uses that copy a use of the previous pass: the same range, and for reads the same
    /// layout if possible. Creates groups of readers on several queues, followed by a writer.
    pub(super) flock: usize,
    /// Percent of frames in which passes wait for values of users' timelines and signal them.
    pub(super) timelines: usize,
    /// The layout that is read most.
    pub(super) layout: Option<Layout>,
}

impl Emphasis {
    /// Chooses the frequencies: all features moderately, or in most sequences some often and others
    /// never.
    pub(super) fn new(random: &mut Random, topology: &Topology) -> Self {
        let queues: Vec<QueueIndex> = (0..topology.queues.len() as u8).map(QueueIndex).collect();
        let mut made = Self {
            hosts: 4,
            fixed: 20,
            queues,
            hot: 0,
            whole: 0,
            flock: 0,
            timelines: 10,
            layout: None,
        };
        if random.chance(40) {
            return made;
        }
        let mut one_of = |choices: &[usize]| random.pick(choices).copied().unwrap_or_default();
        made.hosts = one_of(&[0, 4, 35]);
        made.fixed = one_of(&[0, 20, 80]);
        made.hot = one_of(&[0, 40, 80]);
        made.whole = one_of(&[0, 50, 100]);
        made.flock = one_of(&[0, 50, 85]);
        made.timelines = one_of(&[0, 0, 80]);
        let layouts = [
            None,
            Some(Layout::General),
            Some(Layout::ShaderReadOnlyOptimal),
        ];
        made.layout = random.pick(&layouts).copied().flatten();
        random.shuffle(&mut made.queues);
        made.queues.truncate(random.between(1, 4));
        made
    }

    /// Chooses an access: most often a read in the layout `flock` of the previous uses, or else in the
    /// preferred layout.
    pub(super) fn access(
        &self,
        random: &mut Random,
        choices: &[Access],
        flock: Option<Layout>,
    ) -> Option<Access> {
        let wanted = flock.or(self.layout).filter(|_| random.chance(70));
        let reads: Vec<Access> = choices
            .iter()
            .copied()
            .filter(|access| !access.is_write() && Some(access.layout()) == wanted)
            .collect();
        random
            .pick(&reads)
            .or_else(|| random.pick(choices))
            .copied()
    }
}
