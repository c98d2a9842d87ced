//! Commands that decode pictures and copy them to buffers.

use super::layers;
use super::picture_info::{Chains, with_chains};
use super::session::Session;
use crate::api::vk;
use crate::coding::CodedPicture;

/// One picture to decode.
#[derive(Clone, Debug)]
pub(crate) struct Decode {
    pub picture: CodedPicture,
    /// Offset and size of its slices or units in the bitstream buffer in bytes, aligned as the device demands.
    pub range: [u64; 2],
    /// Offsets of the start codes of its slices, from the begin of the range; none in AV1, whose syntax has its tiles.
    pub slices: Vec<u32>,
    /// Buffer that receives its planes, of the coded size, one behind the other (NV12 or P010), if it is shown.
    pub target: Option<vk::Buffer>,
}

/// Stages and accesses of a barrier's side.
type Scope = (vk::PipelineStageFlags2, vk::AccessFlags2);

const DECODE: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::VIDEO_DECODE_KHR;
const READS: Scope = (DECODE, vk::AccessFlags2::VIDEO_DECODE_READ_KHR);
const WRITES: Scope = (DECODE, vk::AccessFlags2::VIDEO_DECODE_WRITE_KHR);
const BOTH: Scope = (
    DECODE,
    vk::AccessFlags2::from_raw(READS.1.as_raw() | WRITES.1.as_raw()),
);
const COPY: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::ALL_TRANSFER;

impl Session {
    /// Records the decoding of pictures, in order, and the copies of their planes.
    ///
    /// # Safety
    /// The command buffer is of a queue that decodes and copies; bitstream and target exist and are of sufficient
    /// size, and the target is ordered with earlier accesses as the destination of copies.
    pub(crate) unsafe fn record(
        &self,
        commands: vk::CommandBuffer,
        bitstream: vk::Buffer,
        pictures: &[Decode],
    ) {
        for (index, decode) in pictures.iter().enumerate() {
            self.before(commands, &decode.picture, index == 0);
            with_chains(&decode.picture, &decode.slices, |chains| {
                self.decode(commands, bitstream, decode, chains);
            });
            if let Some(target) = decode.target {
                self.copy(commands, &decode.picture, target);
            }
        }
    }

    /// Image and layer that a picture is decoded to, and their layout.
    fn destination(&self, picture: &CodedPicture) -> (vk::Image, u32, vk::ImageLayout) {
        match &self.output {
            Some(output) => (output.raw, 0, vk::ImageLayout::VIDEO_DECODE_DST_KHR),
            None => (
                self.slots.raw,
                picture.slot as u32,
                vk::ImageLayout::VIDEO_DECODE_DPB_KHR,
            ),
        }
    }

    /// Barriers between earlier pictures and the next one: its slot and output have no contents, its references were
    /// written.
    fn before(&self, commands: vk::CommandBuffer, picture: &CodedPicture, is_first: bool) {
        let undefined = vk::ImageLayout::UNDEFINED;
        // Earlier frames decoded and copied on this queue too.
        let earlier = (
            DECODE | COPY,
            BOTH.1 | vk::AccessFlags2::TRANSFER_READ | vk::AccessFlags2::TRANSFER_WRITE,
        );
        let dpb = vk::ImageLayout::VIDEO_DECODE_DPB_KHR;
        let slot = (self.slots.raw, picture.slot as u32);
        let mut images = vec![image_barrier(slot, earlier, BOTH, [undefined, dpb])];
        if let Some(output) = &self.output {
            let dst = vk::ImageLayout::VIDEO_DECODE_DST_KHR;
            images.push(image_barrier(
                (output.raw, 0),
                earlier,
                BOTH,
                [undefined, dst],
            ));
        }
        // References, and the target of a copy that this pass wrote before.
        let later = match is_first {
            true => BOTH,
            false => (DECODE | COPY, BOTH.1 | vk::AccessFlags2::TRANSFER_WRITE),
        };
        let memory = vk::MemoryBarrier2::default()
            .src_stage_mask(earlier.0)
            .src_access_mask(earlier.1)
            .dst_stage_mask(later.0)
            .dst_access_mask(later.1);
        self.barrier(commands, &[memory], &images);
    }

    fn barrier(
        &self,
        commands: vk::CommandBuffer,
        memory: &[vk::MemoryBarrier2<'_>],
        images: &[vk::ImageMemoryBarrier2<'_>],
    ) {
        let info = vk::DependencyInfo::default()
            .memory_barriers(memory)
            .image_memory_barriers(images);
        // SAFETY: `record` demands a queue that decodes and copies; the images are the session's.
        unsafe { self.functions.device.cmd_pipeline_barrier2(commands, &info) };
    }

    /// Picture resource of a slot.
    fn resource(&self, slot: usize) -> vk::VideoPictureResourceInfoKHR<'static> {
        self.layer(self.slots.view, slot as u32)
    }

    fn layer(&self, view: vk::ImageView, layer: u32) -> vk::VideoPictureResourceInfoKHR<'static> {
        vk::VideoPictureResourceInfoKHR::default()
            .coded_extent(vk::Extent2D {
                width: self.picture[0],
                height: self.picture[1],
            })
            .base_array_layer(layer)
            .image_view_binding(view)
    }

