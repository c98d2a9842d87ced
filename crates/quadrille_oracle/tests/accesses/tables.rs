//! Tables of Vulkan's specification, by its names, and a table of named accesses made from them
//! by hand, independently of the solver's. One row a line, columns separated by spaces, sets by
//! `|`, and `-` for nothing.

/// Named access, stages, kinds of access, layout, and whether it reads, writes, or both (`rw`).
/// An `any` at the end: one of the stages is enough.
pub(super) const ACCESSES: &str = "
UniformReadVertex        VERTEX_SHADER                             UNIFORM_READ General r
UniformReadFragment      FRAGMENT_SHADER                           UNIFORM_READ General r
UniformReadTaskMesh      TASK_SHADER|MESH_SHADER                   UNIFORM_READ General r
UniformReadGraphics      PRE_RASTERIZATION_SHADERS|FRAGMENT_SHADER UNIFORM_READ General r
UniformReadCompute       COMPUTE_SHADER                            UNIFORM_READ General r
UniformReadRayTracing    RAY_TRACING_SHADER                        UNIFORM_READ General r
UniformReadAny           PRE_RASTERIZATION_SHADERS|FRAGMENT_SHADER|COMPUTE_SHADER UNIFORM_READ General r any
SampledVertex            VERTEX_SHADER                             SHADER_SAMPLED_READ ShaderReadOnlyOptimal r
SampledFragment          FRAGMENT_SHADER                           SHADER_SAMPLED_READ ShaderReadOnlyOptimal r
SampledTaskMesh          TASK_SHADER|MESH_SHADER                   SHADER_SAMPLED_READ ShaderReadOnlyOptimal r
SampledGraphics          PRE_RASTERIZATION_SHADERS|FRAGMENT_SHADER SHADER_SAMPLED_READ ShaderReadOnlyOptimal r
SampledCompute           COMPUTE_SHADER                            SHADER_SAMPLED_READ ShaderReadOnlyOptimal r
SampledRayTracing        RAY_TRACING_SHADER                        SHADER_SAMPLED_READ ShaderReadOnlyOptimal r
SampledAny               PRE_RASTERIZATION_SHADERS|FRAGMENT_SHADER|COMPUTE_SHADER SHADER_SAMPLED_READ ShaderReadOnlyOptimal r any
StorageReadVertex        VERTEX_SHADER                             SHADER_STORAGE_READ General r
StorageReadFragment      FRAGMENT_SHADER                           SHADER_STORAGE_READ General r
StorageReadTaskMesh      TASK_SHADER|MESH_SHADER                   SHADER_STORAGE_READ General r
StorageReadGraphics      PRE_RASTERIZATION_SHADERS|FRAGMENT_SHADER SHADER_STORAGE_READ General r
StorageReadCompute       COMPUTE_SHADER                            SHADER_STORAGE_READ General r
StorageReadRayTracing    RAY_TRACING_SHADER                        SHADER_STORAGE_READ General r
StorageReadAny           PRE_RASTERIZATION_SHADERS|FRAGMENT_SHADER|COMPUTE_SHADER SHADER_STORAGE_READ General r any
StorageWriteVertex       VERTEX_SHADER                             SHADER_STORAGE_WRITE General w
StorageWriteFragment     FRAGMENT_SHADER                           SHADER_STORAGE_WRITE General w
StorageWriteTaskMesh     TASK_SHADER|MESH_SHADER                   SHADER_STORAGE_WRITE General w
StorageWriteGraphics     PRE_RASTERIZATION_SHADERS|FRAGMENT_SHADER SHADER_STORAGE_WRITE General w
StorageWriteCompute      COMPUTE_SHADER                            SHADER_STORAGE_WRITE General w
StorageWriteRayTracing   RAY_TRACING_SHADER                        SHADER_STORAGE_WRITE General w
StorageWriteAny          PRE_RASTERIZATION_SHADERS|FRAGMENT_SHADER|COMPUTE_SHADER SHADER_STORAGE_WRITE General w any
StorageReadWriteVertex     VERTEX_SHADER                             SHADER_STORAGE_READ|SHADER_STORAGE_WRITE General rw
StorageReadWriteFragment   FRAGMENT_SHADER                           SHADER_STORAGE_READ|SHADER_STORAGE_WRITE General rw
StorageReadWriteTaskMesh   TASK_SHADER|MESH_SHADER                   SHADER_STORAGE_READ|SHADER_STORAGE_WRITE General rw
StorageReadWriteGraphics   PRE_RASTERIZATION_SHADERS|FRAGMENT_SHADER SHADER_STORAGE_READ|SHADER_STORAGE_WRITE General rw
StorageReadWriteCompute    COMPUTE_SHADER                            SHADER_STORAGE_READ|SHADER_STORAGE_WRITE General rw
StorageReadWriteRayTracing RAY_TRACING_SHADER                        SHADER_STORAGE_READ|SHADER_STORAGE_WRITE General rw
StorageReadWriteAny        PRE_RASTERIZATION_SHADERS|FRAGMENT_SHADER|COMPUTE_SHADER SHADER_STORAGE_READ|SHADER_STORAGE_WRITE General rw any
ColorAttachmentWrite                  COLOR_ATTACHMENT_OUTPUT COLOR_ATTACHMENT_WRITE ColorAttachmentOptimal w
ColorAttachmentReadWrite              COLOR_ATTACHMENT_OUTPUT COLOR_ATTACHMENT_READ|COLOR_ATTACHMENT_WRITE ColorAttachmentOptimal rw
ColorAttachmentAdvancedBlendReadWrite COLOR_ATTACHMENT_OUTPUT COLOR_ATTACHMENT_READ|COLOR_ATTACHMENT_WRITE|COLOR_ATTACHMENT_READ_NONCOHERENT ColorAttachmentOptimal rw
ColorAttachmentLocalReadWrite         COLOR_ATTACHMENT_OUTPUT|FRAGMENT_SHADER COLOR_ATTACHMENT_READ|COLOR_ATTACHMENT_WRITE|INPUT_ATTACHMENT_READ RenderingLocalRead rw
ColorAttachmentFeedbackReadWrite      COLOR_ATTACHMENT_OUTPUT|FRAGMENT_SHADER COLOR_ATTACHMENT_READ|COLOR_ATTACHMENT_WRITE|SHADER_SAMPLED_READ AttachmentFeedbackLoopOptimal rw
DepthAttachmentWrite                  EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS DEPTH_STENCIL_ATTACHMENT_READ|DEPTH_STENCIL_ATTACHMENT_WRITE DepthStencilAttachmentOptimal w
DepthAttachmentReadWrite              EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS DEPTH_STENCIL_ATTACHMENT_READ|DEPTH_STENCIL_ATTACHMENT_WRITE DepthStencilAttachmentOptimal rw
DepthReadOnly                         EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS DEPTH_STENCIL_ATTACHMENT_READ DepthStencilReadOnlyOptimal r
DepthReadOnlySampled                  EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS|FRAGMENT_SHADER DEPTH_STENCIL_ATTACHMENT_READ|SHADER_SAMPLED_READ DepthStencilReadOnlyOptimal r
DepthReadOnlyInputAttachment          EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS|FRAGMENT_SHADER DEPTH_STENCIL_ATTACHMENT_READ|INPUT_ATTACHMENT_READ DepthStencilReadOnlyOptimal r
DepthAttachmentLocalReadWrite         EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS|FRAGMENT_SHADER DEPTH_STENCIL_ATTACHMENT_READ|DEPTH_STENCIL_ATTACHMENT_WRITE|INPUT_ATTACHMENT_READ RenderingLocalRead rw
DepthAttachmentFeedbackReadWrite      EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS|FRAGMENT_SHADER DEPTH_STENCIL_ATTACHMENT_READ|DEPTH_STENCIL_ATTACHMENT_WRITE|SHADER_SAMPLED_READ AttachmentFeedbackLoopOptimal rw
DepthAttachmentResolvedReadWrite      EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS|COLOR_ATTACHMENT_OUTPUT DEPTH_STENCIL_ATTACHMENT_READ|DEPTH_STENCIL_ATTACHMENT_WRITE|COLOR_ATTACHMENT_READ DepthStencilAttachmentOptimal rw
StencilAttachmentWrite                EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS DEPTH_STENCIL_ATTACHMENT_READ|DEPTH_STENCIL_ATTACHMENT_WRITE DepthStencilAttachmentOptimal w
StencilAttachmentReadWrite            EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS DEPTH_STENCIL_ATTACHMENT_READ|DEPTH_STENCIL_ATTACHMENT_WRITE DepthStencilAttachmentOptimal rw
StencilReadOnly                       EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS DEPTH_STENCIL_ATTACHMENT_READ DepthStencilReadOnlyOptimal r
InputAttachmentRead                   FRAGMENT_SHADER INPUT_ATTACHMENT_READ ShaderReadOnlyOptimal r
FragmentShadingRateRead               FRAGMENT_SHADING_RATE_ATTACHMENT FRAGMENT_SHADING_RATE_ATTACHMENT_READ FragmentShadingRateAttachmentOptimal r
FragmentDensityMapRead                FRAGMENT_DENSITY_PROCESS FRAGMENT_DENSITY_MAP_READ FragmentDensityMapOptimal r
ResolveAttachmentWrite                COLOR_ATTACHMENT_OUTPUT COLOR_ATTACHMENT_WRITE ColorAttachmentOptimal w
DepthResolveAttachmentWrite           COLOR_ATTACHMENT_OUTPUT COLOR_ATTACHMENT_WRITE DepthStencilAttachmentOptimal w
ResolveRead   RESOLVE      TRANSFER_READ  TransferSrcOptimal r
ResolveWrite  RESOLVE      TRANSFER_WRITE TransferDstOptimal w
BlitRead      BLIT         TRANSFER_READ  TransferSrcOptimal r
BlitWrite     BLIT         TRANSFER_WRITE TransferDstOptimal w
CopyRead      COPY         TRANSFER_READ  TransferSrcOptimal r
CopyWrite     COPY         TRANSFER_WRITE TransferDstOptimal w
Clear         CLEAR        TRANSFER_WRITE TransferDstOptimal w
TransferRead  ALL_TRANSFER TRANSFER_READ  TransferSrcOptimal r
TransferWrite ALL_TRANSFER TRANSFER_WRITE TransferDstOptimal w
IndirectRead                      DRAW_INDIRECT          INDIRECT_COMMAND_READ      General r
IndexRead                         INDEX_INPUT            INDEX_READ                 General r
VertexRead                        VERTEX_ATTRIBUTE_INPUT VERTEX_ATTRIBUTE_READ      General r
ConditionalRenderingRead          CONDITIONAL_RENDERING  CONDITIONAL_RENDERING_READ General r
TransformFeedbackWrite            TRANSFORM_FEEDBACK     TRANSFORM_FEEDBACK_WRITE   General w
TransformFeedbackCounterReadWrite TRANSFORM_FEEDBACK|DRAW_INDIRECT TRANSFORM_FEEDBACK_COUNTER_READ|TRANSFORM_FEEDBACK_COUNTER_WRITE General rw
AccelerationStructureBuildInput        ACCELERATION_STRUCTURE_BUILD SHADER_READ                  General r
AccelerationStructureBuildRead         ACCELERATION_STRUCTURE_BUILD ACCELERATION_STRUCTURE_READ  General r
AccelerationStructureBuildWrite        ACCELERATION_STRUCTURE_BUILD ACCELERATION_STRUCTURE_WRITE General w
AccelerationStructureBuildScratch      ACCELERATION_STRUCTURE_BUILD ACCELERATION_STRUCTURE_READ|ACCELERATION_STRUCTURE_WRITE General w
AccelerationStructureBuildIndirectRead ACCELERATION_STRUCTURE_BUILD INDIRECT_COMMAND_READ        General r
AccelerationStructureBuildMicromapRead ACCELERATION_STRUCTURE_BUILD MICROMAP_READ                General r
AccelerationStructureCopyRead          ACCELERATION_STRUCTURE_COPY  ACCELERATION_STRUCTURE_READ  General r
AccelerationStructureCopyWrite         ACCELERATION_STRUCTURE_COPY  ACCELERATION_STRUCTURE_WRITE General w
AccelerationStructureCopyBufferRead    ACCELERATION_STRUCTURE_COPY  TRANSFER_READ                General r
AccelerationStructureCopyBufferWrite   ACCELERATION_STRUCTURE_COPY  TRANSFER_WRITE               General w
AccelerationStructureTraceReadRayTracing RAY_TRACING_SHADER ACCELERATION_STRUCTURE_READ General r
AccelerationStructureTraceReadCompute    COMPUTE_SHADER     ACCELERATION_STRUCTURE_READ General r
AccelerationStructureTraceReadFragment   FRAGMENT_SHADER    ACCELERATION_STRUCTURE_READ General r
AccelerationStructureTraceReadGraphics   PRE_RASTERIZATION_SHADERS|FRAGMENT_SHADER ACCELERATION_STRUCTURE_READ General r
ShaderBindingTableRead   RAY_TRACING_SHADER SHADER_BINDING_TABLE_READ    General r
MicromapBuildRead        MICROMAP_BUILD     MICROMAP_READ                General r
MicromapBuildWrite       MICROMAP_BUILD     MICROMAP_WRITE               General w
MicromapBuildInput       MICROMAP_BUILD     SHADER_READ                  General r
MicromapBuildScratch     MICROMAP_BUILD     MICROMAP_READ|MICROMAP_WRITE General w
DescriptorBufferRead     PRE_RASTERIZATION_SHADERS|FRAGMENT_SHADER|COMPUTE_SHADER DESCRIPTOR_BUFFER_READ General r any
CommandPreprocessRead    COMMAND_PREPROCESS COMMAND_PREPROCESS_READ      General r
CommandPreprocessWrite   COMMAND_PREPROCESS COMMAND_PREPROCESS_WRITE     General w
VideoDecodeRead               VIDEO_DECODE VIDEO_DECODE_READ                    General        r
VideoDecodeWrite              VIDEO_DECODE VIDEO_DECODE_WRITE                   VideoDecodeDst w
VideoDecodeReferenceReadWrite VIDEO_DECODE VIDEO_DECODE_READ|VIDEO_DECODE_WRITE VideoDecodeDpb rw
VideoDecodeReferenceRead      VIDEO_DECODE VIDEO_DECODE_READ                    VideoDecodeDpb r
VideoEncodeRead               VIDEO_ENCODE VIDEO_ENCODE_READ                    VideoEncodeSrc r
VideoEncodeWrite              VIDEO_ENCODE VIDEO_ENCODE_WRITE                   General        w
VideoEncodeReferenceReadWrite VIDEO_ENCODE VIDEO_ENCODE_READ|VIDEO_ENCODE_WRITE VideoEncodeDpb rw
VideoEncodeReferenceRead      VIDEO_ENCODE VIDEO_ENCODE_READ                    VideoEncodeDpb r
OpticalFlowRead  OPTICAL_FLOW OPTICAL_FLOW_READ  General r
OpticalFlowWrite OPTICAL_FLOW OPTICAL_FLOW_WRITE General w
HostRead         HOST         HOST_READ          General r
HostWrite        HOST         HOST_WRITE         General w
HostReadWrite    HOST         HOST_READ|HOST_WRITE General rw
Present          -            -                  PresentSrc r
";

