//! Frames and the plans they must give, as text files in `cases/`.
//!
//! A case begins with a comment that draws it, then `topology TEXT`, then one or more frames, each
//! `=== frame` with the frame and `=== plan` with what is expected: the plan, or the errors. A
//! frame that is `=== same` repeats the one before it. `=== plan reused` stands for a plan that the
//! planner has found to fit again. Each plan is committed before the next frame.
//!
//! The comment also derives by hand how little each frame can do with. A plan that needs less is a
//! failure, and so is more than a few percent in all cases together; see `derived`.
//!
//! `BLESS=1 cargo test -p quadrille_sync --test cases` writes what is into the files, to be read
//! before it is believed.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use quadrille_sync::frame::Frame;
use quadrille_sync::planner::{Planned, Planner};
use quadrille_sync::states::States;
use quadrille_sync::text::{parse_frame, parse_plan, parse_topology};
use quadrille_sync::topology::Topology;

mod derived;

use derived::{Derived, Least, NOUNS};

/// How much more than the least plans have in all cases together, in percent.
const MORE_PERCENT: u32 = 1;

/// A case with the plans that the solver gives: what `file` should be; and where its plans are not
/// what its head derives.
fn check(name: &str, file: &str) -> (String, Derived) {
    let mut sections = file.split("=== ");
    let head = sections.next().unwrap_or_default();
    let topology = head.lines().find_map(|line| line.strip_prefix("topology "));
    let topology = topology.unwrap_or_else(|| panic!("{name}: no topology"));
    let topology = parse_topology(topology).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut derived = Derived::read(head);
    let mut number = 0;
    let mut result = format!("{}\n", head.trim_end());
    let (mut planner, mut states) = (Planner::default(), States::default());
    let mut frame = Frame::default();
    for section in sections {
        let (title, body) = section.split_once('\n').unwrap_or((section, ""));
        match title.trim() {
            "frame" => {
                frame = parse_frame(body).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_round_trip(name, &frame);
                write!(result, "\n=== frame\n{}\n", body.trim_end()).unwrap();
            }
            "same" => result.push_str("\n=== same\n"),
            // Expected results; the comparison is the caller's.
            _ => continue,
        }
        number += 1;
        let planned = planner.plan(&frame, &topology, &states);
        let found = planned.as_ref().map(|it| &*it.plan);
        derived.compare(number, Least::of(found));
        match planned {
            Ok(Planned { plan, reused }) => {
                let text = plan.display(&frame, &topology).to_string();
                if reused {
                    result.push_str("\n=== plan reused\n");
                } else {
                    write!(result, "\n=== plan\n{text}").unwrap();
                }
                let again = quadrille_sync::solve::plan(&frame, &topology, &states).unwrap();
                assert_eq!(again, *plan, "{name}: a fresh plan is the same");
                assert_plan_round_trip(name, &text, &frame, &topology);
                states.commit(&frame, &topology, &plan);
            }
            Err(errors) => write!(result, "\n=== plan\n{errors}\n").unwrap(),
        }
    }
    derived.end(number);
    (result, derived)
}

fn assert_round_trip(name: &str, frame: &Frame) {
    let again = parse_frame(&frame.to_string());
    assert_eq!(
        again.as_ref(),
        Ok(frame),
        "{name}: frames survive their text form"
    );
}

fn assert_plan_round_trip(name: &str, text: &str, frame: &Frame, topology: &Topology) {
    let again = parse_plan(text, frame).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    assert_eq!(
        again.display(frame, topology).to_string(),
        text,
        "{name}: plans survive text"
    );
}

#[test]
fn cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no cases in {}", folder.display());
    let mut wrong = String::new();
    let mut sums = [[0; NOUNS.len()]; 2];
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let expected = fs::read_to_string(&path).unwrap();
        let (actual, derived) = check(&name, &expected);
        for (all, one) in sums.iter_mut().zip(derived.sums) {
            all.iter_mut().zip(one).for_each(|(all, one)| *all += one);
        }
        for objection in derived.wrong.lines() {
            writeln!(wrong, "{name}: {objection}").unwrap();
        }
        if actual == expected {
            continue;
        }
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &actual).unwrap();
        } else {
            let at = actual
                .lines()
                .zip(expected.lines())
                .position(|(a, b)| a != b);
            writeln!(
                wrong,
                "{name} differs at line {:?}:\n{actual}",
                at.map(|at| at + 1)
            )
            .unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let [least, found] = sums;
    println!("{NOUNS:?}: {least:?} at the least, {found:?} in plans");
    for (noun, (least, found)) in NOUNS.iter().zip(least.into_iter().zip(found)) {
        let most = least + least * MORE_PERCENT / 100;
        assert!(found <= most, "{found} {noun}s, and {least} at the least");
    }
}

/// Returns the objections to the head of a case of one frame, which copies on one queue.
fn objections(head: &str) -> String {
    let frame = "=== frame\nbuffer a 0 bytes 4\npass fill\n  CopyWrite a\n";
    check("copy", &format!("{head}\ntopology gct:1\n\n{frame}"))
        .1
        .wrong
}

#[test]
fn heads_that_derive_anything_else_are_objected_to() {
    assert_eq!(objections("// Least: 1 submission. Nothing was there."), "");
    let wrong = "frame 1 needs at least 1 submission, 2 waits, and its plan has 1 submission\n";
    assert_eq!(objections("// Least: 1 submission, 2 waits: why?"), wrong);
    let missing = "frame 1 has 0 derivations in the head; its plan has 1 submission\n";
    assert_eq!(objections("// One copy."), missing);
    let beyond = "the head derives frame 3 of 1\n";
    assert_eq!(objections("// Frames 1, 3: 1 submission."), beyond);
    let unreadable = objections("// Frames 1 to 1: 1 submissions");
    assert!(
        unreadable.starts_with("cannot read the counts"),
        "{unreadable}"
    );
}
