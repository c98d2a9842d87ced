use quadrille_sync::topology::Capabilities;

use super::{Family, choose, narrow};
use crate::instance::settings::WantedQueue;

const ALL: [WantedQueue; 3] = [
    WantedQueue::MAIN,
    WantedQueue::ASYNC_COMPUTE,
    WantedQueue::TRANSFER,
];

fn family(letters: &str, count: u32) -> Family {
    let capabilities = narrow(&ALL, letters).unwrap()[0].capabilities;
    let can_present = capabilities.contains(Capabilities::GRAPHICS);
    Family {
        capabilities,
        count,
        can_present,
    }
}

/// Checks a choice of queues. `families` are like `gct:16 t:2`; the result is a list of `family.index`.
fn check(families: &str, wishes: &[WantedQueue], expected: &str) {
    let families: Vec<_> = families
        .split_whitespace()
        .map(|word| word.split_once(':').unwrap())
        .map(|(letters, count)| family(letters, count.parse().unwrap()))
        .collect();
    let topology = choose(&families, wishes);
    let words: Vec<_> = topology
        .queues
        .iter()
        .map(|queue| format!("{}.{}", queue.family.0, queue.index))
        .collect();
    assert_eq!(words.join(" "), expected, "families {families:?}");
}

#[test]
fn one_queue_grants_one_wish() {
    check("gct:1", &ALL, "0.0");
}

#[test]
fn nvidia_has_a_family_for_each() {
    check("gcts:16 ts:2 cts:8 tsd:1 tse:1 tso:1", &ALL, "0.0 2.0 1.0");
}

#[test]
fn amd_has_compute_and_a_copy_engine() {
    check("gcts:1 cts:4 ts:2", &ALL, "0.0 1.0 2.0");
}

#[test]
fn siblings_serve_where_there_is_one_family() {
    check("gct:4", &ALL, "0.0 0.1 0.2");
}

#[test]
fn transfer_falls_back_to_a_compute_queue() {
    check("gct:1 ct:2", &ALL, "0.0 1.0 1.1");
    check("gct:1 ct:1", &ALL, "0.0 1.0");
}

#[test]
fn a_queue_is_taken_once() {
    check("gct:1 ct:1", &[WantedQueue::ASYNC_COMPUTE; 5], "0.0 1.0");
}

#[test]
fn implied_transfer_counts() {
    check("gc:1 c:1", &ALL, "0.0 1.0");
}

#[test]
fn main_prefers_the_family_that_presents() {
    let mut first = family("gct", 1);
    first.can_present = false;
    let topology = choose(&[first, family("gct", 1)], &[WantedQueue::MAIN]);
    assert_eq!(topology.queues[0].family.0, 1);
}

#[test]
fn a_queue_that_presents_comes_besides() {
    let families = |letters: &str| {
        let mut main = family("gct", 1);
        main.can_present = false;
        let mut other = family(letters, 1);
        other.can_present = true;
        [main, other]
    };
    let taken = |letters, wishes: &[WantedQueue]| {
        let topology = choose(&families(letters), wishes);
        let queues = topology.queues.iter();
        queues.map(|queue| queue.family.0).collect::<Vec<_>>()
    };
    assert_eq!(taken("ct", &[WantedQueue::MAIN]), [0, 1], "nobody asked");
    assert_eq!(taken("ct", &ALL), [0, 1], "it came by a wish");
    assert_eq!(taken("s", &ALL), [0], "it could not take an image over");
    let wishes = [WantedQueue::MAIN; 64];
    let mut many = families("t");
    many[0].count = 64;
    let topology = choose(&many, &wishes);
    assert_eq!(
        topology.queues.len(),
        quadrille_sync::topology::Topology::MAX_QUEUES
    );
    assert!(topology.queues.iter().any(|queue| queue.can_present));
}

#[test]
fn main_falls_back_to_compute() {
    check("ct:8 t:2", &ALL, "0.0 0.1 1.0");
    check("g:1 c:1", &[WantedQueue::MAIN], "0.0");
}

#[test]
fn nothing_fits_gives_nothing() {
    check("d:1", &ALL, "");
    check("gct:0", &ALL, "");
}

#[test]
fn at_most_max_queues() {
    let topology = choose(&[family("gct", 64)], &[WantedQueue::MAIN; 64]);
    assert_eq!(
        topology.queues.len(),
        quadrille_sync::topology::Topology::MAX_QUEUES
    );
}

#[test]
fn narrowing_by_number_and_by_letters() {
    assert_eq!(narrow(&ALL, "1").unwrap(), [WantedQueue::MAIN]);
    assert_eq!(narrow(&ALL, "9").unwrap(), ALL);
    assert_eq!(
        narrow(&ALL, "gct,ct").unwrap(),
        [WantedQueue::MAIN, WantedQueue::ASYNC_COMPUTE]
    );
    for bad in ["0", "", "gx", "gct,,t", "-1"] {
        assert!(narrow(&ALL, bad).is_err(), "{bad:?} is read");
    }
}
