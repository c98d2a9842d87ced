//! Random descriptions either return an error or succeed, and the validation layer never reports a message.
//!
//! `QUADRILLE_ANYTHING_SEED` and `QUADRILLE_ANYTHING_FRAMES` set the seed and the number of frames.

#![expect(clippy::print_stderr, reason = "how much was tried is worth knowing")]

use std::fmt::Debug;

use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::instance::{Settings, validation_messages};
use quadrille_vulkan::pipeline::{
    Blend, BlendEquation, ColorState, Cull, DepthBias, DepthState, Formats, GraphicsPipelineDesc,
    PipelineState, PrimitiveTopology as Topology, StencilFace, StencilState, VertexAttribute,
    VertexLayout,
};
use quadrille_vulkan::resources::{
    BufferDesc, BufferUsage, ImageDesc, ImageUsage, Memory, SamplerDesc, Sharing,
};
use quadrille_vulkan::shader::GpuShader;
use quadrille_vulkan::{Error, Format, vk};

/// Formats of all kinds: colors, integers, depth, blocks, planes, none.
const FORMATS: [Format; 24] = [
    Format::R8G8B8A8_UNORM,
    Format::R8G8B8A8_UNORM,
    Format::B8G8R8A8_SRGB,
    Format::R8_UNORM,
    Format::R8G8B8_UNORM,
    Format::R16G16B16A16_SFLOAT,
    Format::R32_SFLOAT,
    Format::R32_UINT,
    Format::R32G32_SFLOAT,
    Format::R32G32B32_SFLOAT,
    Format::R32G32B32A32_SINT,
    Format::R64_UINT,
    Format::B10G11R11_UFLOAT_PACK32,
    Format::E5B9G9R9_UFLOAT_PACK32,
    Format::A2B10G10R10_UNORM_PACK32,
    Format::D16_UNORM,
    Format::D32_SFLOAT,
    Format::D24_UNORM_S8_UINT,
    Format::D32_SFLOAT_S8_UINT,
    Format::S8_UINT,
    Format::BC1_RGBA_UNORM_BLOCK,
    Format::ASTC_8X8_SRGB_BLOCK,
    Format::G8_B8R8_2PLANE_420_UNORM,
    Format::UNDEFINED,
];

