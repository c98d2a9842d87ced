use super::*;

#[test]
fn materials_read_placeholders_for_missing_images() {
    let placeholders = SampledPrepass {
        depths: [7, 8],
        normals: [5, 6],
        motion_vectors: [3, 4],
    };
    let images = PrepassImages {
        depth: Some(2),
        normal: None,
        motion: Some(0),
        gbuffer: None,
        sampled: None,
    };
    let single = SampledPrepass::new(images, 1, placeholders);
    assert_eq!((single.depths, single.normals), ([2, 8], [5, 6]));
    assert_eq!(single.motion_vectors, [0, 4]);
    let multi = SampledPrepass::new(images, 4, placeholders);
    assert_eq!((multi.depths, multi.normals), ([7, 2], [5, 6]));
    assert_eq!(multi.motion_vectors, [3, 0]);
}

#[test]
fn normal_prepass_alone_is_a_prepass() {
    let needs = PrepassNeeds {
        normal: true,
        ..PrepassNeeds::default()
    };
    assert!(needs.any() && needs.outputs().normal);
    assert!(!PrepassNeeds::default().any());
}
