//! Precise barriers: one for each range of what passes depend on.
//!
//! Several passes, or several uses of one pass, may depend on the same memory within one barrier
//! call, on ranges that overlap in part. Written down one by one they would say the same twice, so
//! ranges are cut where one begins or ends, and what is said of a part is said by one barrier. What
//! only orders has no range, and is said once for each resource.

use std::cmp::Reverse;

use super::scope::named;
use super::walk::Plain;

/// Execution dependencies, of which no two of the same resource say the same, in part or as a whole: order
/// is not bound to a range, so one does for both, and says of the first which range it is about.
pub(super) fn gather(mut order: Vec<Plain>) -> Vec<Plain> {
    // The widest first, which may say what others do.
    order.sort_by_key(|it| (it.reason.resource, Reverse(named(it.src) + named(it.dst))));
    let mut kept: Vec<Plain> = Vec::with_capacity(order.len());
    for mut one in order {
        let is_other = |said: &Plain| said.reason.resource != one.reason.resource;
        let first = kept.iter().rposition(is_other).map_or(0, |at| at + 1);
        let of_resource = &mut kept[first..];
        for said in of_resource.iter() {
            if said.dst.contains(one.dst) {
                one.src.stages.remove(said.src.stages);
            } else if said.src.contains(one.src) {
                one.dst.stages.remove(said.dst.stages);
            }
        }
        if one.src.stages.is_empty() || one.dst.stages.is_empty() {
            continue;
        }
        let shares = |said: &&mut Plain| said.src == one.src || said.dst == one.dst;
        match of_resource.iter_mut().find(shares) {
            Some(said) => {
                said.src = said.src.union(one.src);
                said.dst = said.dst.union(one.dst);
            }
            None => kept.push(one),
        }
    }
    kept
}

/// The same dependencies, ordered by resource and range, of which no two on the same access, or with
/// the same source, meet in a range.
pub(super) fn cut(mut plain: Vec<Plain>) -> Vec<Plain> {
    if plain.len() < 2 {
        return plain;
    }
    plain.sort_by_key(|plain| plain.reason.resource);
    let mut parts = Vec::with_capacity(plain.len());
    let same = |one: &Plain, other: &Plain| one.reason.resource == other.reason.resource;
    for of_resource in plain.chunk_by(same) {
        cut_resource(of_resource, &mut parts);
    }
    parts
}

/// Cuts what is said of one resource.
fn cut_resource(plain: &[Plain], parts: &mut Vec<Plain>) {
    let ends = |plain: &Plain| [plain.interval.start, plain.interval.end];
    let mut cuts: Vec<u64> = plain.iter().flat_map(ends).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut cells: Vec<Vec<Plain>> = vec![Vec::new(); cuts.len()];
    for one in plain {
        let first = cuts.partition_point(|cut| *cut < one.interval.start);
        let last = cuts.partition_point(|cut| *cut < one.interval.end);
        for cell in first..last {
            let says_all =
                |one: &Plain, other: &Plain| one.src.covers(other.src) && one.dst.covers(other.dst);
            let is_same = |said: &Plain| said.src == one.src || said.mark == one.mark;
            let joins =
                |said: &&mut Plain| is_same(said) || says_all(said, one) || says_all(one, said);
            match cells[cell].iter_mut().find(joins) {
                Some(said) if is_same(said) => {
                    // Later passes may rest on either source: both are remembered as issued.
                    said.src = said.src.union(one.src);
                    said.dst = said.dst.union(one.dst);
                }
                Some(said) if says_all(said, one) => {}
                Some(said) => (said.src, said.dst) = (one.src, one.dst),
                None => cells[cell].push(Plain {
                    interval: cuts[cell]..cuts[cell + 1],
                    ..one.clone()
                }),
            }
        }
    }
    parts.extend(cells.into_iter().flatten());
}

#[cfg(test)]
mod tests;