/// Table "Supported access types": kind of access, and the stages that make it. `SHADERS` are all
/// shader stages. The kinds that stand for others, and `MEMORY_*`, are left out.
pub(super) const ACCESS_TYPES: &str = "
INDIRECT_COMMAND_READ                 DRAW_INDIRECT|ACCELERATION_STRUCTURE_BUILD
INDEX_READ                            INDEX_INPUT
VERTEX_ATTRIBUTE_READ                 VERTEX_ATTRIBUTE_INPUT
UNIFORM_READ                          SHADERS
INPUT_ATTACHMENT_READ                 FRAGMENT_SHADER
SHADER_READ                           ACCELERATION_STRUCTURE_BUILD|MICROMAP_BUILD|SHADERS
COLOR_ATTACHMENT_READ                 COLOR_ATTACHMENT_OUTPUT
COLOR_ATTACHMENT_WRITE                COLOR_ATTACHMENT_OUTPUT
COLOR_ATTACHMENT_READ_NONCOHERENT     COLOR_ATTACHMENT_OUTPUT
DEPTH_STENCIL_ATTACHMENT_READ         EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS
DEPTH_STENCIL_ATTACHMENT_WRITE        EARLY_FRAGMENT_TESTS|LATE_FRAGMENT_TESTS
TRANSFER_READ                         COPY|BLIT|RESOLVE|ACCELERATION_STRUCTURE_BUILD|ACCELERATION_STRUCTURE_COPY|MICROMAP_BUILD
TRANSFER_WRITE                        COPY|BLIT|RESOLVE|CLEAR|ACCELERATION_STRUCTURE_BUILD|ACCELERATION_STRUCTURE_COPY|MICROMAP_BUILD
HOST_READ                             HOST
HOST_WRITE                            HOST
SHADER_SAMPLED_READ                   SHADERS
SHADER_STORAGE_READ                   SHADERS
SHADER_STORAGE_WRITE                  SHADERS
VIDEO_DECODE_READ                     VIDEO_DECODE
VIDEO_DECODE_WRITE                    VIDEO_DECODE
VIDEO_ENCODE_READ                     VIDEO_ENCODE
VIDEO_ENCODE_WRITE                    VIDEO_ENCODE
TRANSFORM_FEEDBACK_WRITE              TRANSFORM_FEEDBACK
TRANSFORM_FEEDBACK_COUNTER_READ       DRAW_INDIRECT|TRANSFORM_FEEDBACK
TRANSFORM_FEEDBACK_COUNTER_WRITE      TRANSFORM_FEEDBACK
CONDITIONAL_RENDERING_READ            CONDITIONAL_RENDERING
COMMAND_PREPROCESS_READ               COMMAND_PREPROCESS
COMMAND_PREPROCESS_WRITE              COMMAND_PREPROCESS
FRAGMENT_SHADING_RATE_ATTACHMENT_READ FRAGMENT_SHADING_RATE_ATTACHMENT
ACCELERATION_STRUCTURE_READ           SHADERS|ACCELERATION_STRUCTURE_BUILD|ACCELERATION_STRUCTURE_COPY
ACCELERATION_STRUCTURE_WRITE          ACCELERATION_STRUCTURE_BUILD|ACCELERATION_STRUCTURE_COPY
FRAGMENT_DENSITY_MAP_READ             FRAGMENT_DENSITY_PROCESS
DESCRIPTOR_BUFFER_READ                SHADERS
SHADER_BINDING_TABLE_READ             RAY_TRACING_SHADER
MICROMAP_READ                         MICROMAP_BUILD|ACCELERATION_STRUCTURE_BUILD
MICROMAP_WRITE                        MICROMAP_BUILD
OPTICAL_FLOW_READ                     OPTICAL_FLOW
OPTICAL_FLOW_WRITE                    OPTICAL_FLOW
";

