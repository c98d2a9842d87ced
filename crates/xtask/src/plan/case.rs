//! Files of frames and plans in text form, as in `crates/quadrille_sync/cases`.
//!
//! A line `topology TEXT`, followed by alternating sections `=== frame` and `=== plan`. `=== same` repeats the previous
//! frame, and `=== plan reused` repeats the last plan of an equal frame. `=== states` after a frame replaces the states
//! that the earlier frames left.

use std::fmt;
use std::str::Utf8Error;

use quadrille_sync::frame::Frame;
use quadrille_sync::plan::Plan;
use quadrille_sync::states::Snapshot;
use quadrille_sync::text::{ParseError, parse_frame, parse_plan, parse_snapshot, parse_topology};
use quadrille_sync::topology::{QueueIndex, Topology};

/// A parsed file.
#[derive(Debug)]
pub(super) struct Case {
    /// The queues.
    pub(super) topology: Topology,
    /// The frames, in order.
    pub(super) frames: Vec<FrameText>,
}

impl Case {
    /// Whether the file has plans, not only frames.
    pub(super) fn has_plans(&self) -> bool {
        self.frames.iter().any(|frame| frame.plan.is_some())
    }
}

/// A frame, and the text of its plan if the file has one.
#[derive(Debug)]
pub(super) struct FrameText {
    /// The frame.
    pub(super) frame: Frame,
    /// Initial states, if the file has them.
    pub(super) start: Option<Snapshot>,
    /// Line of its section's title, from 1.
    line: usize,
    plan: Option<PlanSection>,
}

#[derive(Debug)]
struct PlanSection {
    body: String,
    line: usize,
    is_reused: bool,
}

/// Error with its position in the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CaseError {
    line: usize,
    column: usize,
    expected: String,
    found: String,
}

impl CaseError {
    fn new(line: usize, column: usize, expected: &str, found: &str) -> Self {
        let found = match found {
            "" => "nothing".into(),
            text => format!("`{text}`"),
        };
        Self {
            line,
            column,
            expected: expected.into(),
            found,
        }
    }

    /// Creates an error in a part of the file that begins after `lines` lines and `columns` columns.
    fn within(error: ParseError, lines: usize, columns: usize) -> Self {
        Self {
            line: error.line + lines,
            column: error.column + columns,
            expected: error.expected,
            found: error.found,
        }
    }
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            column,
            expected,
            found,
        } = self;
        write!(f, "{line}:{column}: expected {expected}, found {found}")
    }
}

/// Creates the error of invalid UTF-8 at its position.
pub(super) fn not_text(bytes: &[u8], error: &Utf8Error) -> CaseError {
    let text = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
    let line = text.matches('\n').count() + 1;
    let column = text.chars().rev().take_while(|c| *c != '\n').count() + 1;
    let found = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
    CaseError {
        line,
        column,
        expected: "text in UTF-8".into(),
        found: format!("byte 0x{found:02X}"),
    }
}

/// Parses a file. `topology`, if given, replaces that of the file.
pub(super) fn parse(text: &str, topology: Option<Topology>) -> Result<Case, CaseError> {
    let sections = sections(text);
    let topology = match topology {
        Some(topology) => topology,
        None => read_topology(sections.first().map_or("", |section| &section.body))?,
    };
    let mut frames: Vec<FrameText> = Vec::new();
    for Section { title, line, body } in sections.into_iter().skip(1) {
        match title {
            "frame" => frames.push(FrameText {
                frame: parse_frame(&body).map_err(|error| CaseError::within(error, line, 0))?,
                start: None,
                line,
                plan: None,
            }),
            "same" => {
                let before = frames.last();
                let before = before
                    .ok_or_else(|| CaseError::new(line, 5, "a frame before `same`", title))?;
                frames.push(FrameText {
                    frame: before.frame.clone(),
                    start: None,
                    line,
                    plan: None,
                });
            }
            "states" => {
                let of = frames
                    .last_mut()
                    .filter(|frame| frame.plan.is_none() && frame.start.is_none());
                let of =
                    of.ok_or_else(|| CaseError::new(line, 5, "a frame before its states", title))?;
                let start = parse_snapshot(&body, &of.frame);
                let start = start.map_err(|error| CaseError::within(error, line, 0))?;
                if start.queues.len() > topology.queues.len() {
                    let expected = format!("{} queues", topology.queues.len());
                    let found = start.queues.len().to_string();
                    return Err(CaseError::new(line, 5, &expected, &found));
                }
                of.start = Some(start);
            }
            "plan" | "plan reused" => {
                let of = frames.last_mut().filter(|frame| frame.plan.is_none());
                let of =
                    of.ok_or_else(|| CaseError::new(line, 5, "a frame before its plan", title))?;
                of.plan = Some(PlanSection {
                    body,
                    line,
                    is_reused: title == "plan reused",
                });
            }
            _ => {
                let expected = "frame, same, states, plan or plan reused";
                return Err(CaseError::new(line, 5, expected, title));
            }
        }
    }
    if frames.is_empty() {
        let end = text.lines().count() + 1;
        return Err(CaseError::new(end, 1, "a section `=== frame`", ""));
    }
    Ok(Case { topology, frames })
}

