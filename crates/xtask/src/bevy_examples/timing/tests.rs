use super::*;

#[test]
fn frame_times_are_found_in_a_log() {
    let log = "\
2026-01-01T00:00:00Z  INFO bevy_diagnostic: fps        :   61.053391   (avg 60.9)
2026-01-01T00:00:00Z  INFO bevy_diagnostic: frame_time :   16.379104ms (avg 16.404530ms)
2026-01-01T00:00:01Z  WARN frame_time was not measured
2026-01-01T00:00:01Z  INFO bevy_diagnostic: frame_time :   17.5ms (avg 16.9ms)
";
    assert_eq!(logged(log), [16.379104, 17.5]);
}

#[test]
fn the_median_is_in_the_middle() {
    assert_eq!(median(vec![9.0, 1.0, 2.0]), 2.0);
    assert!(median(Vec::new()).is_nan());
}

#[test]
fn programs_are_built_once_however_often_they_run() {
    let lines = ["sprites 1", "sprites 2"].map(str::to_owned);
    let programs = programs_of(Path::new("nowhere"), &lines, Path::new("here")).unwrap();
    let names: Vec<&str> = programs.iter().map(|program| &*program.name).collect();
    assert_eq!(names, ["sprites"]);
    assert_eq!(programs[0].path, Path::new("here/sprites.rs"));
}
