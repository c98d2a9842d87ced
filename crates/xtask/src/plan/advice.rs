//! Advice for faster frames: passes on other queues, and resources shared between families.

use quadrille_sync::advise::{advise, advise_sharing};
use quadrille_sync::frame::Frame;
use quadrille_sync::plan::{Counts, Plan};
use quadrille_sync::states::States;
use quadrille_sync::topology::Topology;

/// Estimates the time that moving passes to other queues would save, by the costs in the file.
pub(super) fn passes(frame: &Frame, topology: &Topology, plan: &Plan) -> String {
    let cost = |pass| u64::from(frame.pass(pass).cost_us);
    let mut text = String::new();
    for advice in advise(frame, topology, plan, cost) {
        let to: Vec<String> = advice.to.iter().map(|queue| queue.0.to_string()).collect();
        text += &format!(
            "{} takes {} us on queue {}; on queue {} it could save up to {} us\n",
            frame.pass(advice.pass).name,
            advice.cost_us,
            advice.queue.0,
            to.join(" or "),
            advice.saves_us,
        );
    }
    if text.is_empty() {
        "no pass could save anything on another queue (costs are those in the file)".into()
    } else {
        text
    }
}

/// Estimates the effect of sharing resources, if the frame repeats.
pub(super) fn sharing(frame: &Frame, topology: &Topology, states: &States) -> String {
    let cost = |pass| u64::from(frame.pass(pass).cost_us);
    let mut text = String::new();
    for advice in advise_sharing(frame, topology, states, cost) {
        let (now, then) = (advice.exclusive, advice.concurrent);
        let verdict = if advice.is_cheaper() {
            "cheaper as far as plans show it"
        } else {
            "not cheaper"
        };
        text += &format!(
            "{} shared (`concurrent`): {verdict}; {}, {} us instead of {} us\n",
            frame.resource(advice.resource).name,
            changes(&now.counts, &then.counts),
            then.length_us,
            now.length_us,
        );
    }
    if text.is_empty() {
        "no resource changes its family when this frame repeats".into()
    } else {
        text
    }
}

/// Lists the counts that differ.
fn changes(now: &Counts, then: &Counts) -> String {
    let rows = [
        ("submissions", now.submissions, then.submissions),
        ("barrier calls", now.barrier_calls, then.barrier_calls),
        ("barriers", now.barriers, then.barriers),
        ("waits", now.semaphore_waits, then.semaphore_waits),
        (
            "transfers",
            now.ownership_transfers,
            then.ownership_transfers,
        ),
    ];
    let differ = rows.iter().filter(|(_, now, then)| now != then);
    let words: Vec<String> = differ
        .map(|(what, now, then)| format!("{then} {what} instead of {now}"))
        .collect();
    words.join(", ")
}
