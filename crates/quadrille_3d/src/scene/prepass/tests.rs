use super::*;

#[test]
fn materials_read_placeholders_for_missing_images() {
    let placeholders = SampledPrepass {
        depths: [7, 8],
        normals: [5, 6],
    };
    let images = PrepassImages {
        depth: Some(2),
        normal: None,
        ambient_occlusion: None,
        sampled: None,
    };
    let single = SampledPrepass::new(images, 1, placeholders);
    assert_eq!((single.depths, single.normals), ([2, 8], [5, 6]));
    let multi = SampledPrepass::new(images, 4, placeholders);
    assert_eq!((multi.depths, multi.normals), ([7, 2], [5, 6]));
}

#[test]
fn normal_prepass_alone_is_a_prepass() {
    let needs = PrepassNeeds {
        depth: false,
        normal: true,
    };
    assert!(needs.any() && needs.outputs().normal);
    assert!(!PrepassNeeds::default().any());
}
