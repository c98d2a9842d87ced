use super::*;
use crate::access::Access;
use crate::frame::Frame;
use crate::text::parse_frame;

fn groups(uses: &str) -> Vec<Vec<usize>> {
    let text =
        format!("buffer a 0 bytes 64\nimage b 1 aspects COLOR mips 4 layers 4\npass p\n{uses}");
    let frame: Frame = parse_frame(&text).unwrap();
    let overlaps = Overlaps::new(&frame.uses);
    (0..frame.uses.len())
        .map(|at| overlaps.of(at).collect())
        .collect()
}

#[test]
fn ranges_that_overlap_in_a_row_are_a_group() {
    let found = groups(
        "  VertexRead a bytes 16..32\n  IndexRead a bytes 40..48\n  VertexRead a bytes 0..20\n  \
         IndexRead a bytes 30..40\n",
    );
    assert_eq!(
        found,
        [vec![0, 2, 3], vec![1], vec![0, 2, 3], vec![0, 2, 3]]
    );
}

#[test]
fn a_use_of_everything_meets_all_of_its_resource_alone() {
    let found = groups(
        "  VertexRead a bytes 16..32\n  SampledFragment b\n  IndexRead a\n  SampledVertex b aspects \
         COLOR mips 1..2 layers 3..4\n  VertexRead a bytes 40..48\n",
    );
    let (a, b) = (vec![0, 2, 4], vec![1, 3]);
    assert_eq!(found, [a.clone(), b.clone(), a.clone(), b, a]);
}

#[test]
fn uses_of_other_groups_do_not_overlap() {
    // Distinct ranges of one buffer in scattered order: 37 is coprime to 101.
    let range = |at: u64| SubRange::Bytes {
        offset: at * 37 % 101,
        size: 1 + at % 5,
    };
    let resource = crate::resource::ResourceIndex(0);
    let one = |at| Use {
        range: range(at),
        ..Use::whole(resource, Access::VertexRead)
    };
    let uses: Vec<Use> = (0..40).map(one).collect();
    let overlaps = Overlaps::new(&uses);
    let all = (0..uses.len()).flat_map(|a| (0..uses.len()).map(move |b| (a, b)));
    for (a, b) in all.filter(|(a, b)| uses[*a].range.overlaps(&uses[*b].range)) {
        assert!(overlaps.of(a).any(|it| it == b), "{a} overlapped {b}");
    }
    assert!(
        overlaps.of(0).count() < uses.len(),
        "there are several groups"
    );
}

#[test]
fn no_uses_are_no_groups() {
    assert_eq!(groups(""), Vec::<Vec<usize>>::new());
}
