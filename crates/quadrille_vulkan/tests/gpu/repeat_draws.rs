//! Passes with unchanged draws, which are replayed, and changes that prevent it.

use quadrille_sync::access::{Access, CustomAccess};
use quadrille_sync::flags::Layout;
use quadrille_sync::frame::{Frame, PassIndex, Use};
use quadrille_sync::plan::Scope;
use quadrille_sync::planner::Planner;
use quadrille_sync::resource::ResourceIndex;
use quadrille_sync::topology::Capabilities;
use quadrille_vulkan::commands::{ColorAttachment, CommandList, IndexType, Load, Rendering};
use quadrille_vulkan::pipeline::{GraphicsPipeline, GraphicsPipelineDesc, VertexLayout};
use quadrille_vulkan::present::{Acquired, Surface, Swapchain, SwapchainSettings};
use quadrille_vulkan::resources::{
    BufferDesc, BufferUsage, GpuBuffer, GpuImage, Handle, ImageDesc,
};
use quadrille_vulkan::shader::GpuShader;
use quadrille_vulkan::{Format, vk};

use crate::reload::Source;
use crate::rig::{Rig, TIMEOUT, discard, graphics, transfer, window_settings};

const SIDE: u32 = 8;

/// Two triangles from a vertex buffer, in the color of the constants.
const DRAW: &str = "
var<immediate> color: vec4<f32>;
@vertex fn vertex(@location(0) at: vec2<f32>) -> @builtin(position) vec4<f32> {
    return vec4<f32>(at, 0.0, 1.0);
}
@fragment fn fragment() -> @location(0) vec4<f32> { return color; }
";

/// Copies the picture by sampling it.
const SHOW: &str = "
@group(0) @binding(0) var picture: texture_2d<f32>;
@vertex fn vertex(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
    var corners = array(vec2(-1.0, -1.0), vec2(3.0, -1.0), vec2(-1.0, 3.0));
    return vec4<f32>(corners[at], 0.0, 1.0);
}
@fragment fn fragment(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    return textureLoad(picture, vec2<u32>(at.xy), 0);
}
";

/// Frames that draw a rectangle into a picture, and the picture into another image.
struct Drawing {
    rig: Rig,
    planner: Planner,
    draw: GraphicsPipeline,
    show: GraphicsPipeline,
    vertices: GpuBuffer,
    indices: GpuBuffer,
    arguments: GpuBuffer,
    lists: [CommandList; 2],
    /// Declared use of the picture in the second pass.
    sampled: Access,
    /// Number of replayed passes in the last frame.
    repeated: u32,
}

/// Contents of a frame.
#[derive(Clone, Copy)]
struct Scene {
    clear: [f32; 4],
    color: [f32; 4],
    /// The rows that are drawn to.
    rows: u32,
    indirect: bool,
}

const SCENE: Scene = Scene {
    clear: [0.0, 0.0, 1.0, 1.0],
    color: [1.0, 0.0, 0.0, 1.0],
    rows: 4,
    indirect: false,
};

const RED: u32 = u32::from_le_bytes([255, 0, 0, 255]);
const GREEN: u32 = u32::from_le_bytes([0, 255, 0, 255]);
const BLUE: u32 = u32::from_le_bytes([0, 0, 255, 255]);

fn bytes<T: Copy, const N: usize>(values: &[T], to_bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&value| to_bytes(value)).collect()
}

impl Drawing {
    fn new(mut rig: Rig, shader: &GpuShader) -> Self {
        let show = GpuShader::wgsl("show", SHOW).unwrap();
        let corners = VertexLayout::packed(0, &[Format::R32G32_SFLOAT]);
        let draw = GraphicsPipelineDesc {
            vertex_buffers: vec![corners],
            ..GraphicsPipelineDesc::new("draw", (shader, "vertex"), (shader, "fragment"))
        };
        let show = GraphicsPipelineDesc::new("show", (&show, "vertex"), (&show, "fragment"));
        let input = |name: &str, usage, data: &[u8]| {
            let usage = usage | BufferUsage::TRANSFER_DST;
            let desc = BufferDesc::new(name, data.len() as u64, usage);
            (rig.gpu.create_buffer(&desc).unwrap(), data.to_vec())
        };
        let corners = [-1.0_f32, -1.0, 1.0, -1.0, -1.0, 1.0, 1.0, 1.0];
        let arguments: [u32; 5] = [6, 1, 0, 0, 0];
        let inputs = [
            input(
                "vertices",
                BufferUsage::VERTEX,
                &bytes(&corners, f32::to_le_bytes),
            ),
            input(
                "indices",
                BufferUsage::INDEX,
                &bytes(&[0_u16, 1, 2, 2, 1, 3], u16::to_le_bytes),
            ),
            input(
                "arguments",
                BufferUsage::INDIRECT,
                &bytes(&arguments, u32::to_le_bytes),
            ),
        ];
        for (buffer, data) in &inputs {
            rig.frame(|frame| {
                let uses = [discard(
                    frame.resource(buffer.clone()),
                    Access::TransferWrite,
                )];
                frame.pass("fill", transfer(), &uses, |list| {
                    list.update_buffer(buffer, 0, data)
                });
            });
        }
        let [vertices, indices, arguments] = inputs.map(|(buffer, _)| buffer);
        Self {
            planner: Planner::default(),
            draw: rig.gpu.graphics_pipeline(&draw).unwrap(),
            show: rig.gpu.graphics_pipeline(&show).unwrap(),
            vertices,
            indices,
            arguments,
            lists: Default::default(),
            sampled: Access::SampledFragment,
            repeated: 0,
            rig,
        }
    }

