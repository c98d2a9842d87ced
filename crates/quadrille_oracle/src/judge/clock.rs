//! Clocks: execution dependencies of each stage of a queue, as vector clocks.
//!
//! A first synchronization scope includes all commands earlier in submission order, in given stages.
//! So the dependencies of a stage of a queue are one position for each stage of its own queue, and
//! one position for every other queue (a semaphore signal waits for all stages). A dependency chain
//! exists if the second scope of one dependency intersects the first scope of the next, stage by
//! stage (section "Execution and Memory Dependencies").

use quadrille_sync::flags::Stages;

use crate::stages::{COMMAND, EVERY, STAGE_COUNT};

/// A position in a column of the clocks: of a step on a queue, or the number of acquires of a
/// swapchain image, which has a column of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instant {
    pub(crate) column: usize,
    pub(crate) position: u32,
}

/// End of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// Accesses of a pass: complete when **all** of these stages are.
    Stages(Instant, Stages),
    /// A barrier or a semaphore wait: anything ordered after **any** of these stages of its second
    /// scope is ordered after it.
    Dependency(Instant, Stages),
}

impl Done {
    pub(crate) fn instant(&self) -> Instant {
        let (Done::Stages(instant, _) | Done::Dependency(instant, _)) = self;
        *instant
    }
}

/// The operations that a stage of a queue, or a dependency on it, is ordered after.
#[derive(Clone, Debug)]
pub(crate) struct View {
    column: usize,
    /// The stage of the view; it is ordered after dependencies with this stage in their second scope.
    stage: Stages,
    /// The last position, by stage of its own queue.
    own: [u32; STAGE_COUNT],
    /// The last position on other queues, by column.
    others: Vec<u32>,
}

impl View {
    /// A view that is ordered after nothing.
    pub(crate) fn blank(column: usize) -> Self {
        Self {
            column,
            stage: Stages::empty(),
            own: [0; STAGE_COUNT],
            others: Vec::new(),
        }
    }

    /// Whether the view is ordered after the end of an operation.
    pub(crate) fn sees(&self, done: &Done) -> bool {
        let Instant { column, position } = done.instant();
        if column != self.column {
            return self
                .others
                .get(column)
                .is_some_and(|seen| *seen >= position);
        }
        let seen = |stage: Stages| self.own[index(stage)] >= position;
        match done {
            Done::Stages(_, stages) => each(*stages).all(seen),
            Done::Dependency(_, stages) => stages.intersects(self.stage) || each(*stages).any(seen),
        }
    }

    /// Whether the view is ordered after an instant in all stages.
    pub(crate) fn reaches(&self, instant: Instant) -> bool {
        self.sees(&Done::Stages(instant, EVERY | COMMAND))
    }

    /// This view, restricted to some stages of its own queue.
    pub(crate) fn of_stages(mut self, stages: Stages) -> Self {
        for (at, own) in self.own.iter_mut().enumerate() {
            if stages.bits() & (1 << at) == 0 {
                *own = 0;
            }
        }
        self
    }

    fn join(&mut self, other: &View) {
        for (mine, theirs) in self.own.iter_mut().zip(&other.own) {
            *mine = (*mine).max(*theirs);
        }
        self.join_others(&other.others);
    }

    fn join_others(&mut self, others: &[u32]) {
        if self.others.len() < others.len() {
            self.others.resize(others.len(), 0);
        }
        for (mine, theirs) in self.others.iter_mut().zip(others) {
            *mine = (*mine).max(*theirs);
        }
    }
}

/// Operations that a semaphore signal is ordered after: by column, everything up to a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signalled {
    columns: Vec<u32>,
}

impl Signalled {
    /// A signal of an event outside of queues.
    pub(crate) fn of(instant: Instant) -> Self {
        let mut columns = vec![0; instant.column + 1];
        columns[instant.column] = instant.position;
        Self { columns }
    }

    /// Whether the signal is ordered after an instant in all stages.
    pub(crate) fn reaches(&self, instant: Instant) -> bool {
        self.columns
            .get(instant.column)
            .is_some_and(|seen| *seen >= instant.position)
    }

    /// Adds the operations of another signal.
    pub(crate) fn join(&mut self, other: &Signalled) {
        if self.columns.len() < other.columns.len() {
            self.columns.resize(other.columns.len(), 0);
        }
        for (mine, theirs) in self.columns.iter_mut().zip(&other.columns) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Returns the view of a wait for the signal on a queue, or on the host (a column without a queue).
    pub(crate) fn view(&self, column: usize) -> View {
        let own = self.columns.get(column).copied().unwrap_or(0);
        View {
            column,
            stage: Stages::empty(),
            own: [own; STAGE_COUNT],
            others: self.columns.clone(),
        }
    }
}

/// By stage: the operations that the next command of a queue is ordered after.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    column: usize,
    rows: Vec<View>,
}

impl Clock {
    /// The clock of a queue without dependencies.
    pub(crate) fn new(column: usize) -> Self {
        let row = |index: usize| View {
            stage: Stages::from_bits_retain(1 << index),
            ..View::blank(column)
        };
        Self {
            column,
            rows: (0..STAGE_COUNT).map(row).collect(),
        }
    }

    /// Returns the view of work in one stage.
    pub(crate) fn stage(&self, stage: Stages) -> &View {
        &self.rows[index(stage)]
    }

    /// Returns the view of a dependency with these stages in its first scope, recorded at `position`.
    pub(crate) fn first_scope(&self, stages: Stages, position: u32) -> View {
        let mut view = View::blank(self.column);
        for stage in each(stages) {
            view.join(self.stage(stage));
        }
        // Everything before the call; barriers of the same call do not chain.
        for stage in each(stages) {
            view.own[index(stage)] = position.saturating_sub(1);
        }
        view
    }

    /// Orders these stages of all later commands after the operations of `view`.
    pub(crate) fn order_after(&mut self, stages: Stages, view: &View) {
        for stage in each(stages) {
            self.rows[index(stage)].join(view);
        }
    }

    /// Returns the view of a signal at `position`: everything before it on the queue, with its dependencies.
    pub(crate) fn signal(&self, position: u32) -> Signalled {
        let mut all = View::blank(self.column);
        for row in &self.rows {
            all.join_others(&row.others);
        }
        let mut columns = all.others;
        if columns.len() <= self.column {
            columns.resize(self.column + 1, 0);
        }
        columns[self.column] = position;
        Signalled { columns }
    }
}

/// The single stages of a mask, unnamed ones too.
fn each(stages: Stages) -> impl Iterator<Item = Stages> {
    let bits = stages.bits();
    (0..STAGE_COUNT)
        .filter(move |at| bits & (1 << at) != 0)
        .map(|at| Stages::from_bits_retain(1 << at))
}

/// The row of a single stage.
fn index(stage: Stages) -> usize {
    (stage.bits().trailing_zeros() as usize).min(STAGE_COUNT - 1)
}
