use super::*;

const ENTRY: &str = "VUID-x | 1.4.363 | 2027-03-01 | a bug of the layer";

fn version(text: &str) -> Version {
    Version::parse(text).expect("a version")
}

#[test]
fn the_list_is_well_formed() {
    assert!(parse(LIST).is_ok(), "{:?}", parse(LIST));
}

#[test]
fn an_entry_has_four_fields() {
    let entries = parse(&format!("# head\n\n{ENTRY}\n")).expect("it is well formed");
    assert_eq!(entries[0].name, "VUID-x");
    for bad in [
        "VUID-x | 1.4.363 | 2027-03-01",
        "VUID-x | new | 2027-03-01 | why",
        "VUID-x | 1.4.363 | soon | why",
        "VUID-x | 1.4.363 | 2027-03-01 | ",
        "SYNC-HAZARD-WRITE-AFTER-WRITE | 1.4.363 | 2027-03-01 | why",
    ] {
        let error = parse(&format!("# head\n{bad}\n")).expect_err("it is malformed");
        assert!(
            format!("{error:#}").contains("allowed_messages.txt:2"),
            "{error:#}"
        );
    }
}

#[test]
fn an_entry_ends_on_its_day_and_with_its_layer() {
    let entries = parse(ENTRY).expect("it is well formed");
    let (layer, newer) = (version("1.4.363"), version("1.4.364"));
    assert!(judge(&entries, layer, [2027, 3, 1]).is_ok(), "its last day");
    assert!(
        judge(&entries, layer, [2027, 3, 2]).is_err(),
        "the day after"
    );
    assert!(
        judge(&entries, newer, [2027, 1, 1]).is_err(),
        "another layer"
    );
}

#[test]
fn days_are_dates() {
    assert_eq!(date(0), [1970, 1, 1]);
    assert_eq!(date(59), [1970, 3, 1]);
    assert_eq!(date(11_016), [2000, 2, 29]);
    assert_eq!(date(20_778), [2026, 11, 21]);
}
