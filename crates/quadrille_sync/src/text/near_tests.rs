use super::*;

const KNOWN: [&str; 4] = ["StorageReadCompute", "SampledCompute", "after", "cells"];

#[test]
fn slips_are_near() {
    assert_eq!(
        near("StorageReadCompure", KNOWN),
        Some("StorageReadCompute")
    );
    assert_eq!(near("StorageRadComptue", KNOWN), Some("StorageReadCompute"));
    assert_eq!(near("cell", KNOWN), Some("cells"));
    assert_eq!(near("atfer", KNOWN), Some("after"));
}

#[test]
fn other_words_are_not() {
    assert_eq!(near("SampledFragment", KNOWN), None);
    assert_eq!(
        near("it", ["at", "is"]),
        None,
        "short words are near to anything"
    );
    assert_eq!(near("cells", KNOWN), None, "what is known needs no guess");
    assert_eq!(near("", KNOWN), None);
}
