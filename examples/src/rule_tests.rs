use super::*;

#[test]
fn reads_every_notation_of_conways_rule() {
    for text in [
        "B3/S23",
        "b3/s23",
        "S23/B3",
        "s32/b3",
        "B3S23",
        "S23B3",
        "23/3",
        " B3 / S23 ",
        "32/3",
        "B33/S23",
    ] {
        assert_eq!(text.parse(), Ok(Rule::CONWAY), "{text}");
    }
}

#[test]
fn writes_the_modern_notation() {
    for text in [
        "B3/S23",
        "B36/S23",
        "B2/S",
        "B/S012345678",
        "B3678/S34678",
        "B0/S8",
        "B/S",
    ] {
        assert_eq!(text.parse::<Rule>().unwrap().to_string(), text);
    }
    assert_eq!("23/36".parse(), Ok(Rule::HIGH_LIFE));
    assert_eq!("/2".parse::<Rule>().unwrap().to_string(), "B2/S");
}

#[test]
fn rule_errors_are_reported() {
    let message = |text: &str| text.parse::<Rule>().unwrap_err().to_string();
    let suffix = "; a rule is such as B3/S23 (birth, survival)";
    for text in ["", "Life", "B3", "B3/23", "B3/B3", "3", "B/", "R5,C0,M1"] {
        let problem = "is not a half for birth and a half for survival";
        assert_eq!(
            message(text),
            format!("the rule {text:?} {problem}{suffix}")
        );
    }
    for (text, found) in [
        ("B9/S23", '9'),
        ("B3/S23/C4", '/'),
        ("23/3/4", '/'),
        ("B2-a/S12", '-'),
        ("B3/S23V", 'V'),
        ("B3/S23:T9,9", ':'),
        ("B\u{e9}/S", '\u{e9}'),
    ] {
        let problem = format!("has {found:?} where a count of neighbours from 0 to 8 belongs");
        assert_eq!(
            message(text),
            format!("the rule {text:?} {problem}{suffix}")
        );
    }
}

#[test]
fn applies_its_masks() {
    let born = |n| Rule::CONWAY.lives(false, n);
    let survives = |n| Rule::CONWAY.lives(true, n);
    assert!((0..=8).all(|n| born(n) == (n == 3)));
    assert!((0..=8).all(|n| survives(n) == (n == 2 || n == 3)));
}
