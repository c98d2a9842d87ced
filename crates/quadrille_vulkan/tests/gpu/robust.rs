//! Shaders with out-of-bounds indices: reads return zeros or data of the same buffer, writes do not change other
//! buffers, and the device is not lost.

use quadrille_sync::access::Access;
use quadrille_sync::flags::Layout;
use quadrille_sync::frame::Use;
use quadrille_vulkan::Format;
use quadrille_vulkan::commands::{ColorAttachment, IndexType, Load, Rendering};
use quadrille_vulkan::pipeline::{ComputePipelineDesc, GraphicsPipelineDesc, VertexLayout};
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer, ImageDesc};
use quadrille_vulkan::shader::GpuShader;

use crate::rig::{Declared, Rig, compute, discard, graphics};

/// Reads and writes elements of one buffer at the indices in another one.
const WILD: &str = "
@group(0) @binding(0) var<storage, read_write> cells: array<u32>;
@group(0) @binding(1) var<storage, read> wild: array<u32>;
@group(0) @binding(2) var<storage, read_write> seen: array<u32>;
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = wild[id.x];
    seen[id.x] = cells[at];
    cells[at] = 0xbadu;
}
";
const WILD_INDICES: [u32; 16] = [
    16,
    17,
    31,
    64,
    255,
    256,
    1024,
    4096,
    65_535,
    1 << 20,
    1 << 24,
    1 << 28,
    1 << 30,
    1 << 31,
    u32::MAX - 1,
    u32::MAX,
];
const BYTES: u64 = 64;
/// Words of the buffer, and of the neighboring buffers.
const OWN: u32 = 0x1111;
const OTHER: u32 = 0x2222;

/// Adds a pass that fills a buffer with a word.
fn fill(frame: &mut Declared, buffer: &GpuBuffer, word: u32) {
    let uses = [discard(frame.resource(buffer.clone()), Access::Clear)];
    frame.pass("fill", compute(), &uses, |list| {
        list.fill_buffer(buffer, 0, buffer.bytes(), word);
    });
}

fn upload(rig: &mut Rig, desc: &BufferDesc, words: &[u32]) -> GpuBuffer {
    let buffer = rig.gpu.create_buffer(desc).unwrap();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    buffer.write(0, &bytes).unwrap();
    rig.states.import(buffer.id(), Layout::Undefined, None);
    buffer
}

#[test]
#[ignore = "needs a Vulkan device"]
fn indices_of_storage_buffers_stay_within_them() {
    let mut rig = Rig::new();
    let shader = GpuShader::wgsl("wild", WILD).unwrap();
    let desc = ComputePipelineDesc::of("wild", &shader);
    let pipeline = rig.gpu.compute_pipeline(&desc).unwrap();
    // Neighbors in one memory block, as the allocator places them.
    let buffers: Vec<_> = (0..5)
        .map(|at| rig.storage(&format!("buffer {at}"), BYTES))
        .collect();
    let (cells, seen) = (buffers[2].clone(), rig.storage("seen", BYTES));
    let desc = BufferDesc::upload("wild", BYTES);
    let desc = desc.with_usage(quadrille_vulkan::resources::BufferUsage::STORAGE);
    let wild = upload(&mut rig, &desc, &WILD_INDICES);
    let back: Vec<_> = (0..6).map(|_| rig.readback(BYTES)).collect();
    rig.frame(|frame| {
        for buffer in &buffers {
            let word = if *buffer == cells { OWN } else { OTHER };
            fill(frame, buffer, word);
        }
        let uses = [
            Use::whole(
                frame.resource(cells.clone()),
                Access::StorageReadWriteCompute,
            ),
            Use::whole(frame.resource(wild.clone()), Access::StorageReadCompute),
            discard(frame.resource(seen.clone()), Access::StorageWriteCompute),
        ];
        frame.pass("wild", compute(), &uses, |list| {
            list.bind_compute(&pipeline);
            list.bind_buffer(0, &cells, 0, 0);
            list.bind_buffer(1, &wild, 0, 0);
            list.bind_buffer(2, &seen, 0, 0);
            list.dispatch([1, 1, 1]);
        });
        for (buffer, back) in buffers.iter().chain([&seen]).zip(&back) {
            frame.read_back(buffer, back);
        }
    });
    for (at, back) in back.iter().enumerate() {
        let words = rig.words(back);
        let allowed: &[u32] = match at {
            2 => &[OWN, 0xbad],
            5 => &[0, OWN, 0xbad],
            _ => &[OTHER],
        };
        let is_allowed = words.iter().all(|word| allowed.contains(word));
        assert!(is_allowed, "buffer {at} has {words:x?}");
    }
}

/// A vertex shader that needs four vertices; the buffer has three.
const CORNERS: &str = "
@vertex fn vertex(@location(0) position: vec2<f32>) -> @builtin(position) vec4<f32> {
    return vec4<f32>(position, 0.0, 1.0);
}
@fragment fn fragment() -> @location(0) vec4<f32> { return vec4<f32>(1.0); }
";

#[test]
#[ignore = "needs a Vulkan device"]
fn indices_of_vertices_stay_within_their_buffer() {
    let mut rig = Rig::new();
    let shader = GpuShader::wgsl("corners", CORNERS).unwrap();
    let layout = VertexLayout::packed(0, &[Format::R32G32_SFLOAT]);
    let mut desc = GraphicsPipelineDesc::new("corners", (&shader, "vertex"), (&shader, "fragment"));
    desc.vertex_buffers = vec![layout];
    let pipeline = rig.gpu.graphics_pipeline(&desc).unwrap();
    let corner = [-1.0_f32, -1.0, 3.0, -1.0, -1.0, 3.0].map(f32::to_bits);
    let desc =
        BufferDesc::vertex("corners", 24).in_memory(quadrille_vulkan::resources::Memory::Upload);
    let corners = upload(&mut rig, &desc, &corner);
    let wild = [0, 1, 2, 0, 1, u32::MAX, 7, 1 << 20, 1 << 30];
    let desc = BufferDesc::index("wild", 36).in_memory(quadrille_vulkan::resources::Memory::Upload);
    let indices = upload(&mut rig, &desc, &wild);
    let target = ImageDesc::color_target("target", [4, 4], Format::R8G8B8A8_UNORM);
    let target = rig.gpu.create_image(&target).unwrap();
    let back = rig.image_readback(&target);
    for _ in 0..2 {
        rig.frame(|frame| {
            let uses = [
                discard(frame.resource(target.clone()), Access::ColorAttachmentWrite),
                Use::whole(frame.resource(corners.clone()), Access::VertexRead),
                Use::whole(frame.resource(indices.clone()), Access::IndexRead),
            ];
            frame.pass("wild", graphics(), &uses, |list| {
                let colors = [ColorAttachment::new(&target, Load::Clear([0.0; 4]))];
                list.begin_rendering(&Rendering {
                    colors: &colors,
                    ..Default::default()
                });
                list.bind_graphics(&pipeline);
                list.vertex_buffer(0, &corners, 0);
                list.index_buffer(&indices, 0, IndexType::U32);
                list.draw_indexed(0..9, 0, 0..1);
                list.end_rendering();
            });
            frame.read_image(&target, &back);
        });
        // The first triangle covers everything. The others are undefined, but white.
        assert_eq!(rig.words(&back), [u32::MAX; 16]);
    }
}
