use super::LightingFeatures;

#[test]
fn a_pipeline_covers_frames_that_need_no_more_than_it_has() {
    let none = LightingFeatures::default();
    let fog = LightingFeatures { fog: true, ..none };
    let both = LightingFeatures {
        shadows: true,
        ..fog
    };
    assert!(both.covers(fog) && both.covers(none) && fog.covers(fog));
    assert!(!fog.covers(both) && !none.covers(fog));
}
