use super::*;

fn read(text: &str) -> Result<Pattern, RleError> {
    parse("p.rle", text.as_bytes())
}

/// The pattern as rows of `.` and `o`.
fn picture(text: &str) -> String {
    let pattern = read(text).unwrap();
    let (width, height) = (
        pattern.size.width() as usize,
        pattern.size.height() as usize,
    );
    let mut rows = vec![vec!['.'; width]; height];
    for run in &pattern.runs {
        let start = run.x as usize;
        rows[run.y as usize][start..start + run.length as usize].fill('o');
    }
    rows.into_iter()
        .map(String::from_iter)
        .collect::<Vec<_>>()
        .join("/")
}

fn message(text: &str) -> String {
    let message = read(text).unwrap_err().to_string();
    assert!(
        !message.contains(char::is_control),
        "{message:?} is not one plain line"
    );
    message
}

#[test]
fn reads_cells() {
    let glider = ".o./..o/ooo";
    assert_eq!(picture("x = 3, y = 3, rule = B3/S23\nbob$2bo$3o!"), glider);
    assert_eq!(picture("x=3,y=3\nbo$bbo$ooo!"), glider);
    assert_eq!(
        picture("X = 3 , Y = 3 , RULE = b3/s23\r\nBOB$2B\r\nO$3O!\r\n"),
        glider
    );
    assert_eq!(
        picture("\u{feff}y = 3, x = 3\n\n b o b $ 2\n b o $ 3\no ! trailing words 7@"),
        glider
    );
    assert_eq!(picture("x = 2, y = 4\n2$2o!"), "../../oo/..");
    assert_eq!(picture("x = 12, y = 1\n12o!"), "oooooooooooo");
    assert_eq!(
        picture("x = 1, y = 1\n5b3$!"),
        ".",
        "dead cells may lie outside"
    );
}

#[test]
fn header_and_comment_lines_are_read() {
    let pattern = parse(
        "p.rle",
        b"#N  Some name \n#O Ren\xe9, 1971\n#C first\n#c second\n#P 1 2\n#\n##x\n#CXRLE Pos=1,2\n\
          x = 1, y = 1\no$\n#C between\n!",
    )
    .unwrap();
    assert_eq!(pattern.name.as_deref(), Some("Some name"));
    assert_eq!(pattern.author.as_deref(), Some("Ren\u{fffd}, 1971"));
    assert_eq!(
        pattern.comments,
        ["first", "second", "XRLE Pos=1,2", "between"]
    );
    assert_eq!(pattern.rule, None);
}

#[test]
fn reads_the_rule() {
    let rule = |text: &str| read(text).unwrap().rule.map(|rule| rule.to_string());
    assert_eq!(
        rule("x = 1, y = 1, rule = B36/S23\no!").as_deref(),
        Some("B36/S23")
    );
    assert_eq!(
        rule("x = 1, y = 1, rule = 23/36\no!").as_deref(),
        Some("B36/S23")
    );
    assert_eq!(
        rule("#r 23/36\nx = 1, y = 1\no!").as_deref(),
        Some("B36/S23")
    );
    assert_eq!(
        rule("#r 23/36\nx = 1, y = 1, rule = B3/S23\no!").as_deref(),
        Some("B3/S23")
    );
    assert_eq!(rule("x = 1, y = 1\no!"), None);
}

