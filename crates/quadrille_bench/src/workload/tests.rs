use super::{PassWork, SEED, SplitMix, Workload};

#[test]
fn random_numbers_are_those_of_splitmix64() {
    // Reference outputs from seed 0.
    let mut random = SplitMix(0);
    assert_eq!(random.next(), 0xE220_A839_7B1D_CDAF);
    assert_eq!(random.next(), 0x6E78_9E6A_A1B9_65F4);
}

#[test]
fn passes_do_not_read_their_own_output() {
    for passes in [1, 5, 10, 100, 1000] {
        for pass in Workload::new(passes, SEED).passes {
            match pass {
                PassWork::Buffer {
                    writes,
                    reads: [a, b],
                } => {
                    assert_ne!(writes, a, "first of {pass:?} of {passes}");
                    assert_ne!(writes, b, "second of {pass:?} of {passes}");
                    assert_ne!(a, b, "both of {pass:?} of {passes}");
                }
                PassWork::Image { writes, reads, .. } => {
                    assert_ne!(writes, reads, "{pass:?} of {passes}");
                }
            }
        }
    }
}

#[test]
fn each_fifth_pass_is_of_images() {
    let workload = Workload::new(100, SEED);
    let is_image = |pass: &&PassWork| matches!(pass, PassWork::Image { .. });
    assert_eq!(workload.passes.iter().filter(is_image).count(), 20);
}

#[test]
fn a_frame_is_computed_in_order() {
    let workload = Workload {
        passes: vec![
            PassWork::Buffer {
                writes: 0,
                reads: [1, 2],
            },
            PassWork::Image {
                buffer: 0,
                writes: 1,
                reads: 0,
            },
        ],
        buffers: 4,
        images: 2,
    };
    let end = workload.simulate(1);
    let first = 3 * 2 + 5 * 3 + 1;
    assert_eq!(end.buffers, [first, 2, 3, 4]);
    assert_eq!(end.images, [1001, 3 * first + 5 * 1001 + 1]);
}

#[test]
fn other_seeds_give_other_frames() {
    assert_ne!(Workload::new(100, SEED), Workload::new(100, SEED + 1));
}

#[test]
fn a_pass_comes_after_whom_it_reads_and_overwrites() {
    let buffer = |writes, reads| PassWork::Buffer { writes, reads };
    let workload = Workload {
        passes: vec![
            buffer(0, [1, 2]),
            buffer(3, [1, 2]),
            buffer(1, [0, 3]),
            buffer(1, [0, 2]),
        ],
        buffers: 4,
        images: 2,
    };
    let expected: [&[usize]; 4] = [&[], &[], &[0, 1], &[0, 2]];
    assert_eq!(workload.predecessors(), expected);
}

#[test]
fn successive_workloads_differ() {
    let workload = Workload::new(100, SEED);
    let turns = workload.turns(16);
    let next = turns.iter().cycle().skip(1);
    assert!(turns.iter().zip(next).all(|(turn, next)| turn != next));
    assert!(turns.iter().all(|turn| *turn != workload));
}

#[test]
fn frames_alternate_between_workloads() {
    let workload = Workload::new(20, SEED);
    let turns = [workload.clone(), workload.turns(1).remove(0)];
    // The first frame has the second workload.
    let one = Workload::simulate_in_turn(&turns, 1);
    assert_eq!(one, turns[1].simulate(1));
    assert_ne!(one, workload.simulate(1));
    let same = [workload.clone(), workload.clone()];
    assert_eq!(Workload::simulate_in_turn(&same, 3), workload.simulate(3));
}