/// Numbers from a seed.
struct Dice(fastrand::Rng);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0.u64(..limit)
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.usize(..of.len())]
    }

    /// Usually one of the first, rarely one of the others.
    fn mostly<T: Copy>(&mut self, usual: &[T], odd: &[T]) -> T {
        match self.below(12) {
            0 => self.pick(odd),
            _ => self.pick(usual),
        }
    }

    fn sharing(&mut self) -> Sharing {
        self.pick(&[Sharing::Exclusive, Sharing::Concurrent, Sharing::Auto])
    }

    fn buffer(&mut self) -> BufferDesc {
        let usage = BufferUsage::from_bits_truncate(self.0.u32(..));
        BufferDesc {
            memory: self.pick(&[Memory::Device, Memory::Upload, Memory::Readback]),
            sharing: self.sharing(),
            transient: self.below(4) == 0,
            ..BufferDesc::new(
                "a buffer",
                self.mostly(&[1, 4, 256, 65_537], &[0, 1 << 40, u64::MAX]),
                usage,
            )
        }
    }

    fn image(&mut self) -> ImageDesc {
        let side = |dice: &mut Self| dice.mostly(&[1, 4, 16, 63], &[0, 16_384, 65_536, u32::MAX]);
        let usage = match self.below(3) {
            0 => ImageUsage::from_bits_truncate(self.0.u32(..)),
            _ => self.pick(&[
                ImageUsage::SAMPLED,
                ImageUsage::SAMPLED | ImageUsage::COLOR_ATTACHMENT,
                ImageUsage::DEPTH_STENCIL_ATTACHMENT,
                ImageUsage::STORAGE,
            ]),
        };
        let (width, height) = (side(self), side(self));
        let depth = self.mostly(&[1, 1, 1, 1, 8], &[0, 4096, u32::MAX]);
        ImageDesc {
            extent: [width, height, depth],
            mip_levels: self.mostly(&[1, 1, 3], &[0, 7, 40, u32::MAX]),
            array_layers: self.mostly(&[1, 1, 2, 6, 12], &[0, 5000, u32::MAX]),
            samples: self.mostly(&[1, 1, 4], &[0, 2, 3, 8, 64, u32::MAX]),
            cube: self.below(4) == 0,
            sharing: self.sharing(),
            transient: self.below(4) == 0,
            ..ImageDesc::new("an image", [1, 1], self.pick(&FORMATS), usage)
        }
    }

    fn sampler(&mut self) -> SamplerDesc {
        let filters = [vk::Filter::LINEAR, vk::Filter::NEAREST];
        let odd = [vk::Filter::CUBIC_EXT, vk::Filter::from_raw(77)];
        let addresses = [
            vk::SamplerAddressMode::REPEAT,
            vk::SamplerAddressMode::MIRRORED_REPEAT,
            vk::SamplerAddressMode::CLAMP_TO_BORDER,
        ];
        let odd_addresses = [
            vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
            vk::SamplerAddressMode::from_raw(-3),
        ];
        let compare = [None, None, Some(vk::CompareOp::LESS)];
        SamplerDesc {
            name: "a sampler".to_owned(),
            magnify: self.mostly(&filters, &odd),
            minify: self.mostly(&filters, &odd),
            mipmap: vk::SamplerMipmapMode::LINEAR,
            address: self.mostly(&addresses, &odd_addresses),
            addresses: match self.below(3) {
                0 => Some([(); 3].map(|()| self.mostly(&addresses, &odd_addresses))),
                _ => None,
            },
            border: self.mostly(
                &[
                    vk::BorderColor::INT_OPAQUE_BLACK,
                    vk::BorderColor::default(),
                ],
                &[vk::BorderColor::FLOAT_CUSTOM_EXT],
            ),
            reduction: self.mostly(
                &[
                    vk::SamplerReductionMode::WEIGHTED_AVERAGE,
                    vk::SamplerReductionMode::MIN,
                ],
                &[vk::SamplerReductionMode::from_raw(9)],
            ),
            bias: self.mostly(&[0.0, 1.5], &[1e9, -1e9, f32::NAN]),
            levels: self.mostly(
                &[[0.0, vk::LOD_CLAMP_NONE], [1.0, 2.0], [-2.0, 0.5]],
                &[
                    [2.0, 1.0],
                    [f32::NAN, 1.0],
                    [0.0, f32::NAN],
                    [f32::NEG_INFINITY, 0.0],
                ],
            ),
            anisotropy: self.pick(&[1.0, 0.0, -1.0, 4.0, 1e9, f32::NAN, f32::INFINITY]),
            compare: self.mostly(&compare, &[Some(vk::CompareOp::from_raw(99))]),
        }
    }

    fn vertex_layout(&mut self, location: u32) -> VertexLayout {
        let odd = [7, 1000, u32::MAX];
        let attribute = |dice: &mut Self, location| VertexAttribute {
            location: dice.mostly(&[location], &odd),
            format: dice.pick(&FORMATS),
            offset: dice.mostly(&[0, 4, 8], &odd),
        };
        let attributes = (0..self.below(3) as u32).map(|at| attribute(self, location + at));
        VertexLayout {
            attributes: attributes.collect(),
            stride: self.mostly(&[0, 4, 8, 16, 64], &odd),
            per_instance: self.below(2) == 0,
        }
    }

    fn pipeline<'a>(&mut self, shader: &'a GpuShader) -> GraphicsPipelineDesc<'a> {
        let vertex = self.mostly(&["corner", "vertex"], &["paint", "nobody", ""]);
        let fragment = self.mostly(&["paint", "count"], &["corner", "nobody"]);
        let mut desc =
            GraphicsPipelineDesc::new("a pipeline", (shader, vertex), (shader, fragment));
        if self.below(6) == 0 {
            desc.fragment = None;
        }
        let slots = self.mostly(&[0, 0, 1, 2], &[40, 300]);
        desc.vertex_buffers = (0..slots)
            .map(|slot| self.vertex_layout(2 * slot))
            .collect();
        if self.below(2) == 0 {
            let layout = VertexLayout::packed(0, &[Format::R32G32_SFLOAT, Format::R32_SFLOAT]);
            desc.vertex_buffers = vec![layout];
        }
        let all = [
            Topology::Points,
            Topology::Lines,
            Topology::LineStrip,
            Topology::Triangles,
            Topology::TriangleStrip,
        ];
        desc.topology = self.pick(&all);
        desc.cull = self.pick(&[Cull::None, Cull::Front, Cull::Back]);
        desc.blend = self.pick(&[
            Blend::Opaque,
            Blend::Alpha,
            Blend::Premultiplied,
            Blend::Additive,
        ]);
        desc.depth = self.pick(&[None, Some(DepthState::LESS), Some(DepthState::GREATER)]);
        desc.state = self.state();
        desc
    }

    fn color_state(&mut self) -> ColorState {
        let factors = [vk::BlendFactor::ONE, vk::BlendFactor::CONSTANT_ALPHA];
        let odd_factors = [vk::BlendFactor::SRC1_ALPHA, vk::BlendFactor::from_raw(-1)];
        let ops = [vk::BlendOp::ADD, vk::BlendOp::MAX];
        let odd_ops = [vk::BlendOp::XOR_EXT, vk::BlendOp::from_raw(7)];
        let [color, alpha] = [(); 2].map(|()| BlendEquation {
            src: self.mostly(&factors, &odd_factors),
            dst: self.mostly(&factors, &odd_factors),
            op: self.mostly(&ops, &odd_ops),
        });
        let blend = self.pick(&[Blend::Opaque, Blend::Alpha, Blend::Custom { color, alpha }]);
        let masks = [0, 3, 15, u32::MAX].map(vk::ColorComponentFlags::from_raw);
        ColorState::new(blend).with_mask(self.pick(&masks))
    }

    fn state(&mut self) -> PipelineState {
        if self.below(2) == 0 {
            return PipelineState::default();
        }
        let colors = (0..self.below(3)).map(|_| self.color_state()).collect();
        let op = |dice: &mut Self| {
            let odd = [vk::StencilOp::from_raw(99)];
            dice.mostly(&[vk::StencilOp::KEEP, vk::StencilOp::INVERT], &odd)
        };
        let [front, back] = [(); 2].map(|()| StencilFace {
            compare: self.mostly(&[vk::CompareOp::EQUAL], &[vk::CompareOp::from_raw(8)]),
            fail: op(self),
            depth_fail: op(self),
            pass: op(self),
        });
        let stencil = StencilState {
            front,
            back,
            ..StencilState::write(3)
        };
        let bias = |clamp| DepthBias {
            constant: 1.0,
            slope: 2.0,
            clamp,
        };
        let odd_polygons = [vk::PolygonMode::FILL_RECTANGLE_NV];
        let bounds = [None, None, Some([0.2, 0.1])];
        let biases = [None, Some(bias(0.0)), Some(bias(-0.5))];
        PipelineState {
            colors,
            logic: self.mostly(
                &[None, Some(vk::LogicOp::AND)],
                &[Some(vk::LogicOp::from_raw(16))],
            ),
            alpha_to_coverage: self.below(4) == 0,
            alpha_to_one: self.below(4) == 0,
            sample_shading: self.mostly(&[None, Some(0.5)], &[Some(2.0), Some(f32::NAN)]),
            front_face: self.pick(&[vk::FrontFace::CLOCKWISE, vk::FrontFace::COUNTER_CLOCKWISE]),
            polygon: self.mostly(
                &[vk::PolygonMode::FILL, vk::PolygonMode::LINE],
                &odd_polygons,
            ),
            depth_bias: self.mostly(&biases, &[Some(bias(f32::INFINITY))]),
            depth_clamp: self.below(3) == 0,
            depth_bounds: self.mostly(&bounds, &[Some([-1.0, 0.0]), Some([0.0, f32::NAN])]),
            stencil: self.pick(&[None, Some(stencil)]),
        }
    }

    fn formats(&mut self) -> Formats {
        let mut formats = Formats {
            depth: self.mostly(&[Format::UNDEFINED, Format::D32_SFLOAT], &FORMATS),
            samples: self.mostly(&[1, 4], &[0, 2, 3, 8, 64, u32::MAX]),
            view_mask: self.mostly(&[0, 3], &[1, 4, 1 << 31, u32::MAX]),
            ..Formats::default()
        };
        for at in 0..self.below(3) as usize {
            formats.colors[at] = self.mostly(&[Format::R8G8B8A8_UNORM, Format::R32_UINT], &FORMATS);
        }
        formats
    }
}

