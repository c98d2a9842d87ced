use super::*;
use crate::frame::Frame;
use crate::resource::{Resource, ResourceId};
use crate::rounds::rounds;
use crate::solve::plan;
use crate::states::States;

const FRAME: &str = include_str!("../../cases/screenshot_copy.txt");

/// The first frame of the case.
fn frame_text() -> &'static str {
    FRAME
        .split("=== ")
        .nth(1)
        .and_then(|text| text.split_once('\n'))
        .map_or("", |(_, text)| text)
}

#[test]
fn topologies_survive_their_text() {
    for text in [
        "gct:1",
        "gct:1,ct:2,t:1",
        "gctn:1,ctp:1",
        "gcts:16,cts:8,ts:2,d:1,e:1,o:1",
        "gct@3:1,t@0:1",
        "gct:1,ct:1 precise coalesced maintenance8",
    ] {
        assert_eq!(parse_topology(text).unwrap().to_string(), text);
    }
}

#[test]
fn transfer_goes_without_saying() {
    for (text, meant) in [
        ("gc:1,g:1", "gct:1,gt:1"),
        ("gct:1,c:2,e:1", "gct:1,ct:2,e:1"),
    ] {
        assert_eq!(parse_topology(text).unwrap().to_string(), meant);
    }
}

#[test]
fn topology_errors_name_the_expected_token() {
    for (text, error) in [
        (
            "",
            "Line 1, column 1: expected a family such as gct:1, found the end.",
        ),
        (
            "gct",
            "Line 1, column 1: expected a family such as gct:1, found `gct`.",
        ),
        (
            "gct:1,xt:1",
            "Line 1, column 7: expected one of the letters gctsdeo, p or n, found `xt:1`.",
        ),
        (
            "gct:many",
            "Line 1, column 5: expected a number of queues, found `many`.",
        ),
        (
            "gct:33",
            "Line 1, column 1: expected at most 32 queues in all, found `gct:33`.",
        ),
        (
            "gct@x:1",
            "Line 1, column 5: expected the number of a family, found `x:1`.",
        ),
        (
            "gct@4294967294:1",
            "Line 1, column 5: expected the number of a family, found `4294967294:1`.",
        ),
        (
            "gct:1 fast",
            "Line 1, column 7: expected precise, coalesced, declared or maintenance8, found `fast`.",
        ),
    ] {
        assert_eq!(parse_topology(text).unwrap_err().to_string(), error);
    }
}

#[test]
fn items_with_equal_names_are_distinguished() {
    let mut frame = Frame::default();
    let write = |id: u32| {
        let resource = crate::resource::ResourceIndex(id);
        crate::frame::Use::whole(resource, crate::access::Access::CopyWrite)
    };
    for (id, name) in (0..).zip(["opaque_3d", "opaque_3d", "two words", "two words"]) {
        frame.add_resource(Resource::buffer(ResourceId(id), name, 1));
        frame.add_pass(name, Default::default(), &[write(id)], &[]);
    }
    let topology = parse_topology("gct:1").unwrap();
    let plan = plan(&frame, &topology, &States::default()).unwrap();
    let text = plan.display(&frame, &topology).to_string();
    for called in [
        "#0(opaque_3d)",
        "#1(opaque_3d)",
        "#2(two_words)",
        "#3(two_words)",
    ] {
        assert!(text.contains(called), "{called}: {text}");
    }
    let mut again = parse_plan(&text, &frame).unwrap();
    again.end = plan.end.clone();
    assert_eq!(again, plan);
}

#[test]
fn odd_names_survive() {
    let mut frame = Frame::default();
    for (id, name) in [
        "",
        "two words",
        "\"",
        "\\\n",
        "#1",
        "after",
        "same",
        "same",
        "größe",
    ]
    .into_iter()
    .enumerate()
    {
        frame.add_resource(Resource::buffer(ResourceId(id as u32), name, 1));
        let resource = crate::resource::ResourceIndex(id as u32);
        let one = crate::frame::Use::whole(resource, crate::access::Access::CopyWrite);
        frame.add_pass(name, Default::default(), &[one], &[]);
    }
    assert_eq!(parse_frame(&frame.to_string()).as_ref(), Ok(&frame));
    let topology = parse_topology("gct:1").unwrap();
    let plan = plan(&frame, &topology, &States::default()).unwrap();
    let text = plan.display(&frame, &topology).to_string();
    let mut again = parse_plan(&text, &frame).unwrap();
    again.end = plan.end.clone();
    assert_eq!(again, plan);
}

