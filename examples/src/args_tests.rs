use super::*;
use crate::Size;

#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
struct Args {
    #[arg(long, value_name = "WxH")]
    size: Option<Size>,
    #[command(flatten)]
    common: CommonArgs,
}

fn read(line: &str) -> Result<Args, End> {
    try_parse(
        ["example"]
            .into_iter()
            .chain(line.split_whitespace())
            .map(OsString::from),
    )
}

fn message(line: &str) -> String {
    match read(line) {
        Err(End::BadInput(message)) => message,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn common_options_are_read() {
    let line = "--headless --frames 7 --size 8x9 --screenshot a.png --report b.json --plan c.txt \
                --dot d.dot --trace e.json --case f.txt --record g";
    let args = read(line).unwrap();
    assert_eq!(args.size, Size::new(8, 9).ok());
    let expected = CommonArgs {
        headless: true,
        frames: Some(7),
        screenshot: Some("a.png".into()),
        report: Some("b.json".into()),
        plan: Some("c.txt".into()),
        dot: Some("d.dot".into()),
        case: Some("f.txt".into()),
        trace: Some("e.json".into()),
        record: Some("g".into()),
    };
    assert_eq!(args.common, expected);
    assert_eq!(read("").unwrap().common, CommonArgs::default());
}

#[test]
fn a_headless_run_always_ends() {
    let limit = |line: &str| read(line).unwrap().common.frame_limit();
    assert_eq!(limit(""), None);
    assert_eq!(limit("--headless"), Some(60));
    assert_eq!(limit("--frames 3"), Some(3));
    assert_eq!(limit("--headless --frames 3"), Some(3));
}

#[test]
fn errors_fit_one_line() {
    assert_eq!(
        message("--size 5"),
        "invalid value '5' for '--size <WxH>': \"5\" is not a size; \
         a size is WIDTHxHEIGHT, such as 640x480; see --help"
    );
    assert_eq!(
        message("--frames 0"),
        "invalid value '0' for '--frames <N>': 0 is not in 1..18446744073709551615; see --help"
    );
    assert_eq!(
        message("--nonsense"),
        "unexpected argument '--nonsense' found; see --help"
    );
    assert!(message("--plan").starts_with("a value is required for '--plan <FILE.txt>'"));
    assert_eq!(one_line("a\n b\r\n\tc\u{1b}[0m"), "a b c [0m");
}

#[test]
fn films_of_other_kinds_are_refused() {
    assert_eq!(
        message("--record film.GIF"),
        "invalid value 'film.GIF' for '--record <FILE.mp4|FOLDER>': films are MP4 files; give a name such as \
         `film.mp4`, or a folder for pictures; see --help"
    );
    if cfg!(feature = "film") {
        let args = read("--record film.MP4").unwrap();
        assert_eq!(args.common.record, Some("film.MP4".into()));
    } else {
        assert!(message("--record film.MP4").contains("films need the feature `film`"));
    }
    let args = read("--record run.1").unwrap();
    assert_eq!(args.common.record, Some("run.1".into()));
}

#[test]
fn help_ends_with_examples() {
    let Err(End::Help(help)) = read("--help") else {
        panic!("no help")
    };
    let help = help.to_string();
    assert!(help.contains("Every example:\n"), "{help}");
    assert!(help.trim_end().ends_with(EXAMPLES), "{help}");
}