const SHADER: &str = "
    @vertex
    fn corner(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
        return vec4f(f32(index), 0.0, 0.5, 1.0);
    }

    @vertex
    fn vertex(@location(0) at: vec2f, @location(1) size: f32) -> @builtin(position) vec4f {
        return vec4f(at * size, 0.5, 1.0);
    }

    @fragment
    fn paint() -> @location(0) vec4f {
        return vec4f(1.0, 0.5, 0.25, 1.0);
    }

    @fragment
    fn count() -> @location(0) u32 {
        return 7u;
    }";

fn from_environment(name: &str, otherwise: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(otherwise, |value| value.parse().expect("a number is given"))
}

/// Creates random descriptions many times. None may cause a validation message; some must succeed and some fail.
fn try_all(what: &str, mut make: impl FnMut(&mut Dice) -> Result<(), String>) {
    let first = from_environment("QUADRILLE_ANYTHING_SEED", 1);
    let count = from_environment("QUADRILLE_ANYTHING_FRAMES", 400);
    let is_verbose = std::env::var_os("QUADRILLE_ANYTHING_VERBOSE").is_some();
    let (mut made, mut refused) = (0, 0);
    for seed in first..first + count {
        let before = validation_messages();
        let result = make(&mut Dice::new(seed));
        let new = validation_messages() - before;
        assert_eq!(new, 0, "{what} of seed {seed} has messages: {result:#?}");
        if is_verbose {
            eprintln!("{seed}: {result:?}");
        }
        *(if result.is_ok() {
            &mut made
        } else {
            &mut refused
        }) += 1;
    }
    assert!(
        made > count / 20 && refused > 0,
        "{made} made, {refused} refused"
    );
    eprintln!("{what}: {made} were made, {refused} were refused");
}

