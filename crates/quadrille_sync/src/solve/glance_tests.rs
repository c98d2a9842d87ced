//! What is seen at a glance is what the long way finds out.

use super::super::{decide, emit, solve};
use super::*;
use crate::access::Access;
use crate::flags::Aspects;
use crate::frame::{PassIndex, QueueRequest};
use crate::resource::{ResourceId, ResourceIndex, ResourceKind, Sharing};
use crate::rounds::rounds;
use crate::text::{parse_frame, parse_topology};
use crate::topology::Capabilities;

/// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    fn one_in(&mut self, end: usize) -> bool {
        self.below(end) == 0
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

const TOPOLOGIES: [&str; 8] = [
    "gct:1",
    "gct:1",
    "gct:1 precise",
    "gct:2",
    "gct:1,ct:1",
    "ct:1,gct:1",
    "gct:1,ct:2,t:1 precise",
    "gctn:1,ctp:1",
];

const ACCESSES: [Access; 9] = [
    Access::StorageReadCompute,
    Access::StorageReadCompute,
    Access::SampledCompute,
    Access::SampledFragment,
    Access::TransferRead,
    Access::StorageWriteCompute,
    Access::StorageReadWriteCompute,
    Access::ColorAttachmentWrite,
    Access::TransferWrite,
];

fn resources(random: &mut Random) -> Vec<Resource> {
    let count = 1 + random.below(10) as u32;
    let resources = (0..count).map(|id| {
        let mut resource = Resource::buffer(ResourceId(id), &format!("r{id}"), 64);
        if random.one_in(2) {
            resource.kind = ResourceKind::Image {
                aspects: Aspects::COLOR,
                mip_levels: 1 + random.below(2) as u32,
                array_layers: 1,
                slices: 1,
            };
        }
        if random.one_in(3) {
            resource.sharing = Sharing::Concurrent;
        }
        resource.lifetime = match random.below(12) {
            0 if resource.kind == Resource::PRESENTABLE => Lifetime::Swapchain,
            1 => Lifetime::Transient,
            _ => Lifetime::Persistent,
        };
        resource
    });
    resources.collect()
}

/// Who has touched a resource since it was written, in a frame that is made up.
#[derive(Clone, Default)]
struct Touched {
    writer: Option<PassIndex>,
    readers: Vec<PassIndex>,
    written: bool,
}

/// A frame in which hardly anything is missing; `oddity` says how seldom something is odd.
fn frame(
    random: &mut Random,
    resources: &[Resource],
    written: &mut [bool],
    oddity: usize,
) -> Frame {
    let mut frame = Frame {
        resources: resources.to_vec(),
        cull: random.one_in(40),
        ..Frame::default()
    };
    let mut touched: Vec<Touched> = vec![Touched::default(); resources.len()];
    let chained = random.one_in(3);
    for at in 0..1 + random.below(20) as u32 {
        let (mut uses, mut after): (Vec<Use>, Vec<PassIndex>) = Default::default();
        for _ in 0..1 + random.below(4) {
            let resource = random.below(resources.len());
            let index = ResourceIndex(resource as u32);
            let mut one = Use::whole(index, random.of(&ACCESSES));
            let target = Target::of(&resources[resource].kind);
            if !one.access.target().meets(target) && !random.one_in(oddity) {
                continue;
            }
            let is_second = uses.iter().any(|other: &Use| other.resource == index);
            if is_second && !random.one_in(oddity) {
                continue;
            }
            let is_there =
                written[resource] && resources[resource].lifetime == Lifetime::Persistent;
            let is_there = is_there || touched[resource].written;
            one.discard = one.access.is_write() && (!is_there || random.one_in(4));
            if !is_there && !one.access.is_write() && !random.one_in(oddity) {
                continue;
            }
            if random.one_in(oddity) && !resources[resource].is_image() {
                one.range = SubRange::Bytes {
                    offset: 0,
                    size: 32,
                };
            }
            let touched = &mut touched[resource];
            after.extend(touched.writer.filter(|_| !random.one_in(oddity)));
            if one.access.is_write() {
                after.append(&mut touched.readers);
                touched.writer = Some(PassIndex(at));
                touched.written = true;
            } else {
                touched.readers.push(PassIndex(at));
            }
            uses.push(one);
        }
        after.sort_unstable();
        after.dedup();
        after.retain(|before| before.0 < at && !random.one_in(oddity));
        if chained {
            after.clear();
            after.extend(at.checked_sub(1).map(PassIndex));
        }
        let request = QueueRequest {
            required: random.of(&[Capabilities::empty(), Capabilities::COMPUTE]),
            preference: random.of(&[Preference::Main, Preference::Main, Preference::Async]),
            fixed: random.one_in(12).then_some(QueueIndex(0)),
        };
        let pass = frame.add_pass(format!("p{at}"), request, &uses, &after);
        let pass = &mut frame.passes[pass.0 as usize];
        pass.side_effect = random.one_in(6);
        pass.prologue = random.one_in(20 * oddity);
        if random.one_in(20 * oddity) {
            pass.kind = PassKind::Host;
        }
    }
    for (written, touched) in written.iter_mut().zip(&touched) {
        *written |= touched.written;
    }
    frame
}