/// Table "Supported pipeline stage flags": stage, and the capabilities of which a queue needs one.
/// `RESOLVE` and `BLIT` as their commands, which only graphics queues run.
pub(super) const STAGES: &str = "
DRAW_INDIRECT                    GRAPHICS|COMPUTE
INDEX_INPUT                      GRAPHICS
VERTEX_ATTRIBUTE_INPUT           GRAPHICS
VERTEX_SHADER                    GRAPHICS
TESSELLATION_CONTROL_SHADER      GRAPHICS
TESSELLATION_EVALUATION_SHADER   GRAPHICS
GEOMETRY_SHADER                  GRAPHICS
TASK_SHADER                      GRAPHICS
MESH_SHADER                      GRAPHICS
PRE_RASTERIZATION_SHADERS        GRAPHICS
FRAGMENT_SHADER                  GRAPHICS
EARLY_FRAGMENT_TESTS             GRAPHICS
LATE_FRAGMENT_TESTS              GRAPHICS
COLOR_ATTACHMENT_OUTPUT          GRAPHICS
FRAGMENT_SHADING_RATE_ATTACHMENT GRAPHICS
FRAGMENT_DENSITY_PROCESS         GRAPHICS
TRANSFORM_FEEDBACK               GRAPHICS
COMPUTE_SHADER                   COMPUTE
RAY_TRACING_SHADER               COMPUTE
ACCELERATION_STRUCTURE_BUILD     COMPUTE
ACCELERATION_STRUCTURE_COPY      COMPUTE
MICROMAP_BUILD                   COMPUTE
CONDITIONAL_RENDERING            GRAPHICS|COMPUTE
COMMAND_PREPROCESS               GRAPHICS|COMPUTE
ALL_TRANSFER                     GRAPHICS|COMPUTE|TRANSFER
COPY                             GRAPHICS|COMPUTE|TRANSFER
CLEAR                            GRAPHICS|COMPUTE|TRANSFER
RESOLVE                          GRAPHICS
BLIT                             GRAPHICS
VIDEO_DECODE                     VIDEO_DECODE
VIDEO_ENCODE                     VIDEO_ENCODE
OPTICAL_FLOW                     OPTICAL_FLOW
HOST                             ANY
";

