use bevy_math::Vec3;

use super::*;

const ROUND: RoundedBox = RoundedBox {
    half_size: Vec2::new(8.0, 4.0),
    radii: [Vec2::splat(2.0), Vec2::ZERO, Vec2::ZERO, Vec2::ZERO],
    coverage: BoxCoverage::Whole,
};

#[test]
fn border_sides_are_packed_as_bits() {
    let coverage = BoxCoverage::Border {
        widths: [1.0, 2.0, 3.0, 4.0],
        sides: [true, false, false, true],
    };
    let round = RoundedBox { coverage, ..ROUND };
    let world = Affine3A::from_translation(Vec3::new(5.0, 6.0, 0.0));
    let corners = [(-8.0, 4.0), (8.0, 4.0), (-8.0, -4.0)].map(Vec2::from);
    let uvs = [Vec2::ZERO, Vec2::X, Vec2::Y];
    let node = round.to_node(&world, corners, uvs, LinearRgba::WHITE);
    assert_eq!(node.flags_and_sigma, [9.0, 0.0]);
    assert_eq!(node.origin_and_half_size, [5.0, 6.0, 8.0, 4.0]);
    let corners = [
        [-8.0, 4.0, 0.0, 0.0],
        [8.0, 4.0, 1.0, 0.0],
        [-8.0, -4.0, 0.0, 1.0],
    ];
    assert_eq!(node.corners_and_uvs, corners);
}

#[test]
fn sides_of_same_color_share_a_border() {
    let (red, blue) = (LinearRgba::RED, LinearRgba::BLUE);
    let borders = |widths, colors| {
        let borders = ROUND.borders(widths, colors);
        let sides = borders.map(|(round, _)| match round.coverage {
            BoxCoverage::Border { sides, .. } => sides,
            other => panic!("{other:?}"),
        });
        sides.collect::<Vec<_>>()
    };
    assert_eq!(borders([1.0; 4], [red; 4]), [[true; 4]]);
    let two = borders([1.0, 0.0, 1.0, 1.0], [red, red, blue, red]);
    assert_eq!(
        two,
        [[true, false, false, true], [false, false, true, false]]
    );
    assert!(borders([0.0; 4], [red; 4]).is_empty());
    assert!(borders([1.0; 4], [LinearRgba::NONE; 4]).is_empty());
}

#[test]
fn inflating_keeps_square_corners() {
    let large = ROUND.inflated(3.0);
    assert_eq!(large.half_size, Vec2::new(11.0, 7.0));
    assert_eq!(large.radii[..2], [Vec2::splat(5.0), Vec2::ZERO]);
    let none = ROUND.inflated(-5.0);
    assert_eq!(
        (none.half_size, none.radii[0]),
        (Vec2::new(3.0, 0.0), Vec2::ZERO)
    );
}

#[test]
fn inset_shrinks_corner_radii() {
    let inset = BorderRect {
        min_inset: Vec2::new(1.0, 0.0),
        max_inset: Vec2::new(3.0, 2.0),
    };
    let whole = RoundedBox {
        radii: [Vec2::splat(2.0); 4],
        ..ROUND
    };
    let (center, inside) = whole.inset(inset);
    assert_eq!(
        (center, inside.half_size),
        (Vec2::new(-1.0, 1.0), Vec2::new(6.0, 3.0))
    );
    // The right corners have no extent along x.
    let left = [Vec2::new(1.0, 2.0), Vec2::ZERO, Vec2::ZERO, Vec2::ZERO];
    assert_eq!(inside.radii, left);
}
