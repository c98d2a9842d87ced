//! Buffers, images and samplers.

use quadrille_ecs::*;
use quadrille_vulkan::device::Gpu;
use quadrille_vulkan::instance::{Extension, Settings};
use quadrille_vulkan::resources::{BufferDesc, BufferUsage, ImageDesc, ImageUsage, SamplerDesc};
use quadrille_vulkan::{Format, vk};

use super::DiagnosticCatalog;

pub(super) fn add(diagnostics: &mut DiagnosticCatalog, gpu: &GpuDevice) {
    extensions(diagnostics);
    buffers(diagnostics, gpu);
    images(diagnostics, gpu);
    let rough = SamplerDesc {
        anisotropy: f32::NAN,
        ..SamplerDesc::linear()
    };
    diagnostics.made("a sampler without a number", gpu.create_sampler(&rough));
}

/// Adds extensions that no device is created with.
fn extensions(diagnostics: &mut DiagnosticCatalog) {
    let mut device = |program, extension| {
        let settings = Settings {
            extensions: vec![extension],
            ..Settings::headless("catalog")
        };
        diagnostics.made(program, Gpu::new(&settings, None));
    };
    let half = vk::PhysicalDeviceShaderFloat16Int8Features::default().shader_float16(true);
    let half = Extension::required().features(half);
    device("features in a structure that a version has replaced", half);
    let none = vk::PhysicalDeviceMultiDrawFeaturesEXT::default();
    let none = Extension::required().features(none);
    device("features that are not asked for", none);
}

fn buffers(diagnostics: &mut DiagnosticCatalog, gpu: &GpuDevice) {
    let mut buffer =
        |program, desc: BufferDesc| diagnostics.made(program, gpu.create_buffer(&desc));
    buffer("a buffer without bytes", BufferDesc::storage("cells", 0));
    buffer(
        "a buffer without end",
        BufferDesc::storage("cells", 1 << 60),
    );
    let unused = BufferDesc::new("cells", 64, BufferUsage::empty());
    buffer("a buffer without usage", unused);
}

fn images(diagnostics: &mut DiagnosticCatalog, gpu: &GpuDevice) {
    const RGBA: Format = Format::R8G8B8A8_UNORM;
    let mut image = |program, desc: ImageDesc| diagnostics.made(program, gpu.create_image(&desc));
    image(
        "an image without width",
        ImageDesc::sampled("map", [0, 8], RGBA),
    );
    image(
        "an image too large",
        ImageDesc::sampled("map", [1 << 20, 8], RGBA),
    );
    image(
        "an image with too many mips",
        ImageDesc::sampled("map", [8, 8], RGBA).with_mips(9),
    );
    image(
        "an image with too many layers",
        ImageDesc::sampled("map", [8, 8], RGBA).with_layers(1 << 20),
    );
    let depth = ImageDesc::color_target("scene", [8, 8], Format::D32_SFLOAT);
    image("a color target of a depth format", depth);
    image(
        "a depth target of a color format",
        ImageDesc::depth("depth", [8, 8], RGBA),
    );
    let storage = ImageDesc::storage("map", [8, 8], Format::R8G8B8A8_SRGB);
    image("a storage image of an sRGB format", storage);
    image(
        "an image of no format",
        ImageDesc::sampled("map", [8, 8], Format::UNDEFINED),
    );
    let unused = ImageDesc::new("map", [8, 8], RGBA, ImageUsage::empty());
    image("an image without usage", unused);
}
