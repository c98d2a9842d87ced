use super::*;
use crate::rounds::rounds;

fn graph(passes: usize, edges: &[(u32, u32)]) -> Graph {
    Graph::of(passes, edges.iter().copied())
}

#[test]
fn declaration_order_is_kept_where_edges_allow() {
    assert_eq!(graph(3, &[]).sort(), [0, 1, 2]);
    assert_eq!(graph(3, &[(2, 0)]).sort(), [1, 2, 0]);
}

#[test]
fn late_passes_come_behind_all_that_need_not_come_after_them() {
    let is_late = |pass| pass == 0 || pass == 2;
    assert_eq!(graph(4, &[]).sort_late(is_late), [1, 3, 0, 2]);
    assert_eq!(graph(4, &[(0, 3)]).sort_late(is_late), [1, 0, 3, 2]);
}

#[test]
fn passes_that_depend_on_a_cycle_are_not_part_of_it() {
    // 0 -> 1 -> 2 -> 1, 2 -> 3
    let graph = graph(4, &[(0, 1), (1, 2), (2, 1), (2, 3)]);
    let sorted = graph.sort();
    assert_eq!(sorted, [0]);
    let ends: Vec<_> = graph
        .cycle(&sorted)
        .iter()
        .map(|edge| (edge.from, edge.to))
        .collect();
    assert_eq!(ends, [(1, 2), (2, 1)]);
}

#[test]
fn a_pass_after_itself_is_a_cycle() {
    let graph = graph(1, &[(0, 0)]);
    assert_eq!(graph.cycle(&graph.sort()).len(), 1);
}

/// Compares with a search of all paths, with more passes than one block of sources.
#[test]
fn reachability_agrees_with_a_search() {
    let count = 1300_u32;
    let mut seed = 7_u64;
    let mut random = |below: u32| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as u32 % below
    };
    let mut edges = Vec::new();
    for to in 1..count {
        for _ in 0..random(3) {
            edges.push((to - 1 - random(to.min(40)), to));
        }
    }
    let graph = graph(count as usize, &edges);
    let pairs: Vec<_> = (0..rounds(4000))
        .map(|_| (random(count), random(count)))
        .collect();
    let answers = graph.reaches(&graph.sort(), &pairs);
    for ((from, to), answer) in pairs.iter().zip(answers) {
        let mut seen = vec![false; count as usize];
        let mut open = graph.after(*from).to_vec();
        while let Some(pass) = open.pop() {
            if !std::mem::replace(&mut seen[pass as usize], true) {
                open.extend(graph.after(pass));
            }
        }
        assert_eq!(answer, seen[*to as usize], "{from} to {to}");
    }
}