/// Returns the plans of all frames, one per frame.
pub(super) fn plans(case: &Case) -> Result<Vec<Plan>, CaseError> {
    let mut plans: Vec<Plan> = Vec::new();
    for FrameText {
        frame, line, plan, ..
    } in &case.frames
    {
        let Some(section) = plan else {
            let expected = "a section `=== plan` for this frame";
            return Err(CaseError::new(*line, 1, expected, ""));
        };
        let plan = if section.is_reused {
            let earlier = case.frames.iter().zip(&plans).rev();
            let found = earlier.into_iter().find(|(it, _)| it.frame == *frame);
            let expected = "an earlier plan of an equal frame";
            let (_, plan) =
                found.ok_or_else(|| CaseError::new(section.line, 5, expected, "plan reused"))?;
            plan.clone()
        } else {
            parse_plan(&section.body, frame)
                .map_err(|error| CaseError::within(error, section.line, 0))?
        };
        if let Some(QueueIndex(queue)) = foreign_queue(&plan, &case.topology) {
            let expected = format!("queues below {}", case.topology.queues.len());
            return Err(CaseError::new(
                section.line,
                1,
                &expected,
                &queue.to_string(),
            ));
        }
        plans.push(plan);
    }
    Ok(plans)
}

/// Returns a queue of the plan that the topology does not have.
fn foreign_queue(plan: &Plan, topology: &Topology) -> Option<QueueIndex> {
    let submitted = plan.submissions.iter().flat_map(|submission| {
        let waits = submission.waits.iter().map(|wait| wait.point.queue);
        waits.chain([submission.queue])
    });
    let host = plan.host.iter().flat_map(|step| &step.waits);
    submitted
        .chain(host.map(|point| point.queue))
        .find(|queue| usize::from(queue.0) >= topology.queues.len())
}

/// The text between two titles; the first section is before any title.
struct Section<'a> {
    title: &'a str,
    /// Line of the title, from 1; 0 without a title.
    line: usize,
    body: String,
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections = vec![Section {
        title: "",
        line: 0,
        body: String::new(),
    }];
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(title) = line.strip_prefix("=== ") {
            sections.push(Section {
                title: title.trim_end(),
                line: number,
                body: String::new(),
            });
        } else if let Some(section) = sections.last_mut() {
            section.body.push_str(line);
            section.body.push('\n');
        }
    }
    sections
}

fn read_topology(head: &str) -> Result<Topology, CaseError> {
    const KEYWORD: &str = "topology ";
    let mut topology = None;
    for (number, line) in (1..).zip(head.lines()) {
        if line.trim().is_empty() || line.starts_with("//") {
            continue;
        }
        let expected = match topology {
            None => "a comment or a topology such as `topology gct:1`",
            Some(_) => "a comment or a section such as `=== frame`",
        };
        match line.strip_prefix(KEYWORD).filter(|_| topology.is_none()) {
            Some(rest) => {
                let read = parse_topology(rest.trim_end());
                let error = |error| CaseError::within(error, number - 1, KEYWORD.len());
                topology = Some(read.map_err(error)?);
            }
            None => return Err(CaseError::new(number, 1, expected, line)),
        }
    }
    topology.ok_or_else(|| {
        let end = head.lines().count() + 1;
        CaseError::new(end, 1, "a line such as `topology gct:1`", "")
    })
}
