use ash::vk;
use quadrille_sync::flags::{AccessMask, Aspects, Layout, Stages};
use quadrille_sync::topology::{Capabilities, FamilyIndex};

/// Asserts for each name that ours equals `PREFIX_NAME` of ash.
macro_rules! same {
    ($ours:ident, $theirs:ident, [$($our_name:ident = $their_name:ident),* $(,)?]) => {{
        let mut compared = $ours::empty();
        $(
            assert_eq!(
                $ours::$our_name.bits(),
                vk::$theirs::$their_name.as_raw(),
                stringify!($our_name),
            );
            compared |= $ours::$our_name;
        )*
        assert_eq!(compared, $ours::all(), "a flag is not compared");
    }};
}

#[test]
fn stages_are_vulkans() {
    same!(
        Stages,
        PipelineStageFlags2,
        [
            TOP_OF_PIPE = TOP_OF_PIPE,
            DRAW_INDIRECT = DRAW_INDIRECT,
            VERTEX_INPUT = VERTEX_INPUT,
            VERTEX_SHADER = VERTEX_SHADER,
            TESSELLATION_CONTROL_SHADER = TESSELLATION_CONTROL_SHADER,
            TESSELLATION_EVALUATION_SHADER = TESSELLATION_EVALUATION_SHADER,
            GEOMETRY_SHADER = GEOMETRY_SHADER,
            FRAGMENT_SHADER = FRAGMENT_SHADER,
            EARLY_FRAGMENT_TESTS = EARLY_FRAGMENT_TESTS,
            LATE_FRAGMENT_TESTS = LATE_FRAGMENT_TESTS,
            COLOR_ATTACHMENT_OUTPUT = COLOR_ATTACHMENT_OUTPUT,
            COMPUTE_SHADER = COMPUTE_SHADER,
            ALL_TRANSFER = ALL_TRANSFER,
            BOTTOM_OF_PIPE = BOTTOM_OF_PIPE,
            HOST = HOST,
            ALL_GRAPHICS = ALL_GRAPHICS,
            ALL_COMMANDS = ALL_COMMANDS,
            COMMAND_PREPROCESS = COMMAND_PREPROCESS_NV,
            CONDITIONAL_RENDERING = CONDITIONAL_RENDERING_EXT,
            TASK_SHADER = TASK_SHADER_EXT,
            MESH_SHADER = MESH_SHADER_EXT,
            RAY_TRACING_SHADER = RAY_TRACING_SHADER_KHR,
            FRAGMENT_SHADING_RATE_ATTACHMENT = FRAGMENT_SHADING_RATE_ATTACHMENT_KHR,
            FRAGMENT_DENSITY_PROCESS = FRAGMENT_DENSITY_PROCESS_EXT,
            TRANSFORM_FEEDBACK = TRANSFORM_FEEDBACK_EXT,
            ACCELERATION_STRUCTURE_BUILD = ACCELERATION_STRUCTURE_BUILD_KHR,
            VIDEO_DECODE = VIDEO_DECODE_KHR,
            VIDEO_ENCODE = VIDEO_ENCODE_KHR,
            ACCELERATION_STRUCTURE_COPY = ACCELERATION_STRUCTURE_COPY_KHR,
            OPTICAL_FLOW = OPTICAL_FLOW_NV,
            MICROMAP_BUILD = MICROMAP_BUILD_EXT,
            COPY = COPY,
            RESOLVE = RESOLVE,
            BLIT = BLIT,
            CLEAR = CLEAR,
            INDEX_INPUT = INDEX_INPUT,
            VERTEX_ATTRIBUTE_INPUT = VERTEX_ATTRIBUTE_INPUT,
            PRE_RASTERIZATION_SHADERS = PRE_RASTERIZATION_SHADERS,
        ]
    );
}

