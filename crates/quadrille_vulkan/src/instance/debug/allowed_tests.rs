use super::*;

#[test]
fn comments_and_empty_lines_are_no_entries() {
    let list = "# VUID-not | 1 | 2 | 3\n\n  VUID-yes | 1.4.363 | 2027-01-01 | why\n";
    assert_eq!(names(list).collect::<Vec<_>>(), ["VUID-yes"]);
}

#[test]
fn hazards_are_never_allowed() {
    assert!(
        names(LIST).all(|name| !name.starts_with("SYNC-HAZARD")),
        "they are what we look for"
    );
    assert!(
        !is_allowed("SYNC-HAZARD-WRITE-AFTER-WRITE"),
        "not on the list"
    );
    assert!(!is_allowed(""), "a message without a name counts");
}
