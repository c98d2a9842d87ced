use quadrille_sync::frame::PassIndex;
use quadrille_sync::plan::{Plan, Step, Submission};
use quadrille_sync::topology::QueueIndex;

use super::{Chunk, cut, of_task, task_count};

/// Submissions as words of `p` (a pass) and `b` (barriers).
fn plan(words: &str) -> Plan {
    let mut next = 0;
    let mut step = |letter: char| match letter {
        'b' => Step::Barriers(Box::default()),
        _ => {
            next += 1;
            Step::Pass(PassIndex(next - 1))
        }
    };
    let submissions = words
        .split_whitespace()
        .map(|word| Submission {
            queue: QueueIndex(0),
            waits: Vec::new(),
            acquires: Vec::new(),
            steps: word
                .chars()
                .filter(|&letter| letter != '-')
                .map(&mut step)
                .collect(),
            signal: 1,
            presents: Vec::new(),
        })
        .collect();
    Plan {
        submissions,
        ..Plan::default()
    }
}

/// Chunks as `submission:start-end` words.
fn check(words: &str, wanted: usize, expected: &str) {
    let cost = |step: &Step| u64::from(matches!(step, Step::Pass(_)));
    let chunks = cut(&plan(words), wanted, cost);
    let text = |chunk: &Chunk| {
        format!(
            "{}:{}-{}",
            chunk.submission, chunk.steps.start, chunk.steps.end
        )
    };
    assert_eq!(
        chunks.iter().map(text).collect::<Vec<_>>().join(" "),
        expected,
        "{words}"
    );
}

#[test]
fn one_chunk_takes_a_submission_whole() {
    check("bpbpp", 1, "0:0-5");
    check("pp bp", 1, "0:0-2 1:0-2");
}

#[test]
fn chunks_are_about_equal() {
    check("pppp", 2, "0:0-2 0:2-4");
    check("ppppp", 2, "0:0-3 0:3-5");
    check("pppp", 4, "0:0-1 0:1-2 0:2-3 0:3-4");
    check("pp", 9, "0:0-1 0:1-2");
}

#[test]
fn barriers_stay_before_their_pass() {
    check("pbp", 2, "0:0-1 0:1-3");
}

#[test]
fn closing_barriers_have_a_place() {
    check("ppb", 2, "0:0-1 0:1-3");
    check("b", 3, "0:0-1");
}

#[test]
fn empty_submissions_need_no_command_buffer() {
    check("- p", 1, "1:0-1");
    check("", 4, "");
}

/// The number of chunks of each task.
fn sizes(words: &str, wanted: usize) -> Vec<usize> {
    let cost = |step: &Step| u64::from(matches!(step, Step::Pass(_)));
    let chunks = cut(&plan(words), wanted, cost);
    let tasks = 0..task_count(&chunks);
    tasks.map(|task| of_task(&chunks, task).len()).collect()
}

#[test]
fn small_submissions_share_a_task() {
    assert_eq!(sizes("p p p p p p", 1), [6], "one thread");
    assert_eq!(sizes("p p p p p p", 2), [3, 3], "two");
    assert_eq!(
        sizes("pppp p p p p", 2),
        [1, 4],
        "a large one and small ones"
    );
    assert_eq!(sizes("pppp", 2), [1, 1], "a submission of several chunks");
    assert_eq!(sizes("", 2), [0; 0], "nothing");
}