#[test]
fn access_masks_are_vulkans() {
    same!(
        AccessMask,
        AccessFlags2,
        [
            INDIRECT_COMMAND_READ = INDIRECT_COMMAND_READ,
            INDEX_READ = INDEX_READ,
            VERTEX_ATTRIBUTE_READ = VERTEX_ATTRIBUTE_READ,
            UNIFORM_READ = UNIFORM_READ,
            INPUT_ATTACHMENT_READ = INPUT_ATTACHMENT_READ,
            SHADER_READ = SHADER_READ,
            SHADER_WRITE = SHADER_WRITE,
            COLOR_ATTACHMENT_READ = COLOR_ATTACHMENT_READ,
            COLOR_ATTACHMENT_WRITE = COLOR_ATTACHMENT_WRITE,
            DEPTH_STENCIL_ATTACHMENT_READ = DEPTH_STENCIL_ATTACHMENT_READ,
            DEPTH_STENCIL_ATTACHMENT_WRITE = DEPTH_STENCIL_ATTACHMENT_WRITE,
            TRANSFER_READ = TRANSFER_READ,
            TRANSFER_WRITE = TRANSFER_WRITE,
            HOST_READ = HOST_READ,
            HOST_WRITE = HOST_WRITE,
            MEMORY_READ = MEMORY_READ,
            MEMORY_WRITE = MEMORY_WRITE,
            COMMAND_PREPROCESS_READ = COMMAND_PREPROCESS_READ_NV,
            COMMAND_PREPROCESS_WRITE = COMMAND_PREPROCESS_WRITE_NV,
            COLOR_ATTACHMENT_READ_NONCOHERENT = COLOR_ATTACHMENT_READ_NONCOHERENT_EXT,
            CONDITIONAL_RENDERING_READ = CONDITIONAL_RENDERING_READ_EXT,
            ACCELERATION_STRUCTURE_READ = ACCELERATION_STRUCTURE_READ_KHR,
            ACCELERATION_STRUCTURE_WRITE = ACCELERATION_STRUCTURE_WRITE_KHR,
            FRAGMENT_SHADING_RATE_ATTACHMENT_READ = FRAGMENT_SHADING_RATE_ATTACHMENT_READ_KHR,
            FRAGMENT_DENSITY_MAP_READ = FRAGMENT_DENSITY_MAP_READ_EXT,
            TRANSFORM_FEEDBACK_WRITE = TRANSFORM_FEEDBACK_WRITE_EXT,
            TRANSFORM_FEEDBACK_COUNTER_READ = TRANSFORM_FEEDBACK_COUNTER_READ_EXT,
            TRANSFORM_FEEDBACK_COUNTER_WRITE = TRANSFORM_FEEDBACK_COUNTER_WRITE_EXT,
            SHADER_SAMPLED_READ = SHADER_SAMPLED_READ,
            SHADER_STORAGE_READ = SHADER_STORAGE_READ,
            SHADER_STORAGE_WRITE = SHADER_STORAGE_WRITE,
            VIDEO_DECODE_READ = VIDEO_DECODE_READ_KHR,
            VIDEO_DECODE_WRITE = VIDEO_DECODE_WRITE_KHR,
            VIDEO_ENCODE_READ = VIDEO_ENCODE_READ_KHR,
            VIDEO_ENCODE_WRITE = VIDEO_ENCODE_WRITE_KHR,
            SHADER_BINDING_TABLE_READ = SHADER_BINDING_TABLE_READ_KHR,
            DESCRIPTOR_BUFFER_READ = DESCRIPTOR_BUFFER_READ_EXT,
            OPTICAL_FLOW_READ = OPTICAL_FLOW_READ_NV,
            OPTICAL_FLOW_WRITE = OPTICAL_FLOW_WRITE_NV,
            MICROMAP_READ = MICROMAP_READ_EXT,
            MICROMAP_WRITE = MICROMAP_WRITE_EXT,
        ]
    );
}

#[test]
fn aspects_are_vulkans() {
    same!(
        Aspects,
        ImageAspectFlags,
        [
            COLOR = COLOR,
            DEPTH = DEPTH,
            STENCIL = STENCIL,
            METADATA = METADATA,
            PLANE_0 = PLANE_0,
            PLANE_1 = PLANE_1,
            PLANE_2 = PLANE_2,
        ]
    );
}

#[test]
fn capabilities_are_vulkans() {
    same!(
        Capabilities,
        QueueFlags,
        [
            GRAPHICS = GRAPHICS,
            COMPUTE = COMPUTE,
            TRANSFER = TRANSFER,
            SPARSE_BINDING = SPARSE_BINDING,
            VIDEO_DECODE = VIDEO_DECODE_KHR,
            VIDEO_ENCODE = VIDEO_ENCODE_KHR,
            OPTICAL_FLOW = OPTICAL_FLOW_NV,
        ]
    );
}

