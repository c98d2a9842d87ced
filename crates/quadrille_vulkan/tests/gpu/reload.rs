//! Shaders that are edited while frames run.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use quadrille_sync::access::Access;
use quadrille_vulkan::Format;
use quadrille_vulkan::commands::{ColorAttachment, Load, Rendering};
use quadrille_vulkan::device::{Gpu, Reloaded};
use quadrille_vulkan::pipeline::{GraphicsPipeline, GraphicsPipelineDesc};
use quadrille_vulkan::resources::{GpuImage, ImageDesc};
use quadrille_vulkan::shader::GpuShader;

use crate::repeat::{ADD, Adding};
use crate::rig::{Rig, TIMEOUT, discard, graphics};

/// A shader file in a temporary folder.
pub(crate) struct Source {
    folder: PathBuf,
    pub(crate) path: PathBuf,
}

impl Source {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let folder = crate::test_folder::make(name).canonicalize().unwrap();
        let path = folder.join(format!("{name}.wgsl"));
        fs::write(&path, text).unwrap();
        Self { folder, path }
    }

    /// Writes another shader and waits for its reload, while frames run. Returns the result.
    pub(crate) fn edit(
        &self,
        gpu: &Gpu,
        text: impl AsRef<[u8]>,
        mut frame: impl FnMut(),
    ) -> Reloaded {
        fs::write(&self.path, text).unwrap();
        assert!(gpu.reload_shader(&self.path), "a pipeline is made from it");
        let start = Instant::now();
        while start.elapsed() < TIMEOUT {
            frame();
            if let Some(reloaded) = gpu.take_reloads().pop() {
                return reloaded;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("nothing comes of the edit");
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Cached calls are not replayed with the old pipeline, although plan, list and handle are the same.
#[test]
#[ignore = "needs a Vulkan device"]
fn frames_that_repeat_notice_another_shader() {
    for chunks in [1, 3] {
        let source = Source::new("add", ADD);
        let mut adding = Adding::with(chunks, &GpuShader::load(&source.path).unwrap());
        let [a, b] = ["a", "b"].map(|name| adding.zeros(name));
        let gpu = adding.rig.gpu.clone();
        let mut expected = 0;
        for factor in [1, 10, 100, 1000] {
            let text = ADD.replace("+= value", &format!("+= {factor} * value"));
            let old = if factor == 1 { 1 } else { factor / 10 };
            let mut frames = 0;
            let reloaded = source.edit(&gpu, text, || {
                adding.run(1, &[(&a, 1), (&b, 2)]);
                frames += 1;
            });
            assert!(reloaded.result.is_ok(), "{reloaded}");
            assert_eq!(reloaded.pipelines, ["add"]);
            // The change arrives between two frames.
            adding.run(5, &[(&a, 1), (&b, 2)]);
            expected += old * frames + factor * 5;
        }
        assert!(adding.reused > 10, "{} plans were reused", adding.reused);
        assert_eq!([adding.sum(&a), adding.sum(&b)], [expected, 2 * expected]);
    }
}

const PICTURE: &str = "
@group(0) @binding(0) var<uniform> unused: vec4<f32>;
struct Corner { @builtin(position) position: vec4<f32>, @location(0) uv: vec2<f32> }
@vertex fn vertex(@builtin(vertex_index) at: u32) -> Corner {
    var corners = array(vec2(-1.0, -1.0), vec2(3.0, -1.0), vec2(-1.0, 3.0));
    return Corner(vec4<f32>(corners[at], 0.5, 1.0), corners[at]);
}
@fragment fn fragment(corner: Corner) -> @location(0) vec4<f32> {
    return vec4<f32>(1.0, 0.0, 0.0, 1.0);
}
";

const RED: u32 = u32::from_le_bytes([255, 0, 0, 255]);
const GREEN: u32 = u32::from_le_bytes([0, 255, 0, 255]);

/// Draws a picture with a pipeline.
struct Drawing {
    rig: Rig,
    image: GpuImage,
    pipeline: GraphicsPipeline,
}

impl Drawing {
    fn new(source: &Source) -> Self {
        let rig = Rig::new();
        let shader = GpuShader::load(&source.path).unwrap();
        let pipeline = rig
            .gpu
            .graphics_pipeline(&GraphicsPipelineDesc::of("picture", &shader))
            .unwrap();
        let image = ImageDesc::color_target("image", [8, 8], Format::R8G8B8A8_UNORM);
        let image = rig.gpu.create_image(&image).unwrap();
        Self {
            rig,
            image,
            pipeline,
        }
    }

    fn frame(&mut self) {
        let Self {
            rig,
            image,
            pipeline,
        } = self;
        rig.frame(|frame| {
            let uses = [discard(
                frame.resource(image.clone()),
                Access::ColorAttachmentWrite,
            )];
            frame.pass("draw", graphics(), &uses, |list| {
                let colors = [ColorAttachment::new(image, Load::Clear([0.0; 4]))];
                list.begin_rendering(&Rendering {
                    colors: &colors,
                    ..Default::default()
                });
                list.bind_graphics(pipeline);
                list.draw(0..3, 0..1);
                list.end_rendering();
            });
        });
    }

    /// The color of all pixels.
    fn color(&mut self) -> u32 {
        let back = self.rig.image_readback(&self.image);
        let image = self.image.clone();
        self.rig.frame(|frame| frame.read_image(&image, &back));
        let pixels = self.rig.words(&back);
        assert!(pixels.iter().all(|pixel| *pixel == pixels[0]), "{pixels:?}");
        pixels[0]
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn a_broken_source_leaves_the_picture_and_the_next_good_one_changes_it() {
    let source = Source::new("picture", PICTURE);
    let mut drawing = Drawing::new(&source);
    drawing.frame();
    assert_eq!(drawing.color(), RED);
    let gpu = drawing.rig.gpu.clone();
    let half = &PICTURE[..PICTURE.len() / 2];
    let uses_more = PICTURE.replace("(1.0, 0.0,", "(unused.x, 0.0,");
    let unlinked = PICTURE.replace(
        "fragment(corner: Corner)",
        "fragment(@location(3) corner: f32)",
    );
    let (no_entry, _) = PICTURE.split_once("@fragment").unwrap();
    for (broken, expected) in [
        (half.as_bytes(), "picture.wgsl:"),
        (b"", "no vertex entry point"),
        (b"\xff\xfe", "picture.wgsl:1:1: the text is not UTF-8"),
        (
            uses_more.as_bytes(),
            "@binding(0) unused, which the program does not bind",
        ),
        (
            unlinked.as_bytes(),
            "@location(3) f32, which vertex does not write",
        ),
        (no_entry.as_bytes(), "no fragment entry point"),
        (&[b' '; (16 << 20) + 1], "more than 16777216 bytes"),
    ] {
        let reloaded = source.edit(&gpu, broken, || drawing.frame());
        let line = reloaded.to_string();
        assert!(reloaded.result.is_err(), "{line}");
        assert!(
            line.contains(expected) && line.contains("picture.wgsl"),
            "{line}"
        );
        assert!(line.ends_with("; unchanged: picture"), "{line}");
        assert!(!line.contains('\n'), "{line}");
        drawing.frame();
        assert_eq!(drawing.color(), RED, "{line}");
    }
    let green = PICTURE.replace("(1.0, 0.0,", "(0.0, 1.0,");
    let reloaded = source.edit(&gpu, &green, || drawing.frame());
    assert!(reloaded.result.is_ok(), "{reloaded}");
    drawing.frame();
    assert_eq!(drawing.color(), GREEN);
}

/// Everything is dropped while a file is loaded, or after it was loaded but before the result is taken.
#[test]
#[ignore = "needs a Vulkan device"]
fn the_device_may_end_in_the_middle() {
    for asks in [false, true] {
        let source = Source::new("middle", PICTURE);
        let mut drawing = Drawing::new(&source);
        drawing.frame();
        let gpu = drawing.rig.gpu.clone();
        for part in 0..4 {
            let text = PICTURE.replace("(1.0, 0.0,", &format!("(1.0, 0.{part},"));
            fs::write(&source.path, text).unwrap();
            gpu.reload_shader(&source.path);
            drawing.frame();
            if asks {
                gpu.take_reloads();
            }
        }
    }
}
