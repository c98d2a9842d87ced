//! Run length encoded patterns (`.rle`), the format Game of Life programs exchange.
//!
//! ```text
//! #N Glider                       comments: #N name, #O author, #C remark, #r rule; others ignored
//! #C Moves by (1, 1) in 4 generations.
//! x = 3, y = 3, rule = B3/S23     header: the box around the pattern, and its rule
//! bob$2bo$3o!                     cells: b dead, o live, $ end of row, ! end of pattern
//! ```
//!
//! A number before `b`, `o` or `$` repeats it. Rows may end early, lines may be wrapped anywhere,
//! and what follows `!` is ignored. Files come from many programs, so letters of either case, any
//! line ends, blanks and bytes that are not UTF-8 in comments are accepted. What could hide a
//! damaged file is not: the end must be marked, and live cells must lie within the header's box.

use thiserror::Error;

use crate::board::Board;
use crate::pattern::{Pattern, Run};
use crate::rule::{Rule, RuleError};
use crate::size::Size;

/// A malformed pattern file: where, what was found, and what would be right.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{file}:{line}:{column}: found {found}, expected {expected}")]
pub struct RleError {
    /// The file's name, as given.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in bytes.
    pub column: usize,
    /// The text that was found.
    pub found: String,
    /// The expected text, in words.
    pub expected: String,
}

/// A place in the text, both counted from 0.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    line: usize,
    column: usize,
}

impl Place {
    fn fault(self, found: impl Into<String>, expected: impl Into<String>) -> Fault {
        Fault {
            place: self,
            found: found.into(),
            expected: expected.into(),
        }
    }
}

/// An error that does not know its file yet.
struct Fault {
    place: Place,
    found: String,
    expected: String,
}

/// Reads a pattern; `file` is its name in errors.
pub(crate) fn parse(file: &str, bytes: &[u8]) -> Result<Pattern, RleError> {
    parse_lines(bytes).map_err(|fault| RleError {
        file: file.to_owned(),
        line: fault.place.line + 1,
        column: fault.place.column + 1,
        found: fault.found,
        expected: fault.expected,
    })
}

fn parse_lines(bytes: &[u8]) -> Result<Pattern, Fault> {
    // Some editors put a byte order mark before the text.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut comments = Comments::default();
    let mut body: Option<Body> = None;
    let mut end = Place::default();
    for (line, text) in bytes.split(|byte| *byte == b'\n').enumerate() {
        end = Place {
            line,
            column: text.len(),
        };
        match (text.trim_ascii_start(), &mut body) {
            ([], _) => {}
            ([b'#', ..], _) => comments.read(line, text)?,
            (_, None) => body = Some(Body::new(Header::read(line, text)?)),
            (_, Some(body)) => {
                if body.read(line, text)? {
                    return Ok(body.finish(comments));
                }
            }
        }
    }
    let expected = match body {
        None => Header::EXPECTED,
        Some(_) => "! at the end of the pattern",
    };
    Err(end.fault("the end of the file", expected))
}

/// Contents of the `#` lines.
#[derive(Default)]
struct Comments {
    name: Option<String>,
    author: Option<String>,
    remarks: Vec<String>,
    rule: Option<Rule>,
}

