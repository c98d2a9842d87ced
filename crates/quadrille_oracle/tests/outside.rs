//! Resources that come from outside of the device and go back there: `VK_QUEUE_FAMILY_EXTERNAL` and
//! `VK_QUEUE_FAMILY_FOREIGN_EXT`.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

use quadrille_oracle::Judge;
use quadrille_sync::flags::Layout;
use quadrille_sync::plan::{Plan, Step};
use quadrille_sync::resource::{Resource, ResourceId};
use quadrille_sync::solve::plan;
use quadrille_sync::states::States;
use quadrille_sync::text::{parse_frame, parse_plan, parse_topology};
use quadrille_sync::topology::{FamilyIndex, Topology};

const FRAME: &str = "
image camera 0 aspects COLOR mips 1 layers 1
image screen 1 aspects COLOR mips 1 layers 1
give camera to FOREIGN layout General
pass sharpen requires COMPUTE async
  StorageReadWriteCompute camera
pass draw requires GRAPHICS
  SampledFragment camera
  ColorAttachmentWrite screen discard
  after sharpen
";

/// The plan of the frame for an image that a camera has filled, and what the judge says.
fn planned(topology: &Topology, layout: Layout) -> (Plan, Vec<String>) {
    let frame = parse_frame(FRAME).unwrap();
    let (mut states, mut judge) = (States::default(), Judge::new(topology));
    let camera = Resource::image(ResourceId(0), "camera");
    let mut plans = Vec::new();
    let mut violations = Vec::new();
    // The image comes and goes: what one frame leaves behind is no matter to the next.
    for _ in 0..3 {
        states.import(ResourceId(0), layout, Some(FamilyIndex::FOREIGN));
        judge.import(&camera, layout, Some(FamilyIndex::FOREIGN));
        let plan = plan(&frame, topology, &states).unwrap();
        violations.extend(judge.frame(&frame, &plan));
        states.commit(&frame, topology, &plan);
        plans.push(plan);
    }
    let violations = violations.iter().map(ToString::to_string).collect();
    (plans.remove(0), violations)
}

#[test]
fn it_is_acquired_before_its_first_use_and_released_after_its_last() {
    for text in [
        "gct:1",
        "gct:2",
        "gct:1,ct:1",
        "gct:1,ct:1 precise maintenance8",
    ] {
        let topology = parse_topology(text).unwrap();
        for layout in [Layout::General, Layout::ShaderReadOnlyOptimal] {
            let (plan, violations) = planned(&topology, layout);
            assert!(violations.is_empty(), "{text} {layout:?}: {violations:#?}");
            let frame = parse_frame(FRAME).unwrap();
            let words = plan.display(&frame, &topology).to_string();
            assert_eq!(words.matches("acquire FOREIGN -> ").count(), 1, "{words}");
            assert_eq!(words.matches("-> FOREIGN\n").count(), 1, "{words}");
            let again = parse_plan(&words, &frame).unwrap();
            assert_eq!(again.display(&frame, &topology).to_string(), words);
        }
    }
}

#[test]
fn the_judge_misses_either_half() {
    let topology = parse_topology("gct:1").unwrap();
    let frame = parse_frame(FRAME).unwrap();
    let (plan, _) = planned(&topology, Layout::General);
    let words = plan.display(&frame, &topology).to_string();
    for half in ["acquire FOREIGN", "-> FOREIGN"] {
        let mut lines: Vec<&str> = words.lines().collect();
        let at = lines.iter().position(|line| line.contains(half)).unwrap();
        // The barrier and its reason.
        lines.drain(at..at + 2);
        let weaker = parse_plan(&lines.join("\n"), &frame).unwrap();
        let mut judge = Judge::new(&topology);
        let camera = Resource::image(ResourceId(0), "camera");
        judge.import(&camera, Layout::General, Some(FamilyIndex::FOREIGN));
        let violations = judge.frame(&frame, &weaker);
        assert!(
            !violations.is_empty(),
            "{half} is missing, and nobody says so"
        );
    }
}

#[test]
fn given_resource_must_be_imported_again() {
    let topology = parse_topology("gct:1").unwrap();
    let frame = parse_frame(FRAME).unwrap();
    let mut states = States::default();
    states.import(ResourceId(0), Layout::General, Some(FamilyIndex::FOREIGN));
    let first = plan(&frame, &topology, &states).unwrap();
    states.commit(&frame, &topology, &first);
    let errors = plan(&frame, &topology, &states).unwrap_err().to_string();
    let expected = "Resource `camera` has been given to FOREIGN, outside of the device. Import it \
                    again when it is back, before a frame uses it.";
    assert!(errors.contains(expected), "{errors}");
}

#[test]
fn concurrent_resources_cannot_leave() {
    let text = FRAME.replace(
        "layers 1\nimage screen",
        "layers 1 concurrent\nimage screen",
    );
    let frame = parse_frame(&text).unwrap();
    let topology = parse_topology("gct:1").unwrap();
    let errors = plan(&frame, &topology, &States::default()).unwrap_err();
    let expected = "Resource `camera` is concurrent and leaves the device";
    assert!(errors.to_string().contains(expected), "{errors}");
}

