//! Draws, textures, depth, formats, mip levels, blits.

use quadrille_sync::access::Access;
use quadrille_sync::flags::{Aspects, Layout};
use quadrille_sync::frame::Use;
use quadrille_sync::range::{SubRange, SubresourceRange};
use quadrille_vulkan::commands::{ColorAttachment, DepthAttachment, IndexType, Load, Rendering};
use quadrille_vulkan::pipeline::{Blend, DepthState, GraphicsPipelineDesc, VertexLayout};
use quadrille_vulkan::resources::{
    BufferDesc, GpuImage, ImageDesc, ImageRegion, SamplerDesc, View,
};
use quadrille_vulkan::shader::GpuShader;
use quadrille_vulkan::{Format, vk};

use crate::rig::{Rig, discard, graphics, transfer};

/// A triangle that covers the upper half of the left side of clip space, y up.
const TRIANGLE: &str = "
@group(0) @binding(0) var<uniform> color: vec4<f32>;
@vertex fn vertex(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
    var corners = array(vec2(-1.0, 0.0), vec2(3.0, 0.0), vec2(-1.0, 4.0));
    return vec4<f32>(corners[at], 0.5, 1.0);
}
@fragment fn fragment() -> @location(0) vec4<f32> { return color; }
";

const TEXTURED: &str = "
@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var near: sampler;
struct Corner { @builtin(position) position: vec4<f32>, @location(0) uv: vec2<f32> }
@vertex fn vertex(@location(0) position: vec2<f32>, @location(1) uv: vec2<f32>) -> Corner {
    return Corner(vec4<f32>(position, 0.0, 1.0), uv);
}
@fragment fn fragment(corner: Corner) -> @location(0) vec4<f32> {
    return textureSample(picture, near, corner.uv);
}
";

const DEPTH: &str = "
var<immediate> depth: vec4<f32>;
@vertex fn vertex(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
    var corners = array(vec2(-1.0, -1.0), vec2(3.0, -1.0), vec2(-1.0, 3.0));
    return vec4<f32>(corners[at], depth.x, 1.0);
}
@fragment fn fragment() -> @location(0) vec4<f32> { return vec4<f32>(depth.yzw, 1.0); }
";

const RED: u32 = u32::from_le_bytes([255, 0, 0, 255]);
const GREEN: u32 = u32::from_le_bytes([0, 255, 0, 255]);
const BLUE: u32 = u32::from_le_bytes([0, 0, 255, 255]);

fn shader(source: &str) -> GpuShader {
    GpuShader::wgsl("test", source).unwrap_or_else(|error| panic!("{error}"))
}

