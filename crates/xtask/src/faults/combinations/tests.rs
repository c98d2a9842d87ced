use super::Counted;

#[test]
fn the_line_of_the_program_is_read() {
    let output =
        "one\ncounted: shown=38 skipped=1 out_of_date=0 errors=1 most_old=4 old=0 made=7\ntwo";
    let counted = Counted::read(output).unwrap();
    assert_eq!((counted.shown, counted.made), (38, 7), "{counted:?}");
    assert!(Counted::read("nothing").is_err(), "a line is missing");
    assert!(
        Counted::read("counted: shown=1").is_err(),
        "numbers are missing"
    );
}
