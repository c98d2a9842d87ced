use std::fs;
use std::path::{Path, PathBuf};

use quadrille_oracle::Random;
use quadrille_sync::solve::plan;
use quadrille_sync::states::States;

use crate::commands::PLAN;

use super::case::{not_text, parse, plans};
use super::{solve, violations};

const TWO_FAMILIES: &str = "\
topology gct:1,ct:1

=== frame
buffer cells 0 bytes 1024
pass simulate requires COMPUTE async
  StorageWriteCompute cells
pass \"a < b\" requires GRAPHICS
  VertexRead cells
";

/// Returns the solver's own cases, by name.
fn cases() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../quadrille_sync/cases");
    let files = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).unwrap())
    };
    paths.into_iter().map(read).collect()
}

/// Runs all commands on a text; the results are ignored.
fn digest(text: &str) {
    let Ok(case) = parse(text, None) else {
        return;
    };

    if let Ok(plans) = plans(&case) {
        violations(&case, &plans);
    }
}

#[track_caller]
fn check_error(text: &str, expected: &str) {
    let error = parse(text, None).and_then(|case| plans(&case)).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn errors_name_place_and_expectation() {
    check_error(
        "",
        "1:1: expected a line such as `topology gct:1`, found nothing",
    );
    check_error(
        "// a\ntopology gct:x\n",
        "2:14: expected a number of queues, found `x`",
    );
    check_error(
        "topology gct:1\n",
        "2:1: expected a section `=== frame`, found nothing",
    );
    check_error(
        "topology gct:1\n== frame\npass a\n",
        "2:1: expected a comment or a section such as `=== frame`, found `== frame`",
    );
    check_error(
        "topology gct:1\n=== fame\n",
        "2:5: expected frame, same, states, plan or plan reused, found `fame`",
    );
    check_error(
        "topology gct:1\n\n=== frame\n\npass a\n  Read b\n",
        "6:3: expected an access or `after`, found `Read`",
    );
    check_error(
        "topology gct:1\n=== frame\npass a\n",
        "2:1: expected a section `=== plan` for this frame, found nothing",
    );
    check_error(
        "topology gct:1\n=== frame\npass a\n=== plan\nsubmit 3 signal 1\n  pass a\n",
        "4:1: expected queues below 1, found `3`",
    );
}

#[test]
fn the_file_in_the_help_is_one() {
    let (_, file) = PLAN.split_once("A file:\n").unwrap();
    let lines = file.lines().take_while(|line| !line.starts_with("All"));
    let lines: Vec<&str> = lines
        .map(|it| it.strip_prefix("  ").unwrap_or(it))
        .collect();
    let case = parse(&lines.join("\n"), None).unwrap();
    assert_eq!(solve(&case).unwrap().len(), 2);
}

/// Captured frames include their initial states.
#[test]
fn captured_frames_are_replayed_alone() {
    let text = "\
topology gct:1,ct:1

=== frame
buffer cells 7 bytes 1024
pass draw requires GRAPHICS
  VertexRead cells

=== states
queue 0 value 12
queue 1 value 9
state cells
  part 0..end owner 1 layout Undefined defined
    write 1 value 9 stages COMPUTE_SHADER access SHADER_STORAGE_WRITE pass simulate
    release 1 to 0 layouts Undefined Undefined bytes 0..1024 by 1 value 9 stages COMPUTE_SHADER access - pass simulate
";
    let case = parse(text, None).unwrap();
    let plans = solve(&case).unwrap();
    assert_eq!(violations(&case, &plans), Vec::<String>::new());
    let plan = plans[0]
        .display(&case.frames[0].frame, &case.topology)
        .to_string();
    assert!(
        plan.contains("wait 1 value 0") && plan.contains("acquire 1 -> 0"),
        "{plan}"
    );
    // Without the states, nothing has written the buffer.
    let (without, _) = text.split_once("=== states").unwrap();
    let case = parse(without, None).unwrap();
    assert!(solve(&case).is_err());
    check_error(
        "topology gct:1\n=== states\n",
        "2:5: expected a frame before its states, found `states`",
    );
    check_error(
        "topology gct:1\n=== frame\npass a\n=== states\nqueue 0 value 1\nstate b\n",
        "6:7: expected a resource, found `b`",
    );
    check_error(
        "topology gct:1\n=== frame\npass a\n=== states\nqueue 0 value 1\nqueue 1 value 1\n",
        "4:5: expected 1 queues, found `2`",
    );
}

#[test]
fn bytes_that_are_no_text_are_pointed_at() {
    let bytes = [&b"topology gct:1\n// \xC3\xA4 "[..], &[0xFF]].concat();
    let error = std::str::from_utf8(&bytes).unwrap_err();
    let error = not_text(&bytes, &error).to_string();
    assert_eq!(error, "2:6: expected text in UTF-8, found byte 0xFF");
}

#[test]
fn the_oracle_has_no_objection_to_the_cases() {
    for (name, text) in cases() {
        if name.starts_with("error_") {
            continue;
        }
        let case = parse(&text, None).unwrap_or_else(|error| panic!("{name}:{error}"));
        // A case may end with a rejected frame, whose plan is a list of errors.
        if let Ok(plans) = plans(&case) {
            let violations = violations(&case, &plans);
            assert!(violations.is_empty(), "{name}: {violations:#?}");
        }
    }
}

#[test]
fn a_plan_without_its_wait_is_objected_to() {
    let case = parse(TWO_FAMILIES, None).unwrap();
    let frame = &case.frames[0].frame;
    let mut plan = plan(frame, &case.topology, &States::default()).unwrap();
    assert!(violations(&case, std::slice::from_ref(&plan)).is_empty());
    for submission in &mut plan.submissions {
        submission.waits.clear();
    }
    assert!(!violations(&case, &[plan]).is_empty());
}

#[test]
fn no_text_makes_the_commands_panic() {
    let mut random = Random::new(0x5eed);
    let cases = cases();
    for (_, text) in &cases {
        for _ in 0..8 {
            let mut bytes = text.as_bytes().to_vec();
            bytes.truncate(random.below(bytes.len() + 1));
            digest(&String::from_utf8_lossy(&bytes));
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..random.between(1, 4) {
                let at = random.below(bytes.len());
                bytes[at] = random.next() as u8;
            }
            digest(&String::from_utf8_lossy(&bytes));
        }
    }
    for _ in 0..500 {
        let length = random.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        digest(&String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn frames_without_plans_are_planned_to_be_judged() {
    let frames =
        "=== frame\nbuffer a 0 bytes 4\npass p requires GRAPHICS\n  CopyWrite a\n=== same\n";
    let case = parse(&format!("topology gct:1\n\n{frames}"), None).unwrap();
    assert!(!case.has_plans());
    let plans = solve(&case).unwrap();
    assert_eq!(plans.len(), 2);
    assert!(violations(&case, &plans).is_empty());
    let second = plans[1].counts().barriers;
    assert_eq!(second, 1, "states were committed in between");
}
