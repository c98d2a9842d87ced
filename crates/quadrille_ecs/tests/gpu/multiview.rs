//! Renderings that draw to several layers at once.

use bevy_app::Plugin as _;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::Format;
use quadrille_vulkan::pipeline::{
    DepthState, GraphicsPipeline, GraphicsPipelineDesc, PrimitiveTopology,
};
use quadrille_vulkan::resources::{GpuImage, ImageDesc, ImageUsage, QuerySet, QuerySetDesc, View};
use quadrille_vulkan::shader::GpuShader;

use crate::common::{Errors, Rig, read, read_back};

/// Four layers of 4 by 4 texels.
#[derive(Resource, Deref)]
struct Layers(GpuImage);

/// The same with several samples.
#[derive(Resource, Deref)]
struct Samples(GpuImage);

#[derive(Resource, Deref)]
struct Depths(GpuImage);

/// Counts texels that are drawn to.
#[derive(Resource, Deref)]
struct Seen(QuerySet);

/// The view mask, the first layer, and the pipeline.
#[derive(Resource)]
struct Tools {
    mask: u32,
    first: u32,
    paint: GraphicsPipeline,
}

const LAYERS: u32 = 4;

/// Red is the view plus one; each view is drawn to a column farther right, in front of 0.5 in all but
/// the first.
const PAINT: &str = "
    struct Corner { @builtin(position) at: vec4f, @location(0) @interpolate(flat) view: u32 }
    @vertex fn corner(@builtin(vertex_index) i: u32, @builtin(view_index) view: u32) -> Corner {
        let left = f32(view) * 0.5 - 1.0;
        let x = select(left, left + 0.5, (i & 1u) == 1u);
        let y = select(-1.0, 1.0, i > 1u);
        return Corner(vec4f(x, y, select(0.25, 0.75, view == 0u), 1.0), view);
    }
    @fragment fn paint(corner: Corner, @builtin(view_index) view: u32) -> @location(0) vec4f {
        return vec4f(f32(view + 1u) / 255.0, f32(corner.view) / 255.0, 0.0, 1.0);
    }";

fn rig(mask: u32) -> Rig {
    let mut rig = Rig::new();
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let color = ImageDesc::color_target("layers", [4, 4], Format::R8G8B8A8_UNORM);
    let color = color.with_layers(LAYERS);
    let make = |desc: &ImageDesc| gpu.create_image(desc).expect("images can be made");
    let samples = ImageDesc {
        samples: 4,
        name: "samples".to_owned(),
        ..color.clone()
    };
    let depth = ImageDesc {
        samples: 4,
        ..ImageDesc::depth("depths", [4, 4], Format::D32_SFLOAT).with_layers(LAYERS)
    };
    let shader = GpuShader::wgsl("paint.wgsl", PAINT).unwrap_or_else(|error| panic!("{error}"));
    let paint = GraphicsPipelineDesc {
        topology: PrimitiveTopology::TriangleStrip,
        ..GraphicsPipelineDesc::of("paint", &shader)
    };
    let seen = gpu.query_set(&QuerySetDesc::precise_occlusion("seen", 4));
    rig.app
        .insert_resource(Layers(make(&color.with_usage(ImageUsage::TRANSFER_SRC))))
        .insert_resource(Samples(make(&samples)))
        .insert_resource(Depths(make(&depth)))
        .insert_resource(Seen(seen.expect("sets can be made")))
        .insert_resource(Tools {
            mask,
            first: 0,
            paint: gpu
                .graphics_pipeline(&paint)
                .expect("pipelines can be made"),
        });
    rig
}

/// Red by layer and column, of the first row.
fn columns(rig: &mut Rig) -> Vec<[u8; 4]> {
    let image = rig.app.world().resource::<Layers>().0.clone();
    let layer = |layer: u16| {
        let texels = read_back(rig, Readback::view(&image, View::WHOLE.layer(layer)));
        let texels = texels.expect("an image is read back within ten frames");
        [0, 4, 8, 12].map(|at| texels[at])
    };
    (0..LAYERS as u16).map(layer).collect()
}

fn clear(mut recorder: Recorder, layers: ColorTarget<Layers>) {
    recorder.render(layers.clear([9.0 / 255.0; 4]).view_mask(0b1111));
}

fn paint(
    mut recorder: Recorder,
    layers: ColorTarget<Layers>,
    seen: QueryWrite<Seen>,
    tools: Res<Tools>,
) {
    let view = View {
        base_layer: tools.first as u16,
        ..View::WHOLE
    };
    let mut rendering = recorder.render(layers.view(view).clear([0.0; 4]).view_mask(tools.mask));
    rendering.pipeline(&tools.paint);
    rendering.query(&seen, 1, |rendering| {
        rendering.draw(0..4, 0..1);
    });
}

