//! Levels of passes within their submissions: longest dependency chains.

use crate::solve::graph::Graph;
use crate::solve::schedule::split::Draft;

/// Returns the level of each of `count` passes: one more than the highest level of the passes in the
/// same submission that it depends on. Passes of one level need only one barrier call before them.
/// In each submission, passes must follow those that they depend on.
pub(crate) fn levels(count: usize, graph: &Graph, drafts: &[Draft]) -> Vec<u32> {
    let mut levels = vec![0; count];
    let mut draft_of = vec![usize::MAX; count];
    for (at, draft) in drafts.iter().enumerate() {
        for pass in &draft.passes {
            draft_of[pass.0 as usize] = at;
            let before = graph.before(pass.0).iter().map(|from| *from as usize);
            let before = before.filter(|from| draft_of[*from] == at);
            let level = before.map(|from| levels[from] + 1).max();
            levels[pass.0 as usize] = level.unwrap_or(0);
        }
    }
    levels
}