/// The violations of one frame in which an image arrives from outside.
fn violations(topology: &str, frame: &str, arrives: Layout) -> Vec<String> {
    let topology = parse_topology(topology).unwrap();
    let frame = parse_frame(frame).unwrap();
    let (mut states, mut judge) = (States::default(), Judge::new(&topology));
    let image = &frame.resources[0];
    states.import(image.id, arrives, Some(FamilyIndex::EXTERNAL));
    judge.import(image, arrives, Some(FamilyIndex::EXTERNAL));
    let plan = plan(&frame, &topology, &states).unwrap();
    let violations = judge.frame(&frame, &plan);
    violations.iter().map(ToString::to_string).collect()
}

/// Two barrier calls stand before `use`: the image is acquired, and then put into its layout. What
/// later passes need goes into the second; neither says what the two of them say together.
#[test]
fn two_calls_before_one_pass_are_two() {
    let frame = "
image camera 0 aspects COLOR mips 1 layers 1
buffer filled 1 bytes 64
buffer data 2 bytes 64
buffer kept 3 bytes 64
pass fill requires COMPUTE
  StorageWriteCompute filled
pass write requires TRANSFER
  TransferWrite data
  CopyWrite kept
pass use requires TRANSFER
  TransferWrite filled
  CopyRead camera
  after fill
  after write
pass read requires COMPUTE
  StorageReadCompute data
pass again requires TRANSFER
  TransferWrite kept
  after write
  after use
";
    assert!(violations("gct:1 maintenance8", frame, Layout::General).is_empty());
}

#[test]
fn host_reads_resources_acquired_by_a_family() {
    let frame = "
image camera 0 aspects COLOR mips 1 layers 2
pass look host
  HostRead camera aspects COLOR mips 0..1 layers 0..1
pass draw requires GRAPHICS
  SampledFragment camera
  after look
";
    for topology in ["gct:1", "ct:1,gct:1", "gct:1,ct:1 precise maintenance8"] {
        for layout in [Layout::General, Layout::ShaderReadOnlyOptimal] {
            let found = violations(topology, frame, layout);
            assert!(found.is_empty(), "{topology} {layout:?}: {found:?}");
        }
    }
}

#[test]
fn unused_import_is_given_on() {
    let frame = "
image camera 0 aspects COLOR mips 1 layers 1
give camera to FOREIGN layout General
";
    for topology in ["gct:1", "gct:1,ct:1", "gct:1,ct:1 precise maintenance8"] {
        let found = violations(topology, frame, Layout::ShaderReadOnlyOptimal);
        assert!(found.is_empty(), "{topology}: {found:?}");
    }
}

#[test]
fn give_follows_the_last_host_write() {
    let frame = "
buffer camera 0 bytes 64
give camera to FOREIGN layout Undefined
pass fill requires COMPUTE async
  StorageWriteCompute camera
pass patch host
  HostWrite camera bytes 0..16
  after fill
";
    for topology in ["gct:1", "gct:1,ct:1", "gct:1,ct:1 precise maintenance8"] {
        let found = violations(topology, frame, Layout::Undefined);
        assert!(found.is_empty(), "{topology}: {found:?}");
    }
}

/// The owner outside of the device waits for a value, and signals one.
const TURNS: &str = "
image camera 0 aspects COLOR mips 1 layers 1
timeline turns base 0
give camera to EXTERNAL layout General
pass before requires COMPUTE
pass sharpen requires COMPUTE
  StorageReadWriteCompute camera
  wait turns value 1
  signal turns value 2
pass later requires COMPUTE
";

#[test]
fn acquire_before_the_wait_and_release_after_the_signal_are_violations() {
    let topology = parse_topology("gct:1").unwrap();
    let frame = parse_frame(TURNS).unwrap();
    let camera = &frame.resources[0];
    let owner = Some(FamilyIndex::EXTERNAL);
    let mut states = States::default();
    states.import(camera.id, Layout::General, owner);
    let plan = plan(&frame, &topology, &states).unwrap();
    let judged = |plan: &Plan| -> Vec<String> {
        let mut judge = Judge::new(&topology);
        judge.import(camera, Layout::General, owner);
        let violations = judge.frame(&frame, plan);
        violations.iter().map(ToString::to_string).collect()
    };
    assert_eq!(judged(&plan), Vec::<String>::new());
    let place = |name: &str| {
        let runs =
            |step: &Step| matches!(step, Step::Pass(pass) if *frame.pass(*pass).name == *name);
        let mut all = plan.submissions.iter();
        all.position(|submission| submission.steps.iter().any(runs))
            .unwrap()
    };
    let [before, sharpen, later] = ["before", "sharpen", "later"].map(place);
    assert!(before < sharpen && sharpen < later, "each has a submission");

    let mut early = plan.clone();
    let acquire = early.submissions[sharpen].steps.remove(0);
    early.submissions[before].steps.push(acquire);
    let said = judged(&early).join("\n");
    assert!(
        said.contains("what it waits for is acquired before"),
        "{said}"
    );

    let mut late = plan.clone();
    let release = late.submissions[sharpen].steps.pop().unwrap();
    late.submissions[later].steps.insert(0, release);
    let said = judged(&late).join("\n");
    assert!(
        said.contains("what it signals for is released after that"),
        "{said}"
    );
}