/// Plans a frame with all short ways and with none. Says whether its order is clear.
fn compare(seed: u64, frame: &Frame, topology: &Topology, states: &States) -> bool {
    if let (Ok(short), Ok(long)) = (
        decide(frame, topology, states, true),
        decide(frame, topology, states, false),
    ) {
        let (short, long) = (short.finish(frame, topology), long.finish(frame, topology));
        assert_eq!(short.plan, long.plan, "seed {seed}");
        assert_eq!(short.consulted, long.consulted, "seed {seed}");
    }
    let Some(clear) = glance(frame, topology, states) else {
        return false;
    };
    let short = emit(
        frame,
        topology,
        states,
        &clear.split,
        &[],
        crate::solve::Ease::Clear(&clear.lowered),
        None,
    )
    .finish(frame, topology);
    match decide(frame, topology, states, false) {
        Err(errors) => panic!("seed {seed}: errors were overlooked: {errors}"),
        Ok(long) => {
            let long = long.finish(frame, topology);
            assert_eq!(short.plan, long.plan, "seed {seed}");
            assert_eq!(short.consulted, long.consulted, "seed {seed}");
        }
    }
    true
}

#[test]
fn a_glance_sees_what_the_long_way_finds() {
    let (mut frames, mut clear) = (0, 0);
    for seed in 0..rounds(4000) as u64 {
        let mut random = Random(seed);
        let mut topology = parse_topology(random.of(&TOPOLOGIES)).unwrap();
        if random.one_in(4) {
            topology.order = OrderPolicy::Declared;
        }
        let resources = resources(&mut random);
        let mut states = States::default();
        let mut written = vec![false; resources.len()];
        let oddity = random.of(&[10, 100, 1000]);
        let mut one = frame(&mut random, &resources, &mut written, oddity);
        for _ in 0..4 {
            frames += 1;
            clear += u32::from(compare(seed, &one, &topology, &states));
            if let Ok(solved) = solve(&one, &topology, &states) {
                states.commit(&one, &topology, &solved.plan);
            }
            if random.one_in(2) {
                one = frame(&mut random, &resources, &mut written, oddity);
            }
        }
    }
    // Most are neither trivial nor all clear, or this says nothing.
    assert!(
        clear > frames / 6 && clear < frames * 9 / 10,
        "{clear} of {frames} are clear"
    );
}

/// Whether the order of a frame, of a written buffer `a` and a written image `b`, is clear.
fn is_clear(passes: &str) -> bool {
    let text = format!("buffer a 0 bytes 64\nimage b 1 aspects COLOR mips 1 layers 1\n{passes}");
    let frame = parse_frame(&text).unwrap();
    let topology = parse_topology("gct:1").unwrap();
    let mut states = States::default();
    states.import(ResourceId(0), Layout::Undefined, None);
    states.import(ResourceId(1), Layout::General, None);
    compare(0, &frame, &topology, &states)
}

#[test]
fn order_that_is_declared_or_inferred_is_clear() {
    let write = "pass w\n  StorageWriteCompute a\n";
    assert!(is_clear(&format!(
        "{write}pass r\n  StorageReadCompute a\n"
    )));
    assert!(is_clear(&format!(
        "{write}pass r\n  after w\n  StorageReadCompute a\npass x\n  after r\n  StorageWriteCompute a\n"
    )));
    // Through a pass that has nothing to do with it.
    assert!(is_clear(&format!(
        "{write}pass m\n  after w\n  StorageWriteCompute b\npass x\n  after m\n  StorageWriteCompute a\n"
    )));
}

#[test]
fn order_that_has_to_be_searched_for_is_not_clear() {
    // The one writer comes first, though it is declared last.
    assert!(!is_clear(
        "pass r\n  StorageReadCompute a\npass w\n  StorageWriteCompute a\n"
    ));
    // Two writers without order are an error.
    assert!(!is_clear(
        "pass w\n  StorageWriteCompute a\npass x\n  StorageWriteCompute a\n"
    ));
    // Readers want different layouts, and may change places.
    assert!(!is_clear(
        "pass r\n  SampledCompute b\npass x\n  StorageReadCompute b\n"
    ));
    // The read is ordered after one of two writers only.
    assert!(!is_clear(
        "pass w\n  StorageWriteCompute a\npass r\n  StorageReadCompute a\n\
         pass x\n  after r\n  StorageWriteCompute a\n"
    ));
}