fn target(rig: &Rig, size: u32) -> GpuImage {
    let desc = ImageDesc::color_target("target", [size, size], Format::R8G8B8A8_UNORM);
    rig.gpu.create_image(&desc).unwrap()
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_triangle_covers_the_upper_half() {
    let mut rig = Rig::new();
    let shader = shader(TRIANGLE);
    let desc = GraphicsPipelineDesc::new("half", (&shader, "vertex"), (&shader, "fragment"));
    let pipeline = rig.gpu.graphics_pipeline(&desc).unwrap();
    let color = rig
        .gpu
        .create_buffer(&BufferDesc::uniform("color", 16))
        .unwrap();
    let red: Vec<u8> = [1f32, 0.0, 0.0, 1.0]
        .iter()
        .flat_map(|part| part.to_le_bytes())
        .collect();
    color.write(0, &red).unwrap();
    rig.states.import(color.id(), Layout::Undefined, None);
    let image = target(&rig, 16);
    let back = rig.image_readback(&image);
    for _ in 0..3 {
        rig.frame(|frame| {
            let uses = [
                discard(frame.resource(image.clone()), Access::ColorAttachmentWrite),
                Use::whole(frame.resource(color.clone()), Access::UniformReadFragment),
            ];
            frame.pass("draw", graphics(), &uses, |list| {
                let clear = Load::Clear([0.0, 0.0, 1.0, 1.0]);
                let colors = [ColorAttachment::new(&image, clear)];
                list.begin_rendering(&Rendering {
                    colors: &colors,
                    ..Default::default()
                });
                list.bind_graphics(&pipeline);
                list.bind_buffer(0, &color, 0, 0);
                list.draw(0..3, 0..1);
                list.end_rendering();
            });
            frame.read_image(&image, &back);
        });
    }
    let pixels = rig.words(&back);
    assert_eq!(pixels[..16 * 8], [RED; 16 * 8], "the upper half");
    assert_eq!(pixels[16 * 8..], [BLUE; 16 * 8], "the lower half");
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_texture_is_uploaded_and_sampled() {
    let mut rig = Rig::new();
    let shader = shader(TEXTURED);
    let desc = GraphicsPipelineDesc {
        vertex_buffers: vec![VertexLayout::packed(0, &[Format::R32G32_SFLOAT; 2])],
        blend: Blend::Alpha,
        ..GraphicsPipelineDesc::new("textured", (&shader, "vertex"), (&shader, "fragment"))
    };
    let pipeline = rig.gpu.graphics_pipeline(&desc).unwrap();
    let sampler = rig.gpu.create_sampler(&SamplerDesc::nearest()).unwrap();
    let picture = ImageDesc::sampled("picture", [2, 2], Format::R8G8B8A8_UNORM);
    let picture = rig.gpu.create_image(&picture).unwrap();
    let upload = rig
        .gpu
        .create_buffer(&BufferDesc::upload("upload", 16 + 96))
        .unwrap();
    let texels: Vec<u8> = [RED, GREEN, BLUE, RED]
        .iter()
        .flat_map(|texel| texel.to_le_bytes())
        .collect();
    upload.write(0, &texels).unwrap();
    // Two triangles over the whole image. Texture rows run down, clip space runs up.
    let corners = [
        [-1f32, -1.0, 0.0, 1.0],
        [1.0, -1.0, 1.0, 1.0],
        [-1.0, 1.0, 0.0, 0.0],
    ];
    let more = [[1f32, 1.0, 1.0, 0.0]];
    let vertices: Vec<u8> = corners
        .iter()
        .chain(&more)
        .flatten()
        .flat_map(|part| part.to_le_bytes())
        .collect();
    upload.write(16, &vertices).unwrap();
    let indices: Vec<u8> = [0u16, 1, 2, 2, 1, 3]
        .iter()
        .flat_map(|at| at.to_le_bytes())
        .collect();
    upload.write(16 + 64, &indices).unwrap();
    rig.states.import(upload.id(), Layout::Undefined, None);
    let vertices = rig
        .gpu
        .create_buffer(&BufferDesc::vertex("vertices", 64))
        .unwrap();
    let indices = rig
        .gpu
        .create_buffer(&BufferDesc::index("indices", 12))
        .unwrap();
    let image = target(&rig, 4);
    let back = rig.image_readback(&image);
    rig.frame(|frame| {
        let uses = [
            Use::whole(frame.resource(upload.clone()), Access::CopyRead),
            discard(frame.resource(picture.clone()), Access::CopyWrite),
            discard(frame.resource(vertices.clone()), Access::CopyWrite),
            discard(frame.resource(indices.clone()), Access::CopyWrite),
        ];
        frame.pass("upload", transfer(), &uses, |list| {
            list.copy_buffer_to_image(&upload, 0, &picture, ImageRegion::whole(&picture));
            list.copy_buffer(&upload, 16, &vertices, 0, 64);
            list.copy_buffer(&upload, 16 + 64, &indices, 0, 12);
        });
        let uses = [
            discard(
                frame.resource(image.clone()),
                Access::ColorAttachmentReadWrite,
            ),
            Use::whole(frame.resource(picture.clone()), Access::SampledFragment),
            Use::whole(frame.resource(vertices.clone()), Access::VertexRead),
            Use::whole(frame.resource(indices.clone()), Access::IndexRead),
        ];
        frame.pass("draw", graphics(), &uses, |list| {
            let colors = [ColorAttachment::new(&image, Load::Clear([0.0; 4]))];
            list.begin_rendering(&Rendering {
                colors: &colors,
                ..Default::default()
            });
            list.bind_graphics(&pipeline);
            list.bind_image_sampled(0, &picture);
            list.bind_sampler(1, &sampler);
            list.vertex_buffer(0, &vertices, 0);
            list.index_buffer(&indices, 0, IndexType::U16);
            list.draw_indexed(0..6, 0, 0..1);
            list.end_rendering();
        });
        frame.read_image(&image, &back);
    });
    let rows = [[RED, RED, GREEN, GREEN], [BLUE, BLUE, RED, RED]];
    let expected = [rows[0], rows[0], rows[1], rows[1]].concat();
    assert_eq!(rig.words(&back), expected);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn depth_keeps_the_nearer_and_formats_make_variants() {
    let mut rig = Rig::new();
    let shader = shader(DEPTH);
    let desc = GraphicsPipelineDesc {
        depth: Some(DepthState::LESS),
        ..GraphicsPipelineDesc::new("depth", (&shader, "vertex"), (&shader, "fragment"))
    };
    let pipeline = rig.gpu.graphics_pipeline(&desc).unwrap();
    let depth = ImageDesc::depth("depth", [4, 4], Format::D32_SFLOAT);
    let depth = rig.gpu.create_image(&depth).unwrap();
    for format in [Format::R8G8B8A8_UNORM, Format::R16G16B16A16_SFLOAT] {
        let image = ImageDesc::color_target("target", [4, 4], format);
        let image = rig.gpu.create_image(&image).unwrap();
        let back = rig.image_readback(&image);
        rig.frame(|frame| {
            let uses = [
                discard(frame.resource(image.clone()), Access::ColorAttachmentWrite),
                discard(frame.resource(depth.clone()), Access::DepthAttachmentWrite),
            ];
            frame.pass("draw", graphics(), &uses, |list| {
                list.begin_rendering(&Rendering {
                    colors: &[ColorAttachment::new(&image, Load::Clear([0.0; 4]))],
                    depth: Some(DepthAttachment::new(&depth, Load::Clear(1.0))),
                    ..Rendering::default()
                });
                list.bind_graphics(&pipeline);
                for constants in [[0.25f32, 1.0, 0.0, 0.0], [0.75, 0.0, 1.0, 0.0]] {
                    let bytes: Vec<u8> = constants
                        .iter()
                        .flat_map(|part| part.to_le_bytes())
                        .collect();
                    list.push_constants(&bytes);
                    list.draw(0..3, 0..1);
                }
                list.end_rendering();
            });
            frame.read_image(&image, &back);
        });
        let expected = match format {
            Format::R8G8B8A8_UNORM => vec![RED; 16],
            // Half floats: 1.0 is 0x3c00.
            _ => [0x0000_3c00, 0x3c00_0000].repeat(16),
        };
        assert_eq!(rig.words(&back), expected, "{format:?}");
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn mip_levels_are_blitted_and_drawn_one_by_one() {
    let mut rig = Rig::new();
    let desc = ImageDesc::color_target("chain", [4, 4], Format::R8G8B8A8_UNORM).with_mips(3);
    let chain = rig.gpu.create_image(&desc).unwrap();
    let back = rig.readback(4);
    rig.frame(|frame| {
        let at = frame.resource(chain.clone());
        let level = |base_mip: u32| {
            SubRange::Subresources(SubresourceRange {
                aspects: Aspects::COLOR,
                base_mip,
                mip_count: 1,
                base_layer: 0,
                layer_count: 1,
            })
        };
        let of = |mip, access, discard| Use {
            resource: at,
            range: level(mip),
            access,
            discard,
        };
        frame.pass(
            "draw",
            graphics(),
            &[of(0, Access::ColorAttachmentWrite, true)],
            |list| {
                let clear = Load::Clear([0.0, 1.0, 0.0, 1.0]);
                let attachment = ColorAttachment {
                    view: View::WHOLE.mip(0),
                    ..ColorAttachment::new(&chain, clear)
                };
                list.begin_rendering(&Rendering {
                    colors: &[attachment],
                    ..Default::default()
                });
                list.end_rendering();
            },
        );
        for mip in 1..3 {
            let uses = [
                of(mip - 1, Access::BlitRead, false),
                of(mip, Access::BlitWrite, true),
            ];
            frame.pass("blit", graphics(), &uses, |list| {
                let (src, dst) = (
                    ImageRegion::mip(&chain, mip - 1),
                    ImageRegion::mip(&chain, mip),
                );
                list.blit_image(&chain, src, &chain, dst, vk::Filter::LINEAR);
            });
        }
        let uses = [
            of(2, Access::CopyRead, false),
            discard(frame.resource(back.clone()), Access::CopyWrite),
        ];
        frame.pass("read", graphics(), &uses, |list| {
            list.copy_image_to_buffer(&chain, ImageRegion::mip(&chain, 2), &back, 0);
        });
    });
    assert_eq!(rig.words(&back), [GREEN]);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn an_attachment_without_output_stays_as_it_is() {
    let mut rig = Rig::new();
    let shader = shader(DEPTH);
    let pipeline = rig
        .gpu
        .graphics_pipeline(&GraphicsPipelineDesc::of("one of two", &shader))
        .unwrap();
    let images = [target(&rig, 4), target(&rig, 4)];
    let backs = images.each_ref().map(|image| rig.image_readback(image));
    rig.frame(|frame| {
        let uses = images
            .each_ref()
            .map(|image| discard(frame.resource(image.clone()), Access::ColorAttachmentWrite));
        frame.pass("draw", graphics(), &uses, |list| {
            let clear = Load::Clear([0.0, 0.0, 1.0, 1.0]);
            let colors = images
                .each_ref()
                .map(|image| ColorAttachment::new(image, clear));
            list.begin_rendering(&Rendering {
                colors: &colors,
                ..Default::default()
            });
            list.bind_graphics(&pipeline);
            let depth_and_red = [0.5_f32, 1.0, 0.0, 0.0].map(f32::to_le_bytes);
            list.push_constants(depth_and_red.as_flattened());
            list.draw(0..3, 0..1);
            list.end_rendering();
        });
        for (image, back) in images.iter().zip(&backs) {
            frame.read_image(image, back);
        }
    });
    assert_eq!(rig.words(&backs[0]), [RED; 16], "drawn to");
    assert_eq!(rig.words(&backs[1]), [BLUE; 16], "cleared, and no more");
}

#[test]
#[ignore = "needs a Vulkan device"]
fn nothing_is_attached_twice_in_a_pass() {
    let mut rig = Rig::new();
    let (image, other) = (target(&rig, 4), target(&rig, 4));
    let mut attempt = |renderings: &[&[&GpuImage]]| {
        let result = rig.try_frame(&mut [], |frame| {
            let uses = [&image, &other]
                .map(|image| discard(frame.resource(image.clone()), Access::ColorAttachmentWrite));
            frame.pass("draw", graphics(), &uses, |list| {
                for images in renderings {
                    let clear = Load::Clear([0.0; 4]);
                    let colors: Vec<_> = images
                        .iter()
                        .map(|image| ColorAttachment::new(image, clear))
                        .collect();
                    list.begin_rendering(&Rendering {
                        colors: &colors,
                        ..Default::default()
                    });
                    list.end_rendering();
                }
            });
        });
        result.map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(
        attempt(&[&[&image], &[&other]]),
        Ok(()),
        "one after another"
    );
    let twice = attempt(&[&[&image, &image]]).unwrap_err();
    assert!(twice.contains("target is attached twice"), "{twice}");
    let again = attempt(&[&[&image], &[&other], &[&image]]).unwrap_err();
    assert!(
        again.contains("an earlier rendering of the pass"),
        "{again}"
    );
}
