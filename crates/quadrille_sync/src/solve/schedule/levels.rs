//! Levels of passes within their submissions: longest dependency chains.

use crate::frame::PassIndex;
use crate::solve::graph::Graph;
use crate::solve::schedule::split::Draft;

/// The level of each pass: one more than the highest level of the passes in the same submission
/// that it depends on. Passes of one level need only one barrier call before them.
pub(in crate::solve) struct Levels {
    levels: Vec<u32>,
    /// The highest level of each submission.
    highest: Vec<u32>,
}

impl Levels {
    /// The levels of so many passes, in an order in which each follows those that it depends on.
    pub(in crate::solve) fn new(count: usize, graph: &Graph, drafts: &[Draft]) -> Self {
        let mut levels = Self {
            levels: vec![0; count],
            highest: Vec::with_capacity(drafts.len()),
        };
        let mut draft_of = vec![usize::MAX; count];
        for (at, draft) in drafts.iter().enumerate() {
            let mut highest = 0;
            for pass in &draft.passes {
                draft_of[pass.0 as usize] = at;
                let before = graph.before(pass.0).iter().map(|from| *from as usize);
                let before = before.filter(|from| draft_of[*from] == at);
                let own = before
                    .map(|from| levels.levels[from] + 1)
                    .max()
                    .unwrap_or(0);
                levels.levels[pass.0 as usize] = own;
                highest = highest.max(own);
            }
            levels.highest.push(highest);
        }
        levels
    }

    /// The level of a pass.
    pub(in crate::solve) fn of(&self, pass: PassIndex) -> u32 {
        self.levels[pass.0 as usize]
    }

    /// The highest level of a submission.
    pub(in crate::solve) fn highest(&self, draft: usize) -> u32 {
        self.highest[draft]
    }
}