    fn image(&self, name: &str) -> GpuImage {
        let desc = ImageDesc::color_target(name, [SIDE, SIDE], Format::R8G8B8A8_UNORM);
        self.rig.gpu.create_image(&desc).unwrap()
    }

    /// A frame that draws `scene` to `picture`, and `picture` to `shown`.
    fn frame(
        &mut self,
        scene: Scene,
        (picture, shown): (&GpuImage, &GpuImage),
        window: Option<&mut Swapchain>,
    ) {
        self.rig.frames.begin(TIMEOUT).unwrap();
        let mut frame = Frame::default();
        let buffers = [&self.vertices, &self.indices, &self.arguments];
        let mut handles: Vec<Handle> = vec![picture.clone().into(), shown.clone().into()];
        handles.extend(buffers.map(|it| it.clone().into()));
        let at: Vec<ResourceIndex> = handles
            .iter()
            .map(|it| frame.add_resource(it.declare()))
            .collect();
        let uses = [
            discard(at[0], Access::ColorAttachmentWrite),
            Use::whole(at[2], Access::VertexRead),
            Use::whole(at[3], Access::IndexRead),
            Use::whole(at[4], Access::IndirectRead),
        ];
        frame.add_pass("draw", graphics(), &uses, &[]);
        let uses = [
            Use::whole(at[0], self.sampled),
            discard(at[1], Access::ColorAttachmentWrite),
        ];
        frame.add_pass("show", graphics(), &uses, &[PassIndex(0)]);
        self.write(scene, picture, shown);
        let mut windows: Vec<&mut Swapchain> = window.into_iter().collect();
        let repeated = self.rig.planned_frame(
            &mut self.planner,
            &frame,
            (&self.lists, &handles),
            &mut windows,
        );
        self.repeated = repeated.passes;
    }

    /// Writes both lists.
    fn write(&mut self, scene: Scene, picture: &GpuImage, shown: &GpuImage) {
        let [draw, show] = &mut self.lists;
        draw.clear();
        let colors = [ColorAttachment::new(picture, Load::Clear(scene.clear))];
        draw.begin_rendering(&Rendering {
            colors: &colors,
            ..Default::default()
        });
        draw.bind_graphics(&self.draw);
        draw.scissor([0, 0, SIDE, scene.rows]);
        draw.vertex_buffer(0, &self.vertices, 0);
        draw.index_buffer(&self.indices, 0, IndexType::U16);
        draw.push_constants(&bytes(&scene.color, f32::to_le_bytes));
        if scene.indirect {
            draw.draw_indexed_indirect(&self.arguments, 0, 1, 0)
        } else {
            draw.draw_indexed(0..6, 0, 0..1)
        }
        draw.end_rendering();
        show.clear();
        let colors = [ColorAttachment::new(shown, Load::Discard)];
        show.begin_rendering(&Rendering {
            colors: &colors,
            ..Default::default()
        });
        show.bind_graphics(&self.show);
        show.bind_image_sampled(0, picture);
        show.draw(0..3, 0..1);
        show.end_rendering();
    }

    /// Asserts that an image has this number of rows of one color above another.
    fn expect(&mut self, image: &GpuImage, rows: u32, [above, below]: [u32; 2]) {
        let back = self.rig.image_readback(image);
        self.rig.frame(|frame| frame.read_image(image, &back));
        let (rows, all) = ((rows * SIDE) as usize, (SIDE * SIDE) as usize);
        let expected = [vec![above; rows], vec![below; all - rows]].concat();
        assert_eq!(self.rig.words(&back), expected);
    }
}

fn wgsl() -> GpuShader {
    GpuShader::wgsl("draw", DRAW).unwrap()
}

