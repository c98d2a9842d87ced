use super::*;

#[test]
fn a_script_is_read_in_order() {
    let script = Script::parse(
        "# moves\n 3 press left\n3 pointer 0.5 1\n\n10 tap space # launch\n10 release left\n",
    );
    let script = script.expect("it is well formed");
    let at = |frame| script.at(frame).collect::<Vec<_>>();
    assert_eq!(
        at(3),
        [
            Event::Key(KeyCode::ArrowLeft, true),
            Event::Pointer([0.5, 1.0])
        ]
    );
    assert_eq!(
        at(10),
        [
            Event::Key(KeyCode::Space, true),
            Event::Key(KeyCode::ArrowLeft, false)
        ]
    );
    assert_eq!(at(11), [Event::Key(KeyCode::Space, false)]);
    assert_eq!(at(12), []);
}

#[test]
fn mistakes_name_their_line() {
    let cases = [
        (
            "1 press left\nx press left",
            2,
            "`x` is not the number of a frame",
        ),
        (
            "5 press left\n\n4 release left",
            3,
            "frame 4 comes after frame 5",
        ),
        ("1 press nose", 1, "`nose` is no key; there are left, right"),
        ("1 pointer 0.5 1.5", 1, "`1.5` is not a number from 0 to 1"),
        ("1 pointer 0.5 NaN", 1, "`NaN` is not a number from 0 to 1"),
        ("1 jump", 1, "`jump` is none of: press KEY"),
        ("1", 1, "is none of"),
    ];
    for (text, line, part) in cases {
        let (at, problem) = Script::parse(text).expect_err(text);
        assert_eq!(at, line, "{text}");
        assert!(problem.contains(part), "{text}: {problem}");
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = Script::load(Path::new("no/such/script.txt")).expect_err("there is none");
    assert!(
        error.to_string().starts_with("no/such/script.txt: "),
        "{error}"
    );
}
