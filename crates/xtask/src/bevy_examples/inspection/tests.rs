use super::*;

#[test]
fn a_verdict_holds_for_the_picture_it_was_given_for() {
    let verdicts =
        "# program checksum verdict\nsprite 00000000000000ff right\nsprite 1 wrong: dark\n";
    let right = Inspection::Verdict("right".to_owned());
    assert_eq!(Inspection::find(verdicts, "sprite", 255), right);
    let wrong = Inspection::Verdict("wrong: dark".to_owned());
    assert_eq!(Inspection::find(verdicts, "sprite", 1), wrong);
    assert_eq!(
        Inspection::find(verdicts, "sprite", 2),
        Inspection::Changed(2)
    );
    assert_eq!(
        Inspection::find(verdicts, "sprite_sheet", 255),
        Inspection::Never(255)
    );
}

#[test]
fn one_pixel_changes_the_checksum() {
    assert_ne!(checksum(&[0, 0, 1]), checksum(&[0, 1, 0]));
    // The published test vector of FNV-1a.
    assert_eq!(checksum(b"a"), 0xaf63_dc4c_8601_ec8c);
}
