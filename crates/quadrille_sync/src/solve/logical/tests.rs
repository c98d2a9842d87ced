use super::{first_scope, second_scope};
use crate::flags::Stages;

#[test]
fn a_first_scope_holds_logically_earlier_stages() {
    let all = first_scope(Stages::VERTEX_SHADER);
    assert!(all.contains(Stages::DRAW_INDIRECT | Stages::INDEX_INPUT));
    assert!(!all.intersects(Stages::FRAGMENT_SHADER | Stages::MESH_SHADER));
    assert!(first_scope(Stages::COLOR_ATTACHMENT_OUTPUT).contains(Stages::MESH_SHADER));
}

#[test]
fn a_second_scope_holds_logically_later_stages() {
    let all = second_scope(Stages::DRAW_INDIRECT);
    assert!(all.contains(Stages::COMPUTE_SHADER | Stages::RAY_TRACING_SHADER));
    assert!(second_scope(Stages::TASK_SHADER).contains(Stages::FRAGMENT_SHADER));
    assert!(!second_scope(Stages::FRAGMENT_SHADER).intersects(Stages::EARLY_FRAGMENT_TESTS));
}

#[test]
fn transfers_and_builds_are_in_no_order() {
    for stage in [Stages::COPY, Stages::ACCELERATION_STRUCTURE_BUILD] {
        assert_eq!(first_scope(stage), stage);
        assert_eq!(second_scope(stage), stage);
    }
}

#[test]
fn everything_stays_more_than_all_stages_one_by_one() {
    let every = Stages::all().difference(Stages::ALL_COMMANDS);
    assert!(!first_scope(every).contains(first_scope(Stages::ALL_COMMANDS)));
}