    /// Decodes one picture.
    fn decode(
        &self,
        commands: vk::CommandBuffer,
        bitstream: vk::Buffer,
        decode: &Decode,
        chains: &Chains<'_>,
    ) {
        let picture = &decode.picture;
        let slots: Vec<usize> = picture.references.iter().map(|it| it.slot).collect();
        let slots = [slots.as_slice(), &[picture.slot]].concat();
        let resources: Vec<_> = slots.iter().map(|&it| self.resource(it)).collect();
        let slot_info = |index: usize, slot: i32| {
            let mut info = vk::VideoReferenceSlotInfoKHR::default()
                .slot_index(slot)
                .picture_resource(&resources[index]);
            info.p_next = chains.slots[index];
            info
        };
        let last = slots.len() - 1;
        let references: Vec<_> = (0..last)
            .map(|index| slot_info(index, slots[index] as i32))
            .collect();
        let setup = slot_info(last, picture.slot as i32);
        // The slot of the picture becomes active by decoding: until then it has no index.
        let mut begun = references.clone();
        begun.push(slot_info(last, -1));

        let begin = vk::VideoBeginCodingInfoKHR::default()
            .video_session(self.raw)
            .video_session_parameters(self.parameters)
            .reference_slots(&begun);
        let functions = &self.functions.queue;
        // SAFETY: `record` demands a queue that decodes; the session and its images live.
        unsafe { (functions.cmd_begin_video_coding_khr)(commands, &begin) };
        // All slots may become inactive: the first picture of a session, which must be reset before its first use, and
        // the first one after a seek.
        if picture.resets() {
            let control = vk::VideoCodingControlInfoKHR::default()
                .flags(vk::VideoCodingControlFlagsKHR::RESET);
            // SAFETY: as above, within the coding scope.
            unsafe { (functions.cmd_control_video_coding_khr)(commands, &control) };
        }
        let output = match &self.output {
            Some(output) => self.layer(output.view, 0),
            None => resources[last],
        };
        let mut info = vk::VideoDecodeInfoKHR::default()
            .src_buffer(bitstream)
            .src_buffer_offset(decode.range[0])
            .src_buffer_range(decode.range[1])
            .dst_picture_resource(output)
            .setup_reference_slot(&setup)
            .reference_slots(&references);
        info.p_next = chains.picture;
        // SAFETY: as above; the references are active slots, in the layout of references.
        unsafe { (self.functions.decode.cmd_decode_video_khr)(commands, &info) };
        let end = vk::VideoEndCodingInfoKHR::default();
        // SAFETY: the scope was begun above.
        unsafe { (functions.cmd_end_video_coding_khr)(commands, &end) };
    }

    /// Copies the planes of a decoded picture.
    fn copy(&self, commands: vk::CommandBuffer, picture: &CodedPicture, target: vk::Buffer) {
        let (image, layer, layout) = self.destination(picture);
        let source = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        let copies = (COPY, vk::AccessFlags2::TRANSFER_READ);
        let barrier = image_barrier((image, layer), WRITES, copies, [layout, source]);
        self.barrier(commands, &[], &[barrier]);
        let [width, height] = self.coded;
        let plane = |aspect, offset: u64, width, height| vk::BufferImageCopy {
            buffer_offset: offset,
            buffer_row_length: 0,
            buffer_image_height: 0,
            image_subresource: vk::ImageSubresourceLayers {
                aspect_mask: aspect,
                mip_level: 0,
                base_array_layer: layer,
                layer_count: 1,
            },
            image_offset: vk::Offset3D::default(),
            image_extent: vk::Extent3D {
                width,
                height,
                depth: 1,
            },
        };
        let luma = u64::from(width) * u64::from(height) * self.bytes_per_value;
        let regions = [
            plane(vk::ImageAspectFlags::PLANE_0, 0, width, height),
            plane(vk::ImageAspectFlags::PLANE_1, luma, width / 2, height / 2),
        ];
        // SAFETY: `record` demands a target for both planes; the image is in this layout now.
        unsafe {
            self.functions
                .device
                .cmd_copy_image_to_buffer(commands, image, source, target, &regions);
        }
        if self.output.is_none() && picture.is_reference {
            let barrier = image_barrier((image, layer), copies, READS, [source, layout]);
            self.barrier(commands, &[], &[barrier]);
        }
    }
}

/// Barrier of one layer.
fn image_barrier(
    (image, layer): (vk::Image, u32),
    before: Scope,
    after: Scope,
    [old, new]: [vk::ImageLayout; 2],
) -> vk::ImageMemoryBarrier2<'static> {
    vk::ImageMemoryBarrier2::default()
        .src_stage_mask(before.0)
        .src_access_mask(before.1)
        .dst_stage_mask(after.0)
        .dst_access_mask(after.1)
        .old_layout(old)
        .new_layout(new)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(layers(layer, 1))
}