/// Section "Image Layouts": layout, and the kinds of access that are valid in it.
/// `General` is for all.
pub(super) const LAYOUTS: &str = "
ColorAttachmentOptimal               COLOR_ATTACHMENT_READ|COLOR_ATTACHMENT_WRITE|COLOR_ATTACHMENT_READ_NONCOHERENT
DepthStencilAttachmentOptimal        DEPTH_STENCIL_ATTACHMENT_READ|DEPTH_STENCIL_ATTACHMENT_WRITE|COLOR_ATTACHMENT_READ|COLOR_ATTACHMENT_WRITE
DepthStencilReadOnlyOptimal          DEPTH_STENCIL_ATTACHMENT_READ|SHADER_SAMPLED_READ|INPUT_ATTACHMENT_READ
ShaderReadOnlyOptimal                SHADER_SAMPLED_READ|INPUT_ATTACHMENT_READ
TransferSrcOptimal                   TRANSFER_READ
TransferDstOptimal                   TRANSFER_WRITE
RenderingLocalRead                   COLOR_ATTACHMENT_READ|COLOR_ATTACHMENT_WRITE|DEPTH_STENCIL_ATTACHMENT_READ|DEPTH_STENCIL_ATTACHMENT_WRITE|INPUT_ATTACHMENT_READ|SHADER_STORAGE_READ|SHADER_STORAGE_WRITE
AttachmentFeedbackLoopOptimal        COLOR_ATTACHMENT_READ|COLOR_ATTACHMENT_WRITE|DEPTH_STENCIL_ATTACHMENT_READ|DEPTH_STENCIL_ATTACHMENT_WRITE|INPUT_ATTACHMENT_READ|SHADER_SAMPLED_READ
FragmentShadingRateAttachmentOptimal FRAGMENT_SHADING_RATE_ATTACHMENT_READ
FragmentDensityMapOptimal            FRAGMENT_DENSITY_MAP_READ
VideoDecodeDst                       VIDEO_DECODE_WRITE
VideoDecodeDpb                       VIDEO_DECODE_READ|VIDEO_DECODE_WRITE
VideoEncodeSrc                       VIDEO_ENCODE_READ
VideoEncodeDpb                       VIDEO_ENCODE_READ|VIDEO_ENCODE_WRITE
PresentSrc                           -
";

