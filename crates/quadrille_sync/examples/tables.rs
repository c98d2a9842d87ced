//! Costs of tables in planning, without the recording of commands.
//!
//! A frame of 100 passes, half of which prefer a queue beside the main one, in which each pass declares a
//! table: first with settled members and with none, frame after frame; then with members that are
//! uploaded in each frame, beside as many images that each pass declares itself.
//!
//! `cargo xtask bench` builds this in release mode, runs it, and names the machine.

#![expect(
    clippy::print_stdout,
    reason = "a program that measures speaks through its terminal"
)]

use std::error::Error;
use std::time::Instant;

use quadrille_sync::access::Access;
use quadrille_sync::flags::Layout;
use quadrille_sync::frame::{Frame, PassIndex, Preference, QueueRequest, Use};
use quadrille_sync::planner::Planner;
use quadrille_sync::resource::{Resource, ResourceId, ResourceIndex, Sharing};
use quadrille_sync::states::States;
use quadrille_sync::table::{NonTableUse, TableMembers, TableReaders};
use quadrille_sync::text::parse_topology;
use quadrille_sync::topology::{Capabilities, Topology};

/// The passes that read the table.
const PASSES: usize = 100;

/// Members that are there all the time.
const SETTLED: u32 = 100_000;

/// Members that are written in a frame.
const WRITTEN: [u32; 2] = [10, 100];

/// Images that are written in turn.
const TURNS: u32 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let topology = parse_topology("gct:1,ct:1,t:1")?;
    println!("| frame of {PASSES} passes that read a table | us a frame |");
    println!("| --- | ---: |");
    for members in [0, SETTLED] {
        let us = settled(&topology, members)?;
        println!("| {members} settled members, repeated | {us:.2} |");
    }
    for written in WRITTEN {
        let by_table = changing(&topology, written, true)?;
        let declared = changing(&topology, written, false)?;
        println!("| {written} members written in each | {by_table:.0} |");
        println!("| {written} images written in each, declared by all passes | {declared:.0} |");
        println!("| ratio | {:.2} |", by_table / declared);
    }
    Ok(())
}

/// Passes that write a buffer each.
fn passes(frame: &mut Frame, members: &[Use]) -> Vec<PassIndex> {
    let pass = |at: usize| {
        let id = ResourceId(SETTLED + 10_000 + at as u32);
        let own = frame.add_resource(Resource::buffer(id, "own", 256));
        let mut uses = vec![Use::whole(own, Access::StorageWriteCompute)];
        uses.extend_from_slice(members);
        let queue = QueueRequest {
            required: Capabilities::COMPUTE,
            preference: match at % 2 {
                0 => Preference::Main,
                _ => Preference::Async,
            },
            fixed: None,
        };
        frame.add_pass("reads", queue, &uses, &[])
    };
    (0..PASSES).map(pass).collect()
}

fn image(id: u32) -> Resource {
    Resource {
        sharing: Sharing::Concurrent,
        ..Resource::image(ResourceId(id), "image")
    }
}

/// The median time of a frame that repeats, in microseconds.
fn settled(topology: &Topology, members: u32) -> Result<f64, Box<dyn Error>> {
    let (mut states, mut planner) = (States::default(), Planner::default());
    let mut table = TableMembers::new(Access::SampledAny);
    for id in 0..members {
        states.import(ResourceId(id), Layout::ShaderReadOnlyOptimal, None);
        table.add_entry(ResourceId(id));
    }
    let mut frame = Frame::default();
    let readers = passes(&mut frame, &[]);
    table.open(NonTableUse::of(&frame), topology, &mut states);
    let mut times = Vec::new();
    let mut found = TableReaders::default();
    for at in 0..2000 {
        let begun = Instant::now();
        let again = if at > 8 && table.is_unchanged() {
            planner.plan_again(topology, &states)
        } else {
            None
        };
        let planned = match again {
            Some(planned) => planned,
            None => {
                let planned = planner.plan(&frame, topology, &states)?;
                found = TableReaders::of(&readers, &frame, &planned.plan);
                planned
            }
        };
        assert!(
            table.covers(&found, topology, &mut states),
            "all is settled"
        );
        table.note_reads(&found, topology, &states);
        states.commit(&frame, topology, &planned.plan);
        table.settle(topology, &states);
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    Ok(median(times))
}

/// The median time of a frame in which images are uploaded, in microseconds: members of a table, or
/// declared by each pass.
fn changing(topology: &Topology, written: u32, by_table: bool) -> Result<f64, Box<dyn Error>> {
    let (mut states, mut planner) = (States::default(), Planner::default());
    let mut table = TableMembers::new(Access::SampledAny);
    for id in 0..written * TURNS {
        states.import(ResourceId(id), Layout::ShaderReadOnlyOptimal, None);
        if by_table {
            table.add_entry(ResourceId(id));
        }
    }
    let mut times = Vec::new();
    for at in 0..100 {
        let begun = Instant::now();
        let first = at % TURNS * written;
        let mut frame = Frame::default();
        let ids = (first..first + written).map(|id| (id, frame.add_resource(image(id))));
        let mut indices: Vec<(u32, ResourceIndex)> = ids.collect();
        let uploads = |(_, index): &(u32, ResourceIndex)| Use::whole(*index, Access::TransferWrite);
        let uploads: Vec<Use> = indices.iter().map(uploads).collect();
        let queue = QueueRequest {
            required: Capabilities::TRANSFER,
            preference: Preference::Async,
            fixed: None,
        };
        frame.add_pass("upload", queue, &uploads, &[]);
        let reads = |index: ResourceIndex| Use::whole(index, Access::SampledAny);
        if by_table {
            table.open(NonTableUse::of(&frame), topology, &mut states);
            let listed: Vec<ResourceId> = table.listed().collect();
            for id in listed {
                if !indices.iter().any(|(known, _)| *known == id.0) {
                    indices.push((id.0, frame.add_resource(image(id.0))));
                }
            }
        }
        let members: Vec<Use> = indices.iter().map(|(_, index)| reads(*index)).collect();
        let readers = passes(&mut frame, &members);
        let planned = planner.plan(&frame, topology, &states)?;
        let found = TableReaders::of(&readers, &frame, &planned.plan);
        assert!(
            !by_table || table.covers(&found, topology, &mut states) || at == 0,
            "what is not declared is settled"
        );
        table.note_reads(&found, topology, &states);
        states.commit(&frame, topology, &planned.plan);
        table.settle(topology, &states);
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    Ok(median(times))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
