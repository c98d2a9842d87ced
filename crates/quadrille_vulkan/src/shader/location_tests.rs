use super::{Location, LocationType, ScalarKind};

fn at(scalar: ScalarKind, bits: u32, components: u32) -> Location {
    let ty = LocationType {
        scalar,
        bits,
        components,
    };
    Location {
        location: 3,
        ty: Some(ty),
    }
}

#[test]
fn an_input_has_as_much_or_less_of_the_same() {
    use ScalarKind::{Float, Sint, Uint};
    let wide = at(Float, 32, 4);
    assert!(wide.can_have(&wide) && at(Float, 32, 2).can_have(&wide));
    assert!(!wide.can_have(&at(Float, 32, 2)), "more than there is");
    for other in [at(Sint, 32, 4), at(Uint, 32, 4), at(Float, 16, 4)] {
        assert!(!wide.can_have(&other), "{other}");
    }
    let unknown = Location {
        location: 3,
        ty: None,
    };
    assert!(unknown.can_have(&wide) && wide.can_have(&unknown));
    assert!(wide.can_have_attribute(Float) && !wide.can_have_attribute(Uint));
    assert!(unknown.can_have_attribute(Sint));
}

#[test]
fn locations_are_displayed_as_in_wgsl() {
    assert_eq!(at(ScalarKind::Uint, 32, 1).to_string(), "@location(3) u32");
    let vector = at(ScalarKind::Float, 16, 3);
    assert_eq!(vector.to_string(), "@location(3) vec3<f16>");
}