/// A device, with the validation layer if the test uses it.
fn gpu() -> Gpu {
    let gpu = Gpu::new(&Settings::headless("anything"), None).expect("there is a device");
    let is_judged = std::env::var_os("QUADRILLE_VALIDATED").is_some();
    assert!(
        !is_judged || gpu.info().validation.is_some(),
        "the validation layer is not active"
    );
    gpu
}

/// Returns the error of an invalid description.
fn refusal<T>(made: Result<T, Error>, desc: &impl Debug) -> Result<(), String> {
    let made = made.map(drop);
    made.map_err(|error| format!("{error} of {desc:?}"))
}

#[test]
#[ignore = "needs a device"]
fn whatever_buffer_is_described_is_refused_or_made() {
    let gpu = gpu();
    try_all("buffers", |dice| {
        let desc = dice.buffer();
        refusal(gpu.create_buffer(&desc), &desc)
    });
}

#[test]
#[ignore = "needs a device"]
fn whatever_image_is_described_is_refused_or_made() {
    let gpu = gpu();
    try_all("images", |dice| {
        let desc = dice.image();
        refusal(gpu.create_image(&desc), &desc)
    });
}

#[test]
#[ignore = "needs a device"]
fn whatever_sampler_is_described_is_refused_or_made() {
    let gpu = gpu();
    try_all("samplers", |dice| {
        let desc = dice.sampler();
        refusal(gpu.create_sampler(&desc), &desc)
    });
}

#[test]
#[ignore = "needs a device"]
fn whatever_pipeline_is_described_is_refused_or_made() {
    let gpu = gpu();
    let shader = GpuShader::wgsl("anything.wgsl", SHADER).expect("it is right");
    try_all("pipelines", |dice| {
        let desc = dice.pipeline(&shader);
        let pipeline = gpu.graphics_pipeline(&desc);
        let pipeline = pipeline.map_err(|error| format!("{error} of {desc:?}"))?;
        let formats = dice.formats();
        let compiled = pipeline.wait(&formats);
        compiled.map_err(|error| format!("{error} for {formats:?} of {desc:?}"))
    });
}
