//! Fuzz targets, which panic if a guarantee is violated.
//!
//! - [`text`]: parses the bytes as topology, frames and plans, and judges them. This
//!   may end in errors or violations, but never in a panic; and parsed text must round-trip.
//! - [`frames`]: the bytes choose a topology and frames, valid or not. The solver
//!   rejects a frame or plans it, and the judge must accept the plan.
//!
//! A fuzzer calls these targets with its bytes; a test runs them on the cases of `quadrille_sync`,
//! changed at random by seed: `cargo test -p quadrille_oracle --test fuzz`.

use quadrille_sync::dot;
use quadrille_sync::frame::Frame;
use quadrille_sync::planner::{Planned, Planner};
use quadrille_sync::states::States;
use quadrille_sync::text::{parse_frame, parse_plan, parse_topology};
use quadrille_sync::topology::Topology;

use crate::judge::Judge;
use crate::sequence::Sequence;
use crate::shrink::shrink;

mod choose;

use choose::Choices;

/// Parses and judges a text. Its expected form is that of the solver's cases: `topology ...`, then
/// sections that begin with `=== frame`, `=== same` and `=== plan`. Any other text must give errors.
///
/// # Panics
/// If parser, solver or judge panic, or parsed text does not round-trip.
pub fn text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut sections = text.split("=== ");
    let head = sections.next().unwrap_or_default();
    let _ = parse_frame(&text);
    let mut lines = head.lines().map(|line| line.strip_prefix("topology "));
    let topology = lines.find_map(|line| parse_topology(line?).ok());
    let topology = topology.unwrap_or_default();
    let again = parse_topology(&topology.to_string());
    if !topology.queues.is_empty() {
        assert_eq!(again.as_ref(), Ok(&topology), "topologies survive text");
    }
    let mut device = Device::new(&topology);
    let mut frame = Frame::default();
    for section in sections {
        let (title, body) = section.split_once('\n').unwrap_or((section, ""));
        match title.trim() {
            "frame" => {
                let Ok(parsed) = parse_frame(body) else {
                    continue;
                };
                let again = parse_frame(&parsed.to_string());
                assert_eq!(again.as_ref(), Ok(&parsed), "frames survive text");
                frame = parsed;
                device.run(&frame, false);
            }
            "same" => device.run(&frame, false),
            // Any plan: violations are allowed, panics are not.
            _ => {
                if let Ok(plan) = parse_plan(body, &frame) {
                    let _ = Judge::new(&topology).frame(&frame, &plan);
                    let _ = plan.counts();
                    let _ = dot(&frame, &topology, &plan);
                    let written = plan.display(&frame, &topology).to_string();
                    let again = parse_plan(&written, &frame);
                    let again = again.map(|plan| plan.display(&frame, &topology).to_string());
                    assert_eq!(again, Ok(written), "plans survive text");
                }
            }
        }
    }
}

/// Plans and judges up to six frames on a topology, all chosen by the bytes.
///
/// # Panics
/// If the solver panics, or the judge objects to a plan.
pub fn frames(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let topology = choices.topology();
    let mut device = Device::new(&topology);
    let mut frames: Vec<Frame> = Vec::new();
    for _ in 0..1 + choices.below(6) {
        let again = choices.below(2) == 0;
        let frame = match frames.last() {
            Some(last) if again => last.clone(),
            last => choices.frame(last, &topology),
        };
        device.run(&frame, true);
        frames.push(frame);
    }
}

/// A solver and a judge, with their states.
struct Device {
    topology: Topology,
    planner: Planner,
    states: States,
    judge: Judge,
    /// All frames that were planned, to shrink and print on failure.
    frames: Vec<Frame>,
}

impl Device {
    fn new(topology: &Topology) -> Self {
        Self {
            topology: topology.clone(),
            planner: Planner::default(),
            states: States::default(),
            judge: Judge::new(topology),
            frames: Vec::new(),
        }
    }

    /// Plans a frame, and commits it unless it is rejected. With `strict` the judge must find no violation.
    fn run(&mut self, frame: &Frame, strict: bool) {
        let planned = self.planner.plan(frame, &self.topology, &self.states);
        let Planned { plan, .. } = match planned {
            Ok(planned) => planned,
            Err(errors) => {
                assert!(!errors.to_string().is_empty(), "errors have a text");
                return;
            }
        };
        self.frames.push(frame.clone());
        let violations = self.judge.frame(frame, &plan);
        if strict && !violations.is_empty() {
            let sequence = Sequence {
                topology: self.topology.clone(),
                imports: Vec::new(),
                frames: self.frames.clone(),
            };
            panic!("at its smallest:\n\n{}", shrink(&sequence).explain());
        }
        let fresh = quadrille_sync::solve::plan(frame, &self.topology, &self.states);
        assert_eq!(fresh.as_ref(), Ok(&*plan), "a cached plan equals a new one");
        self.states.commit(frame, &self.topology, &plan);
    }
}
