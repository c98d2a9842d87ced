use super::*;

const KNOWN: [&str; 4] = ["StorageReadCompute", "SampledCompute", "after", "cells"];

#[test]
fn slips_are_near() {
    assert_eq!(
        closest_match("StorageReadCompure", KNOWN),
        Some("StorageReadCompute")
    );
    assert_eq!(
        closest_match("StorageRadComptue", KNOWN),
        Some("StorageReadCompute")
    );
    assert_eq!(closest_match("cell", KNOWN), Some("cells"));
    assert_eq!(closest_match("atfer", KNOWN), Some("after"));
}

#[test]
fn other_words_are_not() {
    assert_eq!(closest_match("SampledFragment", KNOWN), None);
    assert_eq!(
        closest_match("it", ["at", "is"]),
        None,
        "short words are near to anything"
    );
    assert_eq!(
        closest_match("cells", KNOWN),
        None,
        "what is known needs no guess"
    );
    assert_eq!(closest_match("", KNOWN), None);
}