/// Targets of kinds of access, stages and layouts, from the descriptions of these flags (sections
/// "Access Types", "Pipeline Stages", "Image Layouts") and of the commands that use them. Flags that are
/// not listed apply to buffers and images alike.
pub(super) const TARGETS: &str = "
INDIRECT_COMMAND_READ                 buffer
INDEX_READ                            buffer
VERTEX_ATTRIBUTE_READ                 buffer
UNIFORM_READ                          buffer
INPUT_ATTACHMENT_READ                 image
COLOR_ATTACHMENT_READ                 color
COLOR_ATTACHMENT_WRITE                color
COLOR_ATTACHMENT_READ_NONCOHERENT     color
DEPTH_STENCIL_ATTACHMENT_READ         depth
DEPTH_STENCIL_ATTACHMENT_WRITE        depth
TRANSFORM_FEEDBACK_WRITE              buffer
TRANSFORM_FEEDBACK_COUNTER_READ       buffer
TRANSFORM_FEEDBACK_COUNTER_WRITE      buffer
CONDITIONAL_RENDERING_READ            buffer
COMMAND_PREPROCESS_READ               buffer
COMMAND_PREPROCESS_WRITE              buffer
FRAGMENT_SHADING_RATE_ATTACHMENT_READ color
ACCELERATION_STRUCTURE_READ           buffer
ACCELERATION_STRUCTURE_WRITE          buffer
FRAGMENT_DENSITY_MAP_READ             color
DESCRIPTOR_BUFFER_READ                buffer
SHADER_BINDING_TABLE_READ             buffer
MICROMAP_READ                         buffer
MICROMAP_WRITE                        buffer
OPTICAL_FLOW_READ                     image
OPTICAL_FLOW_WRITE                    image
ACCELERATION_STRUCTURE_BUILD          buffer
ACCELERATION_STRUCTURE_COPY           buffer
MICROMAP_BUILD                        buffer
BLIT                                  image
RESOLVE                               image
VideoDecodeDst                        image
VideoDecodeDpb                        image
VideoEncodeSrc                        image
VideoEncodeDpb                        image
PresentSrc                            color
";