#[test]
#[ignore = "needs a Vulkan device"]
fn repeated_draws_are_replayed() {
    for chunks in [1, 2] {
        let mut rig = Rig::new();
        rig.chunks = chunks;
        let mut drawing = Drawing::new(rig, &wgsl());
        let (picture, shown) = (drawing.image("picture"), drawing.image("shown"));
        for scene in [
            SCENE,
            Scene {
                indirect: true,
                ..SCENE
            },
        ] {
            for _ in 0..6 {
                drawing.frame(scene, (&picture, &shown), None);
            }
            assert_eq!(drawing.repeated, 2, "both passes of the last frame");
            drawing.expect(&shown, 4, [RED, BLUE]);
        }
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn each_changed_draw_is_encoded() {
    let mut drawing = Drawing::new(Rig::new(), &wgsl());
    let (picture, shown) = (drawing.image("picture"), drawing.image("shown"));
    let green = [0.0, 1.0, 0.0, 1.0];
    let changes = [
        (
            Scene {
                clear: green,
                ..SCENE
            },
            4,
            [RED, GREEN],
        ),
        (
            Scene {
                color: green,
                ..SCENE
            },
            4,
            [GREEN, BLUE],
        ),
        (Scene { rows: 2, ..SCENE }, 2, [RED, BLUE]),
    ];
    for (scene, rows, colors) in changes {
        for _ in 0..6 {
            drawing.frame(SCENE, (&picture, &shown), None);
        }
        assert_eq!(drawing.repeated, 2);
        drawing.frame(scene, (&picture, &shown), None);
        assert_eq!(drawing.repeated, 1, "only the second pass did the same");
        drawing.expect(&shown, rows, colors);
    }
}

/// The list of a pass contains no layouts: they follow from its declaration.
#[test]
#[ignore = "needs a Vulkan device"]
fn a_changed_layout_is_encoded() {
    let mut drawing = Drawing::new(Rig::new(), &wgsl());
    let (picture, shown) = (drawing.image("picture"), drawing.image("shown"));
    let Scope { stages, access } = Access::SampledFragment.scope(Capabilities::GRAPHICS);
    let general = Access::Custom(CustomAccess {
        stages,
        access,
        layout: Layout::General,
        writes: false,
    });
    // The plan of one frame only is in the place of that of the frame before.
    for (sampled, repeated) in [
        (Access::SampledFragment, 0),
        (Access::SampledFragment, 0),
        (general, 1),
        (Access::SampledFragment, 1),
        (Access::SampledFragment, 2),
    ] {
        drawing.sampled = sampled;
        drawing.frame(SCENE, (&picture, &shown), None);
        assert_eq!(drawing.repeated, repeated, "{sampled:?}");
    }
    drawing.expect(&shown, 4, [RED, BLUE]);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn an_image_that_has_got_the_id_of_another_is_not_taken_for_it() {
    let mut drawing = Drawing::new(Rig::new(), &wgsl());
    let shown = drawing.image("shown");
    let mut known = None;
    for _ in 0..5 {
        let picture = drawing.image("picture");
        assert!(known.is_none_or(|id| id == picture.id()), "ids come back");
        known = Some(picture.id());
        drawing.frame(SCENE, (&picture, &shown), None);
        assert_eq!(drawing.repeated, 0, "it is another image");
        for _ in 0..5 {
            drawing.frame(SCENE, (&picture, &shown), None);
        }
        assert_eq!(drawing.repeated, 2);
        drawing.expect(&shown, 4, [RED, BLUE]);
        drop(picture);
        drawing.rig.finish();
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_reloaded_shader_is_encoded() {
    let source = Source::new("repeat_draws", DRAW);
    let mut drawing = Drawing::new(Rig::new(), &GpuShader::load(&source.path).unwrap());
    let (picture, shown) = (drawing.image("picture"), drawing.image("shown"));
    let gpu = drawing.rig.gpu.clone();
    let frame = |drawing: &mut Drawing| drawing.frame(SCENE, (&picture, &shown), None);
    (0..6).for_each(|_| frame(&mut drawing));
    assert_eq!(drawing.repeated, 2);
    let text = DRAW.replace("return color", "return color.yxzw");
    let reloaded = source.edit(&gpu, text, || frame(&mut drawing));
    assert!(reloaded.result.is_ok(), "{reloaded}");
    frame(&mut drawing);
    assert_eq!(drawing.repeated, 1, "the other pass has its shader still");
    drawing.expect(&shown, 4, [GREEN, BLUE]);
    (0..6).for_each(|_| frame(&mut drawing));
    assert_eq!(drawing.repeated, 2);
    drawing.expect(&shown, 4, [GREEN, BLUE]);
}

/// The view of a window's image differs in each frame; everything else is reused.
#[test]
#[ignore = "needs a Vulkan device"]
fn draws_to_a_window_are_encoded_in_each_frame() {
    let rig = Rig::with(&window_settings());
    let surface = Surface::headless(&rig.gpu).unwrap_or_else(|error| panic!("{error}"));
    let settings = SwapchainSettings::default();
    let window = Swapchain::new(&rig.gpu, surface, &settings, [SIDE; 2], "window");
    let mut window = window.unwrap();
    let mut drawing = Drawing::new(rig, &wgsl());
    let picture = drawing.image("picture");
    let mut seen = Vec::<vk::Image>::new();
    for frame in 0..12 {
        if frame == 8 {
            window.resize([SIDE + 1; 2]).unwrap();
        }
        assert_eq!(window.acquire(TIMEOUT).unwrap(), Acquired::Image);
        let shown = window.image().clone();
        seen.push(shown.raw());
        drawing.frame(SCENE, (&picture, &shown), Some(&mut window));
        if frame > 4 {
            assert_eq!(drawing.repeated, 1, "the picture of frame {frame}");
        }
    }
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() > 1, "another size is another image at least");
    drawing.expect(&picture, 4, [RED, BLUE]);
}
