//! Topologies and frames chosen by bytes: mostly with plausible values, sometimes with extreme ones.

use quadrille_sync::access::{Access, CustomAccess};
use quadrille_sync::flags::{AccessMask, Aspects, Layout, Stages};
use quadrille_sync::frame::{
    Frame, PassDecl, PassIndex, PassKind, Preference, QueueRequest, TimelineUse, TimelineUseKind,
    Use, UserTimeline,
};
use quadrille_sync::range::{Slices, SubRange, SubresourceRange};
use quadrille_sync::resource::{
    BlockId, Lifetime, Placement, Resource, ResourceId, ResourceIndex, ResourceKind, Sharing,
};
use quadrille_sync::topology::{
    BarrierStyle, Capabilities, FamilyIndex, Queue, QueueIndex, SubmitPolicy, Topology,
};

/// Source of choices; all zeros after the last byte.
pub(super) struct Choices<'a> {
    bytes: &'a [u8],
}

/// Extreme numbers, at the bounds of types and limits.
const ABSURD: [u64; 8] = [
    0,
    33,
    0xffff,
    0xffff_ffff,
    1 << 32,
    1 << 57,
    1 << 63,
    u64::MAX,
];

impl<'a> Choices<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        *first
    }

    /// A number below `end`, which is at most 256 and not 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    /// True once in `times`.
    fn once_in(&mut self, times: usize) -> bool {
        // False after the last byte (zeros), so that extreme choices come only from the input.
        self.below(times) == times - 1
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// A number below `end`, or rarely an extreme one.
    fn number(&mut self, end: usize) -> u64 {
        if self.once_in(120) {
            self.pick(&ABSURD)
        } else {
            self.below(end) as u64
        }
    }

    fn small(&mut self, end: usize) -> u32 {
        u32::try_from(self.number(end)).unwrap_or(u32::MAX)
    }

    pub(super) fn topology(&mut self) -> Topology {
        let kinds = [
            Capabilities::GRAPHICS | Capabilities::COMPUTE | Capabilities::TRANSFER,
            Capabilities::GRAPHICS | Capabilities::COMPUTE | Capabilities::TRANSFER,
            Capabilities::COMPUTE | Capabilities::TRANSFER,
            Capabilities::GRAPHICS | Capabilities::TRANSFER,
            Capabilities::TRANSFER,
            Capabilities::VIDEO_DECODE | Capabilities::TRANSFER,
            Capabilities::VIDEO_ENCODE,
            Capabilities::all(),
        ];
        let mut topology = Topology::default();
        for number in 0..1 + self.below(3) {
            let capabilities = self.pick(&kinds[..if number == 0 { 2 } else { kinds.len() }]);
            let (count, can_present) = (1 + self.below(3) as u32, self.below(2) == 0);
            let family = FamilyIndex(number as u32);
            topology.queues.extend((0..count).map(|index| Queue {
                family,
                index,
                capabilities,
                can_present,
            }));
        }
        if self.once_in(60) {
            let again = topology.queues.clone();
            for _ in 0..self.below(12) {
                topology.queues.extend_from_slice(&again);
            }
        }
        topology.barriers = self.pick(&[BarrierStyle::Merged, BarrierStyle::Precise]);
        topology.submit = self.pick(&[SubmitPolicy::InOrder, SubmitPolicy::Coalesced]);
        topology.maintenance8 = self.below(2) == 1;
        topology
    }

    /// A frame with the resources of the last one, because an id belongs to one resource until it is
    /// removed.
    pub(super) fn frame(&mut self, last: Option<&Frame>, topology: &Topology) -> Frame {
        let mut frame = Frame {
            cull: self.once_in(8),
            ..Frame::default()
        };
        frame.resources = match last {
            Some(last) => last.resources.clone(),
            None => (0..1 + self.below(5)).map(|id| self.resource(id)).collect(),
        };
        for number in 0..self.below(9) {
            self.pass(&mut frame, number, topology);
        }
        if self.once_in(4) {
            self.timelines(&mut frame);
        }
        frame
    }

    /// Values of users' timelines: most rise in the order of the passes, and some are absurd.
    fn timelines(&mut self, frame: &mut Frame) {
        let count = 1 + self.below(2);
        frame.timelines = (0..count)
            .map(|number| UserTimeline {
                name: format!("t{number}").into(),
                base: self.number(9),
            })
            .collect();
        for number in 0..frame.passes.len() as u64 {
            if self.below(2) == 0 {
                continue;
            }
            let value = if self.once_in(6) {
                self.number(9)
            } else {
                number
            };
            let wild = self.once_in(60);
            frame.timeline_uses.push(TimelineUse {
                pass: PassIndex(if wild { self.small(9) } else { number as u32 }),
                timeline: if wild {
                    self.small(3)
                } else {
                    self.below(count) as u32
                },
                kind: self.pick(&[TimelineUseKind::Signal, TimelineUseKind::Wait]),
                value,
            });
        }
    }

    fn resource(&mut self, id: usize) -> Resource {
        let id = if self.once_in(100) {
            self.small(9)
        } else {
            id as u32
        };
        let kind = if self.below(2) == 0 {
            let bytes = self.pick(&[64, 16, 1, 1000, 1 << 40]);
            let bytes = if self.once_in(60) {
                self.number(3)
            } else {
                bytes
            };
            ResourceKind::Buffer { bytes }
        } else {
            let aspects = [
                Aspects::COLOR,
                Aspects::DEPTH | Aspects::STENCIL,
                Aspects::DEPTH,
                Aspects::PLANE_0 | Aspects::PLANE_1 | Aspects::PLANE_2,
            ];
            ResourceKind::Image {
                aspects: self.pick(&aspects),
                mip_levels: self.small(4).max(1),
                array_layers: self.small(4).max(1),
                slices: if self.once_in(4) { self.small(5) } else { 1 },
            }
        };
        let mut made = Resource::image(ResourceId(id), &format!("r{id}"));
        made.sharing = self.pick(&[Sharing::Exclusive, Sharing::Exclusive, Sharing::Concurrent]);
        let swapchain = self.once_in(8);
        if swapchain {
            made.lifetime = Lifetime::Swapchain;
        }
        // Swapchain images of any other kind are refused.
        if !swapchain || self.once_in(20) {
            made.kind = kind;
        }
        if self.once_in(5) {
            made.lifetime = Lifetime::Transient;
        }
        let placed = made.lifetime == Lifetime::Transient && self.once_in(2);
        if placed || self.once_in(200) {
            made.memory = Some(self.placement());
        }
        made
    }

    /// A placement in one of two blocks, sometimes with extreme values.
    fn placement(&mut self) -> Placement {
        let absurd = self.once_in(50);
        Placement {
            block: BlockId(self.small(2)),
            offset: if absurd {
                self.number(3)
            } else {
                self.pick(&[0, 16, 32, 64])
            },
            bytes: if absurd {
                self.number(3)
            } else {
                self.pick(&[64, 16, 48, 1000])
            },
        }
    }

    fn pass(&mut self, frame: &mut Frame, number: usize, topology: &Topology) {
        let host = self.once_in(12);
        let (first_use, first_after) = (frame.uses.len() as u32, frame.after.len() as u32);
        for _ in 0..self.below(4) {
            let one = self.one_use(frame, topology, host);
            frame.uses.push(one);
        }
        // Most passes come after the previous one; otherwise most frames would be refused as races.
        if number > 0 && !self.once_in(4) {
            frame.after.push(PassIndex(number as u32 - 1));
        }
        if self.once_in(8) {
            let before = self.small(9);
            frame.after.push(PassIndex(before));
        }
        let mut uses = first_use..frame.uses.len() as u32;
        if self.once_in(200) {
            uses.end = self.small(4);
        }
        let required = self.pick(&[
            Capabilities::empty(),
            Capabilities::empty(),
            Capabilities::COMPUTE,
            Capabilities::GRAPHICS,
            Capabilities::TRANSFER,
            Capabilities::VIDEO_DECODE,
        ]);
        let fixed = (self.below(3) == 0).then(|| QueueIndex(self.small(6).min(255) as u8));
        frame.passes.push(PassDecl {
            name: format!("p{number}").into(),
            kind: if host {
                PassKind::Host
            } else {
                PassKind::Device
            },
            queue: QueueRequest {
                required,
                preference: self.pick(&[Preference::Main, Preference::Async]),
                fixed,
            },
            side_effect: self.once_in(6),
            prologue: self.once_in(20),
            cost_us: self.small(200),
            uses,
            after: first_after..frame.after.len() as u32,
        });
    }

    fn one_use(&mut self, frame: &Frame, topology: &Topology, host: bool) -> Use {
        let resource = self.small(frame.resources.len());
        let kind = frame.resources.get(resource as usize).map(|it| it.kind);
        let first = self.below(Access::ALL.len());
        let mut access = Access::ALL[first];
        if !self.once_in(10) {
            // The next access that some queue, or the host, supports.
            let all = Access::ALL.iter().cycle().skip(first);
            let fits = |access: &&Access| {
                let mut queues = topology.queues.iter();
                access.is_host() == host
                    && (host || queues.any(|queue| access.runs_on(queue.capabilities)))
            };
            let mut all = all.take(Access::ALL.len());
            access = all.find(fits).copied().unwrap_or(access);
        }
        if self.once_in(30) {
            access = Access::Custom(self.custom());
        }
        Use {
            resource: ResourceIndex(resource),
            range: kind.map_or(SubRange::Whole, |kind| self.range(&kind)),
            access,
            discard: if access.is_write() {
                self.below(2) == 0
            } else {
                self.once_in(40)
            },
        }
    }

    fn custom(&mut self) -> CustomAccess {
        let stage = 1 << self.below(39);
        let mut access = AccessMask::from_bits_truncate(1 << self.below(46));
        if self.below(2) == 0 {
            access |= AccessMask::from_bits_truncate(1 << self.below(46));
        }
        CustomAccess {
            stages: Stages::from_bits_truncate(stage),
            access,
            layout: self.pick(Layout::ALL),
            writes: self.below(2) == 0,
        }
    }

    fn range(&mut self, kind: &ResourceKind) -> SubRange {
        if self.below(2) == 0 {
            return SubRange::Whole;
        }
        match *kind {
            ResourceKind::Buffer { bytes } if !self.once_in(80) => {
                let quarter = (bytes / 4).max(1);
                let offset = self.number(4).saturating_mul(quarter);
                let size = self.number(3).saturating_add(1).saturating_mul(quarter);
                let size = size.min(bytes.saturating_sub(offset)).max(1);
                SubRange::Bytes { offset, size }
            }
            ResourceKind::Image { slices: 2.., .. } if !self.once_in(3) => {
                SubRange::Slices(Slices {
                    aspects: Aspects::COLOR,
                    mip: self.small(3),
                    base: self.small(4),
                    count: self.small(4),
                })
            }
            ResourceKind::Image {
                aspects,
                mip_levels,
                array_layers,
                ..
            } => {
                let parts: Vec<Aspects> = aspects.iter().chain([aspects]).collect();
                let mut part = |count: u32| {
                    let base = self.small(count.clamp(1, 4) as usize);
                    let most = count.saturating_sub(base).clamp(1, 4);
                    (base, self.small(most as usize).saturating_add(1))
                };
                let (base_mip, mip_count) = part(mip_levels);
                let (base_layer, layer_count) = part(array_layers);
                SubRange::Subresources(SubresourceRange {
                    aspects: self.pick(&parts),
                    base_mip,
                    mip_count,
                    base_layer,
                    layer_count,
                })
            }
            ResourceKind::Buffer { .. } => SubRange::Subresources(SubresourceRange {
                aspects: Aspects::COLOR,
                base_mip: self.small(3),
                mip_count: self.small(3),
                base_layer: self.small(3),
                layer_count: self.small(3),
            }),
        }
    }
}
