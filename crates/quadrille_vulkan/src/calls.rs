//! Recorded Vulkan commands as data, all arguments included: what lists of compute passes come to.

use std::ops::Range;

use ash::vk;

use crate::pipeline::PipelineLayout;

/// A Vulkan command with its arguments.
#[derive(Clone, Copy)]
pub(crate) enum Call {
    /// `vkCmdBindPipeline`
    Pipeline {
        point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline,
    },
    /// `vkCmdPushDescriptorSetWithTemplate`
    Push {
        layout: vk::PipelineLayout,
        template: vk::DescriptorUpdateTemplate,
        /// Where its infos begin.
        first: u32,
    },
    /// `vkCmdPushConstants`
    Constants {
        layout: vk::PipelineLayout,
        stages: vk::ShaderStageFlags,
        /// Where its bytes begin.
        first: u32,
        bytes: u32,
    },
    /// `vkCmdDispatch`
    Dispatch { groups: [u32; 3] },
    /// `vkCmdDispatchIndirect`
    DispatchIndirect { buffer: vk::Buffer, offset: u64 },
}

/// What a descriptor is made from. The variants have the same size, which is the stride of
/// [`PipelineLayout`]'s template.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) union Info {
    pub buffer: vk::DescriptorBufferInfo,
    pub image: vk::DescriptorImageInfo,
}

const _: () = assert!(
    size_of::<Info>() == PipelineLayout::INFO_BYTES,
    "the stride"
);

impl Info {
    /// Nothing.
    pub(crate) const NULL: Self = Self {
        buffer: vk::DescriptorBufferInfo {
            buffer: vk::Buffer::null(),
            offset: 0,
            range: 0,
        },
    };
}

/// Calls, pass after pass, with what they point to.
#[derive(Default)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    infos: Vec<Info>,
    bytes: Vec<u8>,
    /// Where the calls that are being added begin; none if nobody wants them.
    open: Option<Mark>,
    /// How many of the calls nobody needs any more.
    discarded: usize,
}

/// The lengths of all arrays.
#[derive(Clone, Copy)]
struct Mark {
    calls: usize,
    infos: usize,
    bytes: usize,
}

impl Calls {
    /// Forgets everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.calls.clear();
        self.infos.clear();
        self.bytes.clear();
        self.open = None;
        self.discarded = 0;
    }

    /// Says that some of the calls are not needed any more.
    pub(crate) fn discard(&mut self, calls: &Range<u32>) {
        self.discarded += calls.len();
    }

    /// Whether most of the calls are not needed any more.
    pub(crate) fn are_mostly_discarded(&self) -> bool {
        self.discarded > self.calls.len() / 2
    }

    /// Begins to keep the calls of a pass.
    pub(crate) fn open(&mut self) {
        self.open = Some(Mark {
            calls: self.calls.len(),
            infos: self.infos.len(),
            bytes: self.bytes.len(),
        });
    }

    /// Gives up the pass: what it does cannot be kept.
    pub(crate) fn give_up(&mut self) {
        if let Some(mark) = self.open.take() {
            self.calls.truncate(mark.calls);
            self.infos.truncate(mark.infos);
            self.bytes.truncate(mark.bytes);
        }
    }

    /// The calls of the pass, if they were kept to the end.
    pub(crate) fn close(&mut self) -> Option<Range<u32>> {
        let mark = self.open.take()?;
        Some(mark.calls as u32..self.calls.len() as u32)
    }

    /// Whether calls are wanted.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Adds a call, if it is wanted.
    pub(crate) fn add(&mut self, call: Call) {
        if self.is_open() {
            self.calls.push(call);
        }
    }

    /// Adds a push of descriptors, each at the place of its binding.
    pub(crate) fn add_push(&mut self, layout: &PipelineLayout, infos: &[Info]) {
        if self.is_open() {
            let first = self.infos.len() as u32;
            self.infos.extend_from_slice(infos);
            self.calls.push(Call::Push {
                layout: layout.raw,
                template: layout.template,
                first,
            });
        }
    }

    /// Adds push constants from the first byte on.
    pub(crate) fn add_constants(&mut self, layout: &PipelineLayout, constants: &[u8]) {
        if self.is_open() {
            let first = self.bytes.len() as u32;
            self.bytes.extend_from_slice(constants);
            self.calls.push(Call::Constants {
                layout: layout.raw,
                stages: layout.push_stages,
                first,
                bytes: constants.len() as u32,
            });
        }
    }

    /// One of the calls.
    #[inline]
    pub(crate) fn at(&self, at: u32) -> Call {
        self.calls[at as usize]
    }

    /// The infos of a push.
    pub(crate) fn infos(&self, first: u32) -> *const Info {
        self.infos[first as usize..].as_ptr()
    }

    /// The bytes of push constants.
    pub(crate) fn constants(&self, first: u32, bytes: u32) -> &[u8] {
        &self.bytes[first as usize..][..bytes as usize]
    }
}
