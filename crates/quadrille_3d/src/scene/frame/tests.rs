use bevy_camera::visibility::RenderLayers;
use bevy_ecs::prelude::*;
use quadrille::vulkan::Format;

use super::{Composite, InitialColor, ScenePass, View3d, ViewOutput};
use crate::scene::effect_cameras::EffectNeeds;
use crate::scene::lists::{QueuedView, TransmissiveDraws};

const BACKGROUND: [f32; 4] = [0.1, 0.2, 0.3, 1.0];

fn view(output: ViewOutput, background: Option<[f32; 4]>) -> View3d {
    View3d {
        queued: QueuedView {
            camera: Entity::PLACEHOLDER,
            row: 0,
            target: 0,
            step: 0,
            viewport: [0, 0, 8, 8],
            size: [8, 8],
            is_upscaled: false,
            jitter: bevy_math::Vec2::ZERO,
            unjittered_clip_from_world: bevy_math::Mat4::IDENTITY,
            clear: background,
            background,
            replaces: true,
            inverts_culling: false,
            clear_depth: 0.0,
            wanted_samples: 4,
            is_hdr: false,
            effects: EffectNeeds::default(),
            prepass: crate::scene::prepass::PrepassNeeds::default(),
            contact_shadows: false,
            samples_target: false,
            cull_row: 0,
            late_cull_row: None,
            layers: RenderLayers::default(),
            transparent: 0..0,
            transmissive: TransmissiveDraws::default(),
            oit: None,
            order_independent: 0..0,
        },
        samples: 4,
        images: 0,
        output,
        composite: Composite::Replace,
        load: None,
        format: Format::R8G8B8A8_UNORM,
        last_pass: ScenePass::Opaque,
        has_covering_sky: false,
        has_translucent_samples: false,
        late: None,
        previous_depth: None,
        prepass: crate::scene::prepass::PrepassImages::default(),
    }
}

#[test]
fn view_without_skybox_begins_with_its_background() {
    let outputs = [ViewOutput::Direct, ViewOutput::Layer];
    for output in outputs {
        let initial = view(output, Some(BACKGROUND)).initial_color();
        assert_eq!(initial, InitialColor::Clear(BACKGROUND));
    }
    let kept = view(ViewOutput::Direct, None).initial_color();
    assert_eq!(kept, InitialColor::Keep);
    let mapped_later = view(ViewOutput::SceneReferred, Some(BACKGROUND)).initial_color();
    assert_eq!(mapped_later, InitialColor::Clear([0.0; 4]));
}

#[test]
fn view_behind_a_skybox_is_not_cleared() {
    for output in [
        ViewOutput::Direct,
        ViewOutput::Layer,
        ViewOutput::SceneReferred,
    ] {
        for background in [None, Some(BACKGROUND)] {
            let view = View3d {
                has_covering_sky: true,
                ..view(output, background)
            };
            assert_eq!(view.initial_color(), InitialColor::Discard);
        }
    }
}
