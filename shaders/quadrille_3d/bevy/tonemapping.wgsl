// Tone mapping of the view, by bevy's names: `bevy_core_pipeline::tonemapping`.

import bevy_render::view::ColorGrading;
import quadrille_3d::display::graded_tone_mapping;

// The grading is that of the view, whatever is passed.
fn tone_mapping(in: vec4f, color_grading: ColorGrading) -> vec4f {
    return vec4f(graded_tone_mapping(in.rgb), in.a);
}
