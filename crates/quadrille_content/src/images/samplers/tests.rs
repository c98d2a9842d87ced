use super::*;

#[test]
fn samplers_of_any_anisotropy_are_few() {
    let descs = (0..=u16::MAX).map(|anisotropy_clamp| {
        to_desc(&ImageSamplerDescriptor {
            anisotropy_clamp,
            ..ImageSamplerDescriptor::linear()
        })
    });
    let mut known: Vec<SamplerDesc> = Vec::new();
    for desc in descs {
        if !known.contains(&desc) {
            known.push(desc);
        }
    }
    assert_eq!(known.len(), 16);
}
