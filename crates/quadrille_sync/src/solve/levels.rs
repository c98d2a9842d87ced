//! How deep passes lie in their submissions.

use super::graph::Graph;
use super::split::Draft;
use crate::frame::PassIndex;

/// What passes depend on.
pub(super) trait Before {
    /// The passes right before a pass.
    fn before(&self, pass: u32) -> &[u32];
}

impl Before for Graph {
    fn before(&self, pass: u32) -> &[u32] {
        Graph::before(self, pass)
    }
}

/// The level of each pass: one more than the highest level of the passes in the same submission that
/// it depends on, and no less than its minimum. Passes of one level need only one barrier call
/// before them.
pub(super) struct Levels {
    levels: Vec<u32>,
    minimum: Vec<u32>,
    /// The submission of each pass.
    draft_of: Vec<u32>,
    /// The highest level of each submission.
    highest: Vec<u32>,
    /// There is one submission, and it has all passes.
    is_whole: bool,
}

impl Levels {
    /// The levels of so many passes that are in an order in which each comes after what it depends on.
    pub(super) fn new(count: usize, graph: &impl Before, drafts: &[Draft]) -> Self {
        let mut levels = Self {
            levels: vec![0; count],
            minimum: vec![0; count],
            draft_of: vec![u32::MAX; count],
            highest: vec![0; drafts.len()],
            is_whole: false,
        };
        for (at, draft) in (0..).zip(drafts) {
            for pass in &draft.passes {
                levels.draft_of[pass.0 as usize] = at;
            }
            levels.find(graph, at as usize, draft);
        }
        levels
    }

    /// Levels that are known already, of all passes in one submission.
    pub(super) fn known(levels: Vec<u32>, highest: u32) -> Self {
        let count = levels.len();
        Self {
            levels,
            minimum: vec![0; count],
            draft_of: vec![0; count],
            highest: vec![highest],
            is_whole: true,
        }
    }

    /// Finds the levels of one submission anew.
    pub(super) fn find(&mut self, graph: &impl Before, at: usize, draft: &Draft) {
        self.highest[at] = 0;
        let is_whole = self.is_whole;
        for pass in &draft.passes {
            let mut own = self.minimum[pass.0 as usize];
            for from in graph.before(pass.0) {
                if is_whole || self.draft_of[*from as usize] == at as u32 {
                    own = own.max(self.levels[*from as usize] + 1);
                }
            }
            self.levels[pass.0 as usize] = own;
            self.highest[at] = self.highest[at].max(own);
        }
    }

    /// The level of a pass.
    pub(super) fn of(&self, pass: PassIndex) -> u32 {
        self.levels[pass.0 as usize]
    }

    /// The submission of a pass.
    pub(super) fn draft_of(&self, pass: PassIndex) -> Option<usize> {
        let draft = self.draft_of[pass.0 as usize];
        (draft != u32::MAX).then_some(draft as usize)
    }

    /// The highest level of a submission.
    pub(super) fn highest(&self, draft: usize) -> u32 {
        self.highest[draft]
    }

    /// Says where a pass may be at the earliest; to be followed by [`Levels::find`].
    pub(super) fn set_minimum(&mut self, pass: PassIndex, minimum: u32) {
        self.minimum[pass.0 as usize] = minimum;
    }
}
