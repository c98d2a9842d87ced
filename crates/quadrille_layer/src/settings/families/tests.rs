use ash::vk::{Extent3D, QueueFamilyProperties, QueueFlags};

use super::{needed_flags, parse, real_family};

#[test]
fn letters_and_counts() {
    let families = parse("gct:1,ct:2,t:1").unwrap();
    let flags: Vec<_> = families
        .iter()
        .map(|family| (family.flags, family.count))
        .collect();
    let (g, c, t) = (
        QueueFlags::GRAPHICS,
        QueueFlags::COMPUTE,
        QueueFlags::TRANSFER,
    );
    assert_eq!(
        flags,
        [(g | c | t, 1), (c | t, 2), (t, 1)],
        "letters map to flags in order"
    );
    assert!(
        families.iter().all(|family| family.present),
        "presenting is the default"
    );
}

#[test]
fn options() {
    let families = parse("gct:1, t:2(granularity=16x16x8,present=no,timestamps=36), d:1").unwrap();
    assert_eq!(
        families.len(),
        3,
        "a comma inside parentheses does not separate families"
    );
    assert_eq!(
        families[1].granularity,
        Some(Extent3D {
            width: 16,
            height: 16,
            depth: 8
        }),
        "set"
    );
    assert!(!families[1].present, "present=no");
    let real = QueueFamilyProperties {
        timestamp_valid_bits: 64,
        ..Default::default()
    };
    assert_eq!(
        families[1].properties(real).timestamp_valid_bits,
        36,
        "the option wins"
    );
    assert_eq!(
        families[0].properties(real).timestamp_valid_bits,
        64,
        "else the real value"
    );
}

#[test]
fn refusals_name_the_token() {
    for (text, token) in [
        ("", "``"),
        ("gct", "`gct`"),
        ("gct:1,", "``"),
        ("gxt:1", "`gxt`"),
        ("ggt:1", "`ggt`"),
        ("gct:0", "`0`"),
        ("gct:65", "`65`"),
        ("t:-1", "`-1`"),
        ("t:1(", "`t:1(`"),
        ("t:1(present=maybe)", "`present=maybe`"),
        ("t:1(granularity=3x1x1)", "`3x1x1`"),
        ("t:1(granularity=1x1)", "`1x1`"),
        ("t:1(timestamps=12)", "`timestamps=12`"),
    ] {
        let line = parse(text).expect_err(text).to_string();
        assert!(line.starts_with(token), "{text:?}: {line}");
        assert!(!line.contains('\n'), "one line: {line}");
    }
}

#[test]
fn real_family_implies_transfer_and_ignores_announced_only_letters() {
    let family = |queue_flags| QueueFamilyProperties {
        queue_flags,
        ..Default::default()
    };
    let real = [
        family(QueueFlags::TRANSFER),
        family(QueueFlags::GRAPHICS | QueueFlags::COMPUTE),
    ];
    let needed = needed_flags(&parse("gct:1,td:1").unwrap());
    assert_eq!(
        real_family(&real, needed),
        Some(1),
        "graphics and compute imply transfer"
    );
    let needed = needed_flags(&parse("gcts:1").unwrap());
    assert_eq!(
        real_family(&real, needed),
        None,
        "sparse binding cannot be made up"
    );
}
