use quadrille_content::meshes::PrimitiveKind;

use super::*;

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

#[test]
fn a_pipeline_for_one_shadow_filter_covers_no_other() {
    let [any, first, second] = [None, Some(0), Some(1)].map(|shadow_filter| LightingFeatures {
        shadows: true,
        shadow_filter,
        ..LightingFeatures::default()
    });
    assert!(any.covers(first) && any.covers(any) && first.covers(first));
    assert!(!first.covers(second) && !first.covers(any));
}

#[test]
fn transmissive_materials_are_not_deferred() {
    let custom = MaterialShader::Custom {
        number: 1,
        material: None,
    };
    for shader in [MaterialShader::Standard, custom] {
        let key = PipelineKey {
            renderer: RendererMethod::Deferred,
            primitive: PrimitiveKind::Triangles,
            cull: CullMode::Back,
            blend_mode: BlendMode::Opaque,
            features: MaterialFeatures::Base,
            is_transmissive: false,
            shader,
        };
        assert!(key.fits_gbuffer());
        let glass = PipelineKey {
            is_transmissive: true,
            ..key
        };
        assert!(!glass.fits_gbuffer());
    }
}