#[test]
fn layouts_are_vulkans() {
    let pairs = [
        (Layout::Undefined, vk::ImageLayout::UNDEFINED),
        (Layout::General, vk::ImageLayout::GENERAL),
        (
            Layout::ColorAttachmentOptimal,
            vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
        ),
        (
            Layout::DepthStencilAttachmentOptimal,
            vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        ),
        (
            Layout::DepthStencilReadOnlyOptimal,
            vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
        ),
        (
            Layout::ShaderReadOnlyOptimal,
            vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        ),
        (
            Layout::TransferSrcOptimal,
            vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
        ),
        (
            Layout::TransferDstOptimal,
            vk::ImageLayout::TRANSFER_DST_OPTIMAL,
        ),
        (Layout::Preinitialized, vk::ImageLayout::PREINITIALIZED),
        (Layout::PresentSrc, vk::ImageLayout::PRESENT_SRC_KHR),
        (
            Layout::VideoDecodeDst,
            vk::ImageLayout::VIDEO_DECODE_DST_KHR,
        ),
        (
            Layout::VideoDecodeSrc,
            vk::ImageLayout::VIDEO_DECODE_SRC_KHR,
        ),
        (
            Layout::VideoDecodeDpb,
            vk::ImageLayout::VIDEO_DECODE_DPB_KHR,
        ),
        (Layout::SharedPresent, vk::ImageLayout::SHARED_PRESENT_KHR),
        (
            Layout::DepthReadOnlyStencilAttachmentOptimal,
            vk::ImageLayout::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL,
        ),
        (
            Layout::DepthAttachmentStencilReadOnlyOptimal,
            vk::ImageLayout::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL,
        ),
        (
            Layout::FragmentShadingRateAttachmentOptimal,
            vk::ImageLayout::FRAGMENT_SHADING_RATE_ATTACHMENT_OPTIMAL_KHR,
        ),
        (
            Layout::FragmentDensityMapOptimal,
            vk::ImageLayout::FRAGMENT_DENSITY_MAP_OPTIMAL_EXT,
        ),
        (
            Layout::RenderingLocalRead,
            vk::ImageLayout::RENDERING_LOCAL_READ_KHR,
        ),
        (
            Layout::DepthAttachmentOptimal,
            vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL,
        ),
        (
            Layout::DepthReadOnlyOptimal,
            vk::ImageLayout::DEPTH_READ_ONLY_OPTIMAL,
        ),
        (
            Layout::StencilAttachmentOptimal,
            vk::ImageLayout::STENCIL_ATTACHMENT_OPTIMAL,
        ),
        (
            Layout::StencilReadOnlyOptimal,
            vk::ImageLayout::STENCIL_READ_ONLY_OPTIMAL,
        ),
        (
            Layout::VideoEncodeDst,
            vk::ImageLayout::VIDEO_ENCODE_DST_KHR,
        ),
        (
            Layout::VideoEncodeSrc,
            vk::ImageLayout::VIDEO_ENCODE_SRC_KHR,
        ),
        (
            Layout::VideoEncodeDpb,
            vk::ImageLayout::VIDEO_ENCODE_DPB_KHR,
        ),
        (Layout::ReadOnlyOptimal, vk::ImageLayout::READ_ONLY_OPTIMAL),
        (
            Layout::AttachmentOptimal,
            vk::ImageLayout::ATTACHMENT_OPTIMAL,
        ),
        (
            Layout::AttachmentFeedbackLoopOptimal,
            vk::ImageLayout::ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT,
        ),
    ];
    for (ours, theirs) in pairs {
        assert_eq!(super::layout(ours), theirs, "{ours:?}");
    }
    assert_eq!(pairs.len(), Layout::ALL.len(), "a layout is not compared");
}

#[test]
fn families_outside_of_the_device_are_vulkans() {
    assert_eq!(FamilyIndex::EXTERNAL.0, vk::QUEUE_FAMILY_EXTERNAL);
    assert_eq!(FamilyIndex::FOREIGN.0, vk::QUEUE_FAMILY_FOREIGN_EXT);
}
