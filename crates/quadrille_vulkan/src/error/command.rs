//! Errors of commands that cannot be encoded.

/// Reason why a command cannot be encoded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The pass does not declare the resource.
    #[error(
        "`{name}` is used, which the pass does not declare; declare it, or leave the command out; \
         and put nothing else in its place once the pass is recorded"
    )]
    NotDeclared {
        /// The resource.
        name: String,
    },
    /// A buffer is used where an image is expected, or vice versa.
    #[error("`{name}` is no {wanted}")]
    WrongResource {
        /// The resource.
        name: String,
        /// The expected kind of resource, or the property that it lacks.
        wanted: &'static str,
    },
    /// The device lacks a feature that the command needs.
    #[error("it takes the feature {feature}, which the device `{device}` lacks")]
    Lacks {
        /// The feature, as the specification names it.
        feature: &'static str,
        /// The name of the device.
        device: String,
    },
    /// A shader reads an input attachment that the rendering cannot provide.
    #[error("binding {binding} (`{variable}`) of the pipeline `{pipeline}` reads {problem}")]
    InputAttachment {
        /// The pipeline.
        pipeline: String,
        /// The binding.
        binding: u32,
        /// The name of the shader's variable.
        variable: String,
        /// The attachment, and the reason why it cannot be read.
        problem: String,
    },
    /// A stencil reference is set, and the pipeline has no stencil test.
    #[error(
        "the pipeline `{pipeline}` has no stencil test; describe it with `stencil` in its `PipelineState`, \
         or leave the reference out"
    )]
    NoStencil {
        /// The pipeline.
        pipeline: String,
    },
    /// A pipeline writes depth or stencil that the pass declares as read-only.
    #[error(
        "the pipeline `{pipeline}` writes {aspect}, which the pass only reads; declare a target in the \
         place of a read, or describe the pipeline so that it does not write"
    )]
    ReadOnly {
        /// The pipeline.
        pipeline: String,
        /// Depth or stencil.
        aspect: &'static str,
    },
    /// The swapchain has no acquired image.
    #[error("`{name}` is used although its swapchain has not acquired an image")]
    NotAcquired {
        /// The image.
        name: String,
    },
    /// A range or region lies outside its resource.
    #[error("{what} lies outside `{name}`, which has {room}")]
    Outside {
        /// The range, with its numbers.
        what: String,
        /// The resource.
        name: String,
        /// The size of the resource.
        room: String,
    },
    /// Source and destination of a copy within one buffer overlap.
    #[error(
        "{bytes} bytes of `{name}` are copied from {} to {}, which overlap; copy to another buffer first",
        offsets[0], offsets[1]
    )]
    Overlap {
        /// The buffer.
        name: String,
        /// Source and destination offsets of the copy, in bytes.
        offsets: [u64; 2],
        /// Length of the copy in bytes.
        bytes: u64,
    },
    /// A draw reads beyond its index buffer.
    #[error("the draw reads {count} indices from {first}, and the index buffer has {room}")]
    Indices {
        /// The first index.
        first: u32,
        /// The number of indices that are read.
        count: u32,
        /// The number of indices in the buffer from the bound offset on.
        room: u64,
    },
    /// The viewport is beyond the limits of the device.
    #[error(
        "the viewport {area:?} (left, top, width, height) is outside the device's limits: its \
         size is above 0 and at most {}x{} pixels, and it lies between {} and {}",
        most[0], most[1], bounds[0], bounds[1]
    )]
    Viewport {
        /// Left, top, width and height in pixels.
        area: [f32; 4],
        /// `viewportBoundsRange` of the device.
        bounds: [f32; 2],
        /// `maxViewportDimensions` of the device.
        most: [u32; 2],
    },
    /// Texels cannot be copied or blitted between two images.
    #[error("`{src}` cannot be copied to `{dst}`: {problem}")]
    Incompatible {
        /// The image copied from.
        src: String,
        /// The image copied to.
        dst: String,
        /// The reason.
        problem: String,
    },
    /// The bound image has another kind than the shader declares.
    #[error("`{name}` cannot be bound as {kind:?}: {problem}")]
    View {
        /// The image.
        name: String,
        /// The view type that the shader declares.
        kind: ash::vk::ImageViewType,
        /// The reason.
        problem: String,
    },
    /// A view of a part of a swapchain's image is used; only the view of the whole exists.
    #[error("`{name}` belongs to a swapchain; it can only be used as a whole")]
    PartOfSwapchain {
        /// The image.
        name: String,
    },
    /// The resource was created without this usage.
    #[error("`{name}` was made without the usage {usage}; add it to its description")]
    Usage {
        /// The resource.
        name: String,
        /// The usage that its description lacks.
        usage: &'static str,
    },
    /// The command must be inside rendering and is outside, or vice versa.
    #[error("it must stand {} begin_rendering and end_rendering", if *.inside { "between" } else { "outside" })]
    Rendering {
        /// Whether the command must be inside rendering.
        inside: bool,
    },
    /// Labels do not nest.
    #[error("end_label has no begin_label")]
    Label,
    /// The list ends while rendering.
    #[error("the list ends without end_rendering")]
    RenderingOpen,
    /// No pipeline of this kind is bound.
    #[error("no {kind} pipeline is bound")]
    NoPipeline {
        /// Graphics or compute.
        kind: &'static str,
    },
    /// A binding of the pipeline has no resource, or one of another kind.
    #[error(
        "the pipeline `{pipeline}` reads @binding({binding}) `{variable}`, and nothing that fits is bound \
         there ({kind} is needed)"
    )]
    Unbound {
        /// The pipeline.
        pipeline: String,
        /// The binding.
        binding: u32,
        /// The variable in the shader.
        variable: String,
        /// The kind of resource that the shader declares.
        kind: &'static str,
    },
    /// A table is bound to a group that has none.
    #[error("a table is bound to @group({group}); tables belong in the groups 1 to {last}")]
    TableGroup {
        /// The group.
        group: u32,
        /// The last group of tables.
        last: u32,
    },
    /// The pipeline reads a table, and none is bound to its group.
    #[error(
        "the pipeline `{pipeline}` reads {variable}, and no table is bound to the group ({kind} is needed)"
    )]
    NoTable {
        /// The pipeline.
        pipeline: Box<str>,
        /// The variable in the shader, with its group and binding.
        variable: Box<str>,
        /// The kind of resource that the shader declares there.
        kind: Box<str>,
    },
    /// The bound table has another element type than the shader's array, or too few samplers.
    #[error(
        "the pipeline `{pipeline}` reads {wanted}, and the table `{table}` that is bound there has {given}"
    )]
    OtherTable {
        /// The pipeline.
        pipeline: Box<str>,
        /// The shader's array, and where it is declared.
        wanted: Box<str>,
        /// The table.
        table: Box<str>,
        /// The table's contents there.
        given: Box<str>,
    },
    /// The bound range is shorter than the shader's declaration. With robust buffer access the device would read
    /// zeros after its end and discard writes.
    #[error(
        "the pipeline `{pipeline}` needs at least {wanted} bytes at @binding({binding}) `{variable}`, and `{name}` is \
         bound there with {given}; make it larger, as large as the shader's type"
    )]
    TooSmall {
        /// The pipeline.
        pipeline: Box<str>,
        /// The binding.
        binding: u32,
        /// The variable in the shader.
        variable: Box<str>,
        /// The buffer.
        name: Box<str>,
        /// The number of bytes bound.
        given: u64,
        /// The size of the shader's type in bytes, with one element for a runtime-sized array.
        wanted: u64,
    },
    /// The memory layout of the value written to a buffer differs from that of the shader's type.
    #[error(
        "`{}` was written to `{}`, with members from the bytes {} on; the pipeline `{}` reads it at @binding({}) `{}`, \
         whose members begin elsewhere: {}; give the struct the members of the shader's, in the same order, with `Vec3` \
         of glam for `vec3f` (a `[f32; 3]` is three numbers); bytes, which `write_buffer` writes, are taken as they are",
        .0.value, .0.name, .0.given, .0.pipeline, .0.binding, .0.variable, .0.shader
    )]
    OtherLayout(Box<OtherLayout>),
    /// The number of a binding or vertex buffer slot is above the limit.
    #[error("{what} is above the limit of {limit}")]
    Limit {
        /// The kind of number, with its value.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// The pipeline's push constants are not set, or have another size.
    #[error(
        "the pipeline `{pipeline}` has {wanted} bytes of push constants, and {given} are pushed; push one value of \
         that size before the command, with a struct laid out as the shader's: `#[derive(ShaderType)]`"
    )]
    PushConstants {
        /// The pipeline.
        pipeline: String,
        /// Size that the shader declares, in bytes.
        wanted: u32,
        /// Size that is pushed, in bytes.
        given: u32,
    },
    /// An offset or length does not have the alignment that Vulkan requires.
    #[error("{what} must be a multiple of {multiple}")]
    Alignment {
        /// The number, with its name.
        what: String,
        /// The required alignment.
        multiple: u64,
    },
    /// Attachments cannot be used in one rendering.
    #[error("the attachments do not fit together: {problem}")]
    Attachments {
        /// The reason.
        problem: String,
    },
    /// Two renderings of a pass draw to the same texels, without a barrier between them.
    #[error(
        "an earlier rendering of the pass draws to `{name}`, and there is no barrier within a pass; draw \
         all of it in one rendering, or in two passes"
    )]
    AttachedAgain {
        /// The image.
        name: String,
    },
    /// Queries or conditional rendering are not begun and ended correctly.
    #[error("{problem}")]
    Query {
        /// The problem, with the query and its set.
        problem: String,
    },
    /// No index buffer is bound.
    #[error("no index buffer is bound")]
    NoIndexBuffer,
    /// No vertex buffer is bound to a slot that the pipeline reads.
    #[error(
        "the pipeline `{pipeline}` reads vertex buffer {slot}, and none is bound there; call `.vertices({slot}, ..)` before the draw"
    )]
    NoVertexBuffer {
        /// The pipeline.
        pipeline: String,
        /// The slot.
        slot: u32,
    },
    /// The pass runs on a queue without a capability that the command needs.
    #[error("the pass runs on a queue without {capability}; ask for it in the queue request")]
    Queue {
        /// The capability that the queue lacks.
        capability: &'static str,
    },
}

/// The two memory layouts of [`CommandError::OtherLayout`].
#[derive(Clone, Debug, PartialEq)]
pub struct OtherLayout {
    /// The Rust type of the value that was written.
    pub value: &'static str,
    /// The buffer.
    pub name: String,
    /// The byte offsets of its members.
    pub given: String,
    /// The pipeline.
    pub pipeline: String,
    /// The binding.
    pub binding: u32,
    /// The variable in the shader.
    pub variable: String,
    /// The byte offsets of the shader's members, with their names.
    pub shader: String,
}