#[test]
#[ignore = "needs a device"]
fn a_draw_goes_to_the_layers_of_the_mask() {
    let mut rig = rig(0b101);
    rig.app.add_systems(Render, (clear, paint).chain());
    rig.update(3);
    let found = columns(&mut rig);
    // Each query has a view's, or one has the sum.
    let seen = read(&mut rig, |world| (*world.resource::<Seen>().0).clone());
    rig.expect_no_errors();
    assert_eq!(
        found,
        [[1, 0, 0, 0], [9; 4], [0, 0, 3, 0], [9; 4]],
        "layers that are not in the mask stay"
    );
    assert_eq!(seen[2] + seen[4], 2 * 4, "{seen:?}");
    // From the second layer on.
    let mut tools = rig.app.world_mut().resource_mut::<Tools>();
    (tools.mask, tools.first) = (0b111, 1);
    rig.update(3);
    let found = columns(&mut rig);
    rig.expect_no_errors();
    assert_eq!(found, [[9; 4], [1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 3, 0]]);
}

#[test]
#[ignore = "needs a device"]
fn layers_resolve_and_are_tested_and_cleared_together() {
    fn paint(
        mut recorder: Recorder,
        (samples, layers): (ColorTarget<Samples>, ColorTarget<Layers>),
        depths: DepthTarget<Depths>,
        tools: Res<Tools>,
    ) {
        let color = samples.clear([0.0; 4]).resolve_to(&layers);
        let targets = (color, depths.clear_depth(0.5)).view_mask(tools.mask);
        let mut rendering = recorder.render(targets);
        rendering.pipeline(&tools.paint).draw(0..4, 0..1);
        rendering.clear_color(0, [3, 0, 1, 4], [7.0 / 255.0; 4]);
    }
    let mut rig = rig(0b1111);
    let gpu = rig.app.world().resource::<GpuDevice>().clone();
    let shader = GpuShader::wgsl("paint.wgsl", PAINT).unwrap_or_else(|error| panic!("{error}"));
    let desc = GraphicsPipelineDesc {
        topology: PrimitiveTopology::TriangleStrip,
        depth: Some(DepthState::LESS),
        ..GraphicsPipelineDesc::of("paint", &shader)
    };
    let pipeline = gpu.graphics_pipeline(&desc).expect("pipelines can be made");
    rig.app.world_mut().resource_mut::<Tools>().paint = pipeline;
    rig.app.add_systems(Render, paint);
    rig.update(3);
    let found = columns(&mut rig);
    rig.expect_no_errors();
    let expected = [[0, 0, 0, 7], [0, 2, 0, 7], [0, 0, 3, 7], [0, 0, 0, 7]];
    assert_eq!(found, expected, "the first view is behind what is there");
}

/// A pass declares layers of its own, and passes that draw to others need no order.
#[test]
#[ignore = "needs a device"]
fn parts_are_declared_by_layers() {
    fn halves(mut recorder: Recorder, layers: ColorTarget<Layers>, tools: Res<Tools>) {
        for first in [0, 2] {
            let view = View {
                base_layer: first,
                layer_count: 2,
                ..View::WHOLE
            };
            let half = layers.view(view);
            let mut pass = recorder.pass("half", &[half.as_declared()]);
            let mut rendering = pass.render(half.clear([0.0; 4]).view_mask(tools.mask));
            rendering.pipeline(&tools.paint).draw(0..4, 0..1);
        }
    }
    let mut rig = rig(0b11);
    rig.app.add_systems(Render, halves);
    rig.update(3);
    let found = columns(&mut rig);
    rig.expect_no_errors();
    let expected = [[1, 0, 0, 0], [0, 2, 0, 0], [1, 0, 0, 0], [0, 2, 0, 0]];
    assert_eq!(found, expected);
    // More views than the part has layers.
    rig.app.world_mut().resource_mut::<Tools>().mask = 0b111;
    rig.update(1);
    let said = std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0).join("; ");
    let expected = "the view mask 0b111 takes 3 layers of each, and `layers` has 2 from layer 0 on";
    assert!(said.contains(expected), "{said}");
    // More views than any device has, or than there are layers.
    rig.app.world_mut().resource_mut::<Tools>().mask = 1 << 31;
    rig.update(1);
    let said = std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0).join("; ");
    let most = "view 31 of the view mask 0b10000000000000000000000000000000 is above the limit of";
    assert!(
        said.contains(most) || said.contains("takes 32 layers of each"),
        "{said}"
    );
}

/// A timestamp after a rendering is one query, however many views were drawn to: some drivers take one for each, and
/// wrote beyond the end of the pool.
#[test]
#[ignore = "needs a device"]
fn passes_with_several_views_are_measured() {
    fn paint(mut recorder: Recorder, layers: ColorTarget<Layers>, tools: Res<Tools>) {
        let mut rendering = recorder.render(layers.clear([0.0; 4]).view_mask(tools.mask));
        rendering.pipeline(&tools.paint).draw(0..4, 0..1);
    }
    let mut rig = rig(0b1111);
    // The app is finished, and takes no plugins any more.
    RenderDiagnosticsPlugin.build(&mut rig.app);
    rig.app.add_systems(Render, paint);
    rig.update(6);
    rig.expect_no_errors();
    let renderer = rig.app.world().resource::<Renderer>();
    let times = renderer.device_times().expect("frames are measured");
    let names: Vec<&str> = times.passes.iter().map(|pass| &*pass.name).collect();
    assert_eq!(names, ["paint"]);
}
