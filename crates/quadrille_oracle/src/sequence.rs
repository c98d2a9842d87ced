//! [`Sequence`]: frames that are planned and judged one after the other.

use std::fmt::{self, Display, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use quadrille_sync::PlanErrors;
use quadrille_sync::flags::Layout;
use quadrille_sync::frame::Frame;
use quadrille_sync::plan::Plan;
use quadrille_sync::planner::Planner;
use quadrille_sync::resource::{Resource, ResourceId};
use quadrille_sync::states::States;
use quadrille_sync::topology::{FamilyIndex, Topology};

use crate::judge::Judge;
use crate::violation::Violation;

/// Successive frames on one device. The `Display` form is the text format of cases: the topology, then
/// each frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The queues.
    pub topology: Topology,
    /// Resources that have contents before the first frame.
    pub imports: Vec<Import>,
    /// The frames.
    pub frames: Vec<Frame>,
}

/// A resource with contents that no pass wrote; see `States::import`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The resource.
    pub resource: Resource,
    /// Its current layout.
    pub layout: Layout,
    /// The family that owns it.
    pub owner: Option<FamilyIndex>,
}

/// Failure of a sequence.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The index of the frame, from 0.
    pub frame: usize,
    /// The kind of failure.
    pub kind: FailureKind,
    /// The plan, if there is one.
    pub plan: Option<Arc<Plan>>,
}

/// Kind of failure of a sequence.
#[derive(Clone, Debug)]
pub enum FailureKind {
    /// The solver rejected the frame.
    Refused(PlanErrors),
    /// The judge found violations in the plan.
    Wrong(Vec<Violation>),
    /// The solver panicked.
    Panicked,
}

impl FailureKind {
    /// Whether two failures seem to have the same cause.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (FailureKind::Refused(a), FailureKind::Refused(b)) => {
                let kinds = |errors: &PlanErrors| errors.iter().next().map(std::mem::discriminant);
                kinds(a) == kinds(b)
            }
            (FailureKind::Wrong(a), FailureKind::Wrong(b)) => {
                let first = |violations: &[Violation]| violations.first().map(signature);
                first(a) == first(b)
            }
            (FailureKind::Panicked, FailureKind::Panicked) => true,
            _ => false,
        }
    }
}

/// Returns the kind of a violation, without names.
fn signature(violation: &Violation) -> String {
    let detail = match violation {
        Violation::Hazard {
            hazard,
            earlier,
            later,
            missing,
            ..
        } => {
            let (earlier, later) = (
                std::mem::discriminant(earlier),
                std::mem::discriminant(later),
            );
            format!(
                "{hazard:?} {earlier:?} {later:?} {:?}",
                std::mem::discriminant(missing)
            )
        }
        Violation::WrongLayout { actor, .. } => format!("{:?}", std::mem::discriminant(actor)),
        _ => String::new(),
    };
    format!("{:?} {detail}", std::mem::discriminant(violation))
}

impl Sequence {
    /// Plans and judges frame by frame.
    ///
    /// # Errors
    /// The first failure.
    pub fn run(&self) -> Result<(), Failure> {
        let mut planner = Planner::default();
        let (mut states, mut judge) = self.start();
        for (index, frame) in self.frames.iter().enumerate() {
            let fail = |kind, plan| Failure {
                frame: index,
                kind,
                plan,
            };
            let planning = || planner.plan(frame, &self.topology, &states);
            let planned = match catch_unwind(AssertUnwindSafe(planning)) {
                Ok(Ok(planned)) => planned,
                Ok(Err(errors)) => return Err(fail(FailureKind::Refused(errors), None)),
                Err(_) => return Err(fail(FailureKind::Panicked, None)),
            };
            let violations = judge.frame(frame, &planned.plan);
            if !violations.is_empty() {
                return Err(fail(FailureKind::Wrong(violations), Some(planned.plan)));
            }
            states.commit(frame, &self.topology, &planned.plan);
        }
        Ok(())
    }

    /// The states and the judge before the first frame.
    pub fn start(&self) -> (States, Judge) {
        let mut states = States::default();
        let mut judge = Judge::new(&self.topology);
        for import in &self.imports {
            let Import {
                resource,
                layout,
                owner,
            } = import;
            states.import(resource.id, *layout, *owner);
            judge.import(resource, *layout, *owner);
        }
        (states, judge)
    }

    /// Describes all frames with their plans, up to the first frame without a plan.
    pub fn explain(&self) -> String {
        let mut planner = Planner::default();
        let (mut states, mut judge) = self.start();
        let mut text = self.head();
        for frame in &self.frames {
            text += &format!("\n=== frame\n{frame}");
            let planning = || planner.plan(frame, &self.topology, &states);
            match catch_unwind(AssertUnwindSafe(planning)) {
                Ok(Ok(planned)) => {
                    let reused = if planned.reused { " reused" } else { "" };
                    text += &format!("\n=== plan{reused}\n");
                    text += &planned.plan.display(frame, &self.topology).to_string();
                    for violation in judge.frame(frame, &planned.plan) {
                        text += &format!("!!! {violation}\n");
                    }
                    states.commit(frame, &self.topology, &planned.plan);
                }
                Ok(Err(errors)) => return text + &format!("\n!!! {errors}\n"),
                Err(_) => return text + "\n!!! the solver panicked\n",
            }
        }
        text
    }

    fn head(&self) -> String {
        let mut text = format!("topology {}\n", self.topology);
        for Import {
            resource,
            layout,
            owner,
        } in &self.imports
        {
            let ResourceId(id) = resource.id;
            let owner = owner.map_or("nobody".into(), |family| format!("family {family}"));
            text += &format!("// imported: {id} in layout {layout:?}, owned by {owner}\n");
        }
        text
    }
}

impl Display for Sequence {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.head())?;
        for frame in &self.frames {
            write!(out, "\n=== frame\n{frame}")?;
        }
        Ok(())
    }
}