#[test]
fn frame_errors_name_the_expected_token() {
    let buffer = "buffer cells 0 bytes 64\npass draw\n";
    for (text, error) in [
        (
            "buffer cells 0 bytes 64 transient block one bytes 0..64",
            "Line 1, column 41: expected the number of a block, found `one`.",
        ),
        (
            "buffer cells 0 bytes 64 transient block 1 0..64",
            "Line 1, column 43: expected `bytes`, found `0..64`.",
        ),
        (
            "buffer cells 0 bytes 64 transient block 1 bytes 64..64",
            "Line 1, column 49: expected bytes such as 0..16, found `64..64`.",
        ),
        (
            "draw",
            "Line 1, column 1: expected buffer, image, pass, timeline, give or cull, found `draw`.",
        ),
        (
            "  after x",
            "Line 1, column 3: expected a pass before its uses, found `after`.",
        ),
        (
            "buffer \"cells",
            "Line 1, column 8: expected a name that ends with a quote, found the end of the line.",
        ),
        (
            "buffer cells 0 bytes 99999999999999999999",
            "Line 1, column 22: expected a number of bytes of at most 64 bits, found \
             `99999999999999999999`.",
        ),
        (
            "image screen 0 aspects COLOR|DEPTH mips 1 layers 1",
            "Line 1, column 24: expected aspects that one format has, such as COLOR or \
             DEPTH|STENCIL, found `COLOR|DEPTH`.",
        ),
        (
            "image screen 0 aspects STENCIL|PLANE_0 mips 1 layers 1",
            "Line 1, column 24: expected aspects that one format has, such as COLOR or \
             DEPTH|STENCIL, found `STENCIL|PLANE_0`.",
        ),
        (
            "image screen 0 aspects COLOUR mips 1 layers 1",
            "Line 1, column 24: expected aspects such as COLOR (perhaps `COLOR`), found `COLOUR`.",
        ),
        (
            "pass draw async quickly",
            "Line 1, column 17: expected `fixed`, `cost`, `side-effect`, `prologue` or the end of the \
             line, found `quickly`.",
        ),
        (
            "bufer cells 0 bytes 64",
            "Line 1, column 1: expected buffer, image, pass, timeline, give or cull (perhaps `buffer`), found \
             `bufer`.",
        ),
        (
            "pass draw requires GRAFICS|COMPUTE",
            "Line 1, column 20: expected capabilities such as COMPUTE (perhaps `GRAPHICS`), found \
             `GRAFICS|COMPUTE`.",
        ),
    ] {
        assert_eq!(parse_frame(text).unwrap_err().to_string(), error);
    }
    for (text, error) in [
        (
            "  Vertexread cells",
            "Line 3, column 3: expected an access or `after` (perhaps `VertexRead`), found \
             `Vertexread`.",
        ),
        (
            "  VertexRead cell",
            "Line 3, column 14: expected a resource (perhaps `cells`), found `cell`.",
        ),
        (
            "  VertexRead cells byte 0..8",
            "Line 3, column 20: expected `bytes`, `aspects`, `discard` or the end of the line, found \
             `byte`.",
        ),
        (
            "  VertexRead cells bytes 8..8",
            "Line 3, column 26: expected bytes such as 0..16, found `8..8`.",
        ),
        (
            "  VertexRead",
            "Line 3, column 13: expected a resource, found the end of the line.",
        ),
        (
            "  VertexRead #1",
            "Line 3, column 14: expected a resource, found `#1`.",
        ),
    ] {
        assert_eq!(
            parse_frame(&format!("{buffer}{text}"))
                .unwrap_err()
                .to_string(),
            error
        );
    }
}

/// Parsing of an invalid text returns a value or an error.
#[test]
fn damaged_texts_do_not_panic() {
    let frame = parse_frame(frame_text()).unwrap();
    let topology = parse_topology("gct:1").unwrap();
    let text = plan(&frame, &topology, &States::default()).unwrap();
    let text = text.display(&frame, &topology).to_string();
    let mut seed = 1_u64;
    let mut random = |below: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for _ in 0..rounds(3000) {
        for text in [frame_text(), &text, "gct@2:1,ctp:2,t:1 precise"] {
            let mut chars: Vec<char> = text.chars().collect();
            for _ in 0..1 + random(3) {
                let (at, other) = (random(chars.len()), random(chars.len()));
                match random(4) {
                    0 => chars.truncate(at.max(1)),
                    1 => chars[at] = ['"', '\\', '#', '9', ' ', '\n', 'é', '.', '-'][random(9)],
                    2 => chars.swap(at, other),
                    _ => chars.insert(at, chars[other]),
                }
            }
            let damaged: String = chars.into_iter().collect();
            let _ = parse_topology(&damaged);
            let _ = parse_plan(&damaged, &frame);
            if let Ok(frame) = parse_frame(&damaged) {
                // A text that parses can be planned, or planning returns errors.
                match plan(&frame, &topology, &States::default()) {
                    Ok(plan) => drop(plan.display(&frame, &topology).to_string()),
                    Err(errors) => assert!(!errors.to_string().is_empty()),
                }
            }
        }
    }
}