#[test]
fn header_errors_are_reported() {
    let header = "expected a header such as x = 3, y = 3, rule = B3/S23";
    let side = "expected a number of cells from 1 to 8192";
    for (text, expected) in [
        (
            "",
            format!("p.rle:1:1: found the end of the file, {header}"),
        ),
        (
            "#N only\n",
            format!("p.rle:2:1: found the end of the file, {header}"),
        ),
        (
            "bob$2bo$3o!",
            format!("p.rle:1:1: found \"bob$2bo$3o!\", {header}"),
        ),
        (
            "\n x = 3\no!",
            format!("p.rle:2:1: found no y = HEIGHT, {header}"),
        ),
        (
            "y = 3\no!",
            format!("p.rle:1:1: found no x = WIDTH, {header}"),
        ),
        (
            "x = 3, y = 3, z = 3\no!",
            format!("p.rle:1:15: found \"z = 3\", {header}"),
        ),
        (
            "x = 3, y = 3 rule B3/S23\n",
            format!("p.rle:1:12: found \"3 rule B3/S23\", {side}"),
        ),
        ("x = 0, y = 3\n", format!("p.rle:1:5: found \"0\", {side}")),
        (
            "x = 8193, y = 3\n",
            format!("p.rle:1:5: found \"8193\", {side}"),
        ),
        (
            "x = 3, y = 99999999999999\n",
            format!("p.rle:1:12: found \"99999999999999\", {side}"),
        ),
        (
            "x = +3, y = 3\n",
            format!("p.rle:1:5: found \"+3\", {side}"),
        ),
        ("x = , y = 3\n", format!("p.rle:1:5: found \"\", {side}")),
    ] {
        assert_eq!(message(text), expected, "{text:?}");
    }
    assert_eq!(
        message("#C one\nx = 3, y = 3, rule = B9/S23\n"),
        "p.rle:2:22: found \"B9/S23\", expected a rule such as B3/S23; \
         this one has '9' where a count of neighbours from 0 to 8 belongs"
    );
    assert_eq!(
        message("#r Life\nx = 3, y = 3\n"),
        "p.rle:1:4: found \"Life\", expected a rule such as B3/S23; \
         this one is not a half for birth and a half for survival"
    );
    let error = parse("p.rle", b"x = 3\xff, y = 3\n")
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        format!("p.rle:1:6: found bytes that are not text, {header}")
    );
}

#[test]
fn cell_errors_are_reported() {
    let tag = "expected b, o, $, ! or a number";
    let number = "expected a number from 1 to 8192";
    for (body, expected) in [
        (
            "bob$2bo",
            "p.rle:2:8: found the end of the file, expected ! at the end of the pattern".into(),
        ),
        (
            "bob$\n2xo!",
            format!("p.rle:3:2: found x (a cell of more than two states), {tag}"),
        ),
        (
            "bA!",
            format!("p.rle:2:2: found A (a cell of more than two states), {tag}"),
        ),
        (
            ".!",
            format!("p.rle:2:1: found . (a cell of more than two states), {tag}"),
        ),
        ("bo?!", format!("p.rle:2:3: found '?', {tag}")),
        ("bo\u{e9}!", format!("p.rle:2:3: found '\u{e9}', {tag}")),
        ("bo\u{1b}!", format!("p.rle:2:3: found '\\u{{1b}}', {tag}")),
        ("b0o!", format!("p.rle:2:2: found 0, {number}")),
        ("b8193b!", format!("p.rle:2:2: found 8193, {number}")),
        (
            "99999999999999999999$!",
            format!("p.rle:2:1: found a very large number, {number}"),
        ),
        (
            "3!",
            "p.rle:2:2: found !, expected b, o or $ after a number".into(),
        ),
        (
            "b3o!",
            "p.rle:2:2: found a live cell in column 4 of its row, \
                  expected at most x = 3, as in the header"
                .into(),
        ),
        (
            "3$o!",
            "p.rle:2:3: found a live cell in row 4, \
                  expected at most y = 3, as in the header"
                .into(),
        ),
    ] {
        assert_eq!(
            message(&format!("x = 3, y = 3\n{body}")),
            expected,
            "{body:?}"
        );
    }
    let far = format!("x = 3, y = 3\n{}o!", "8192b".repeat(600_000));
    assert!(message(&far).contains("column 4294967295"));
}

#[test]
fn no_bytes_make_it_panic() {
    // Mostly bytes that mean something here, so that the deeper parts are reached.
    const COMMON: &[u8] = b"bo$!0123456789xy=,rule BS/#NCr\n\r \xff\xc3\xa9zA.";
    let mut state = 0x2545_f491_u32;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as usize
    };
    let heads: [&[u8]; 4] = [b"", b"x = 9, y = 9\n", b"x = 9, y = 9, rule = ", b"#"];
    for _ in 0..20_000 {
        let mut bytes = heads[random() % heads.len()].to_vec();
        for _ in 0..random() % 60 {
            bytes.push(match random() % 8 {
                0 => random() as u8,
                _ => COMMON[random() % COMMON.len()],
            });
        }
        match parse("p.rle", &bytes) {
            Ok(pattern) => {
                for run in &pattern.runs {
                    assert!(
                        run.x + run.length <= pattern.size.width() && run.y < pattern.size.height()
                    );
                }
            }
            Err(error) => assert!(!error.to_string().contains(char::is_control), "{bytes:?}"),
        }
    }
}
