use clap::ValueEnum as _;
use quadrille_3d::prelude::Msaa;

use super::Quality;

#[test]
fn reflections_are_for_the_highest_quality_with_a_gpu() {
    let reflections = |is_software| {
        let levels = Quality::value_variants().iter();
        levels
            .map(|it| it.reflections(is_software))
            .collect::<Vec<_>>()
    };
    assert_eq!(reflections(false), [false, false, true]);
    assert_eq!(reflections(true), [false; 3]);
}

#[test]
fn higher_levels_have_more_of_everything() {
    let levels = Quality::value_variants();
    assert_eq!(levels, [Quality::Low, Quality::Medium, Quality::High]);
    for pair in levels.windows(2) {
        let (less, more) = (pair[0], pair[1]);
        assert!(less.lamps() < more.lamps());
        assert!(less.headlights() < more.headlights());
        assert!(less.props() < more.props());
        assert!(less.drops() < more.drops());
        let end = |it: Quality| it.visible_up_to(100.0).end_margin.end;
        assert!(end(less) < end(more));
    }
    assert_eq!(Quality::Medium.msaa(), Msaa::Off);
}
