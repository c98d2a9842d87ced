use super::*;

fn problem_of(
    mode: CompositeAlphaMode,
    transparent: bool,
    supported: Flags,
    used: Flags,
) -> String {
    let window = Window {
        title: "glass".to_owned(),
        composite_alpha_mode: mode,
        transparent,
        ..Window::default()
    };
    let chosen = CompositeAlpha {
        mode: used,
        supported,
    };
    problem(&window, chosen).unwrap_or_default()
}

#[test]
fn lacking_mode_is_named_with_those_that_the_surface_has() {
    let supported = Flags::OPAQUE | Flags::PRE_MULTIPLIED;
    let reported = problem_of(
        CompositeAlphaMode::PostMultiplied,
        true,
        supported,
        Flags::OPAQUE,
    );
    for part in [
        "`glass`",
        "PostMultiplied",
        "Opaque is used",
        "(Opaque, PreMultiplied)",
    ] {
        assert!(reported.contains(part), "no {part} in {reported}");
    }
}

#[test]
fn opaque_transparent_window_reports_available_mode() {
    let both = Flags::OPAQUE | Flags::PRE_MULTIPLIED;
    let reported = problem_of(CompositeAlphaMode::Auto, true, both, Flags::OPAQUE);
    assert!(
        reported.contains("`glass`") && reported.ends_with("to PreMultiplied"),
        "{reported}"
    );
    let reported = problem_of(CompositeAlphaMode::Auto, true, Flags::OPAQUE, Flags::OPAQUE);
    assert!(reported.contains("always opaque"), "{reported}");
}

#[test]
fn modes_that_the_surface_has_need_no_words() {
    let (opaque, pre) = (Flags::OPAQUE, Flags::PRE_MULTIPLIED);
    for (mode, transparent, used) in [
        (CompositeAlphaMode::Auto, false, opaque),
        (CompositeAlphaMode::Opaque, true, opaque),
        (CompositeAlphaMode::PreMultiplied, true, pre),
        (CompositeAlphaMode::PreMultiplied, false, pre),
        (CompositeAlphaMode::Auto, true, Flags::INHERIT),
    ] {
        assert_eq!(
            problem_of(mode, transparent, opaque | pre | Flags::INHERIT, used),
            ""
        );
    }
}