impl Comments {
    fn read(&mut self, line: usize, text: &[u8]) -> Result<(), Fault> {
        let text = String::from_utf8_lossy(text);
        let comment = text.trim();
        let (Some(letter), Some(content)) = (comment.chars().nth(1), comment.get(2..)) else {
            return Ok(());
        };
        let content = content.trim();
        match letter {
            'N' => self.name = Some(content.to_owned()),
            'O' => self.author = Some(content.to_owned()),
            'C' | 'c' => self.remarks.push(content.to_owned()),
            'r' => {
                let column = text.trim_end().len() - content.len();
                self.rule = Some(read_rule(Place { line, column }, content)?);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The line `x = 36, y = 9, rule = B3/S23`.
struct Header {
    size: Size,
    rule: Option<Rule>,
}

impl Header {
    const EXPECTED: &str = "a header such as x = 3, y = 3, rule = B3/S23";

    fn read(line: usize, text: &[u8]) -> Result<Self, Fault> {
        let at = |column| Place { line, column };
        let text = str::from_utf8(text).map_err(|error| {
            at(error.valid_up_to()).fault("bytes that are not text", Self::EXPECTED)
        })?;
        let (mut width, mut height, mut rule) = (None, None, None);
        let mut rest = text;
        while !rest.trim().is_empty() {
            let column = text.len() - rest.trim_start().len();
            let Some((key, after_key)) = rest.split_once('=') else {
                return Err(at(column).fault(quote(rest), Self::EXPECTED));
            };
            let key = key.trim().to_ascii_lowercase();
            // The rule comes last: some rules have commas of their own.
            let (value, after) = match key.as_str() {
                "rule" => (after_key, ""),
                _ => after_key.split_once(',').unwrap_or((after_key, "")),
            };
            let place = at(text.len() - after_key.trim_start().len());
            match key.as_str() {
                "x" => width = Some(read_side(place, value.trim())?),
                "y" => height = Some(read_side(place, value.trim())?),
                "rule" => rule = Some(read_rule(place, value.trim())?),
                _ => return Err(at(column).fault(quote(rest), Self::EXPECTED)),
            }
            rest = after;
        }
        let (Some(width), Some(height)) = (width, height) else {
            let missing = if width.is_none() {
                "no x = WIDTH"
            } else {
                "no y = HEIGHT"
            };
            return Err(at(0).fault(missing, Self::EXPECTED));
        };
        let size = Size::new(width, height)
            .map_err(|error| at(0).fault(quote(text), error.to_string()))?;
        Ok(Self { size, rule })
    }
}

fn read_side(place: Place, digits: &str) -> Result<u32, Fault> {
    // `parse` would take a sign.
    let number = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse().ok());
    number
        .flatten()
        .filter(|side| (1..=Size::MAX_SIDE).contains(side))
        .ok_or_else(|| {
            place.fault(
                quote(digits),
                format!("a number of cells from 1 to {}", Size::MAX_SIDE),
            )
        })
}

fn read_rule(place: Place, text: &str) -> Result<Rule, Fault> {
    text.parse().map_err(|error: RuleError| {
        place.fault(
            quote(text),
            format!("a rule such as B3/S23; this one {}", error.problem),
        )
    })
}

/// The cells, read so far.
struct Body {
    header: Header,
    runs: Vec<Run>,
    x: u32,
    y: u32,
    /// A number that still waits for what it counts, and where it began.
    count: Option<(u32, Place)>,
}

impl Body {
    fn new(header: Header) -> Self {
        Self {
            header,
            runs: Vec::new(),
            x: 0,
            y: 0,
            count: None,
        }
    }

    /// Reads one line; true if the pattern ended in it.
    fn read(&mut self, line: usize, text: &[u8]) -> Result<bool, Fault> {
        for (column, byte) in text.iter().enumerate() {
            let place = Place { line, column };
            match byte {
                b'0'..=b'9' => self.digit(place, u32::from(byte - b'0')),
                b'b' | b'B' => self.x = self.x.saturating_add(self.take_count()?),
                b'o' | b'O' => self.live(place)?,
                b'$' => {
                    self.y = self.y.saturating_add(self.take_count()?);
                    self.x = 0;
                }
                b'!' => match self.count {
                    None => return Ok(true),
                    Some(_) => return Err(place.fault("!", "b, o or $ after a number")),
                },
                byte if byte.is_ascii_whitespace() => {}
                _ => return Err(place.fault(found(&text[column..]), "b, o, $, ! or a number")),
            }
        }
        Ok(false)
    }

    fn digit(&mut self, place: Place, digit: u32) {
        let (count, start) = self.count.unwrap_or((0, place));
        self.count = Some((count.saturating_mul(10).saturating_add(digit), start));
    }

    /// How often what follows is repeated.
    fn take_count(&mut self) -> Result<u32, Fault> {
        match self.count.take() {
            None => Ok(1),
            Some((count @ 1..=Size::MAX_SIDE, _)) => Ok(count),
            Some((count, start)) => {
                let found = match count {
                    u32::MAX => "a very large number".to_owned(),
                    _ => count.to_string(),
                };
                Err(start.fault(found, format!("a number from 1 to {}", Size::MAX_SIDE)))
            }
        }
    }

    fn live(&mut self, place: Place) -> Result<(), Fault> {
        let start = self.count.map_or(place, |(_, start)| start);
        let run = Run {
            x: self.x,
            y: self.y,
            length: self.take_count()?,
        };
        let size = self.header.size;
        self.x = self.x.saturating_add(run.length);
        if run.y >= size.height() {
            let found = format!("a live cell in row {}", u64::from(run.y) + 1);
            return Err(start.fault(
                found,
                format!("at most y = {}, as in the header", size.height()),
            ));
        }
        if self.x > size.width() {
            let found = format!("a live cell in column {} of its row", self.x);
            return Err(start.fault(
                found,
                format!("at most x = {}, as in the header", size.width()),
            ));
        }
        self.runs.push(run);
        Ok(())
    }

    fn finish(&mut self, comments: Comments) -> Pattern {
        Pattern {
            name: comments.name,
            author: comments.author,
            comments: comments.remarks,
            rule: self.header.rule.or(comments.rule),
            size: self.header.size,
            runs: std::mem::take(&mut self.runs),
        }
    }
}

/// The character at the head of `text`, in words.
fn found(text: &[u8]) -> String {
    let head = String::from_utf8_lossy(&text[..text.len().min(4)]);
    match head.chars().next() {
        Some(letter @ ('.' | 'A'..='X' | 'p'..='y')) => {
            format!("{letter} (a cell of more than two states)")
        }
        Some(other) => format!("{other:?}"),
        None => "nothing".to_owned(),
    }
}

/// Text as it may stand in a message: escaped, and not too long.
fn quote(text: &str) -> String {
    const LONGEST: usize = 40;
    let text = text.trim();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?} ..", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// The longest line of a written file, as the format has it.
const LINE: usize = 70;

/// A board as a file: all of it, so that reading it back gives the same board.
///
/// ```
/// use examples::{Board, Pattern, Rule, Size, rle};
///
/// let glider = Pattern::parse("glider.rle", b"x = 3, y = 3\nbob$2bo$3o!")?;
/// let mut board = Board::new(Size::new(5, 4)?);
/// board.place_centred(&glider)?;
/// let text = rle::write(&board, Rule::CONWAY);
/// assert_eq!(text, "x = 5, y = 4, rule = B3/S23\n2bo$3bo$b3o!\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(board: &Board, rule: Rule) -> String {
    let size = board.size();
    let mut tokens = Tokens::default();
    for y in 0..size.height() {
        let mut x = 0;
        while x < size.width() {
            let alive = board.is_alive(x, y);
            let end = (x..size.width()).find(|&x| board.is_alive(x, y) != alive);
            let end = end.unwrap_or(size.width());
            // Dead cells before the end of a row are left out.
            if alive || end < size.width() {
                tokens.cells(end - x, if alive { 'o' } else { 'b' });
            }
            x = end;
        }
        tokens.pending_rows += 1;
    }
    let (width, height) = (size.width(), size.height());
    format!(
        "x = {width}, y = {height}, rule = {rule}\n{}\n",
        tokens.end()
    )
}

/// The text of a board, with lines broken between tokens.
#[derive(Default)]
struct Tokens {
    text: String,
    line: usize,
    /// Ends of rows that are only written when something follows.
    pending_rows: u32,
}

impl Tokens {
    fn cells(&mut self, count: u32, letter: char) {
        if self.pending_rows > 0 {
            let rows = std::mem::take(&mut self.pending_rows);
            self.token(rows, '$');
        }
        self.token(count, letter);
    }

    fn token(&mut self, count: u32, letter: char) {
        let token = if count == 1 {
            letter.to_string()
        } else {
            format!("{count}{letter}")
        };
        if self.line + token.len() > LINE {
            self.text.push('\n');
            self.line = 0;
        }
        self.line += token.len();
        self.text.push_str(&token);
    }

    fn end(mut self) -> String {
        self.token(1, '!');
        self.text
    }
}

#[cfg(test)]
#[path = "rle_tests.rs"]
mod tests;
