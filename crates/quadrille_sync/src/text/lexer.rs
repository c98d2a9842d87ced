//! Lines and words with their positions for the parsers, and the output of names and flags.

use std::fmt::{self, Display, Formatter};
use std::iter::Peekable;
use std::str::{CharIndices, FromStr};

use thiserror::Error;

use super::near::closest_match;

/// An error at a position of a text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("Line {line}, column {column}: expected {expected}, found {found}.")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// Description of the expected token.
    pub expected: String,
    /// Description of the token that was found.
    pub found: String,
}

impl ParseError {
    /// An error at a byte of a one-line text.
    pub(super) fn at(text: &str, byte: usize, expected: &str) -> Self {
        let (before, rest) = text.split_at_checked(byte).unwrap_or((text, ""));
        let found = rest
            .split([' ', ','])
            .next()
            .filter(|word| !word.is_empty());
        Self {
            line: 1,
            column: before.chars().count() + 1,
            expected: expected.into(),
            found: found.map_or("the end".into(), |word| format!("`{word}`")),
        }
    }
}

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether it was quoted, so it is always a name.
    pub(super) quoted: bool,
    column: usize,
}

/// The words of a line without its comment.
#[derive(Clone, Debug)]
pub(super) struct Line {
    number: usize,
    /// Spaces before the first word.
    pub(super) indent: usize,
    words: Vec<Word>,
    next: usize,
    /// Keywords that the next word could have been, for errors.
    absent: Vec<&'static str>,
    /// The column after the last word.
    end: usize,
}

/// Splits a text into lines of words, without empty lines.
pub(super) fn lines(text: &str) -> Result<Vec<Line>, ParseError> {
    let mut lines = Vec::new();
    for (at, text) in text.lines().enumerate() {
        let line = line(at + 1, text)?;
        if !line.words.is_empty() {
            lines.push(line);
        }
    }
    Ok(lines)
}

fn line(number: usize, text: &str) -> Result<Line, ParseError> {
    let mut words = Vec::new();
    let mut chars = text.char_indices().peekable();
    let column = |byte: usize| text.get(..byte).unwrap_or(text).chars().count() + 1;
    while let Some((at, first)) = chars.peek().copied() {
        if first.is_whitespace() {
            chars.next();
        } else if text.get(at..).is_some_and(|rest| rest.starts_with("//")) {
            break;
        } else if first == '"' {
            let quoted = quoted(&mut chars).ok_or_else(|| ParseError {
                line: number,
                column: column(at),
                expected: "a name that ends with a quote".into(),
                found: "the end of the line".into(),
            })?;
            words.push(Word {
                text: quoted,
                quoted: true,
                column: column(at),
            });
        } else {
            let end = |(_, next): &(usize, char)| next.is_whitespace() || *next == '"';
            let mut word = String::new();
            while let Some((_, next)) = chars.next_if(|next| !end(next)) {
                word.push(next);
            }
            words.push(Word {
                text: word,
                quoted: false,
                column: column(at),
            });
        }
    }
    let indent = text.chars().take_while(|c| c.is_whitespace()).count();
    Ok(Line {
        number,
        indent,
        words,
        next: 0,
        absent: Vec::new(),
        end: text.chars().count() + 1,
    })
}

/// Reads the rest of a quoted word. Returns `None` if the closing quote is missing.
fn quoted(chars: &mut Peekable<CharIndices<'_>>) -> Option<String> {
    let mut word = String::new();
    chars.next();
    loop {
        match chars.next()?.1 {
            '"' => return Some(word),
            '\\' => match chars.next()?.1 {
                'n' => word.push('\n'),
                other => word.push(other),
            },
            other => word.push(other),
        }
    }
}

impl Line {
    /// The next word, if there is one.
    pub(super) fn peek(&self) -> Option<&Word> {
        self.words.get(self.next)
    }

    /// Consumes the next word.
    pub(super) fn word(&mut self, expected: &str) -> Result<Word, ParseError> {
        let Some(word) = self.peek().cloned() else {
            return Err(self.error(expected));
        };
        self.advance();
        Ok(word)
    }

    /// Consumes the next word if it is `keyword`. Returns whether it was.
    pub(super) fn accept(&mut self, keyword: &'static str) -> bool {
        let found = self.sees(keyword);
        if found {
            self.advance();
        }
        found
    }

    /// Whether the next word is `keyword`.
    pub(super) fn sees(&mut self, keyword: &'static str) -> bool {
        let is_it = |word: &Word| !word.quoted && word.text == keyword;
        let found = self.peek().is_some_and(is_it);
        if !found {
            self.absent.push(keyword);
        }
        found
    }

    fn advance(&mut self) {
        self.next += 1;
        self.absent.clear();
    }

    /// Consumes the next word, which must be `keyword`.
    pub(super) fn expect(&mut self, keyword: &'static str) -> Result<(), ParseError> {
        if self.accept(keyword) {
            Ok(())
        } else {
            Err(self.error(&format!("`{keyword}`")))
        }
    }

    /// Consumes and parses a word, such as a number.
    pub(super) fn parse<T: FromStr>(&mut self, expected: &str) -> Result<T, ParseError> {
        let Some(word) = self.peek() else {
            return Err(self.error(expected));
        };
        let Ok(parsed) = word.text.parse() else {
            let is_number = word.text.bytes().all(|byte| byte.is_ascii_digit());
            let bits = 8 * size_of::<T>();
            return Err(if is_number {
                self.error(&format!("{expected} of at most {bits} bits"))
            } else {
                self.error(expected)
            });
        };
        self.advance();
        Ok(parsed)
    }

    /// Consumes `begin..end`. Returns begin and length, which is at least 1.
    pub(super) fn range<T>(&mut self, expected: &str) -> Result<(T, T), ParseError>
    where
        T: FromStr + Copy + PartialOrd + std::ops::Sub<Output = T>,
    {
        let parsed = self.peek().and_then(|word| {
            let (begin, end) = word.text.split_once("..")?;
            let (begin, end): (T, T) = (begin.parse().ok()?, end.parse().ok()?);
            (begin < end).then(|| (begin, end - begin))
        });
        let parsed = parsed.ok_or_else(|| self.error(expected))?;
        self.advance();
        Ok(parsed)
    }

    /// Consumes a word and converts it.
    pub(super) fn map<T>(
        &mut self,
        expected: &str,
        map: impl FnOnce(&Word) -> Option<T>,
    ) -> Result<T, ParseError> {
        let mapped = self
            .peek()
            .and_then(map)
            .ok_or_else(|| self.error(expected))?;
        self.advance();
        Ok(mapped)
    }

    /// [`map`](Self::map) for known words: the error for a mistyped word suggests the nearest one.
    /// Sets of flags are words joined by `|`.
    pub(super) fn choose<'a, T, K: IntoIterator<Item = &'a str>>(
        &mut self,
        expected: &str,
        known: impl Fn() -> K,
        map: impl FnOnce(&Word) -> Option<T>,
    ) -> Result<T, ParseError> {
        let error = match self.map(expected, map) {
            Ok(mapped) => return Ok(mapped),
            Err(error) => error,
        };
        let Some(word) = self.peek() else {
            return Err(error);
        };
        Err(
            match word
                .text
                .split('|')
                .find_map(|it| closest_match(it, known()))
            {
                Some(near) => self.error(&format!("{expected} (perhaps `{near}`)")),
                None => error,
            },
        )
    }

    /// Consumes a set of flags.
    pub(super) fn flags<T: bitflags::Flags>(&mut self, expected: &str) -> Result<T, ParseError> {
        let names = || T::FLAGS.iter().map(|flag| flag.name());
        self.choose(expected, names, |word| flags(&word.text))
    }

    /// Returns an error unless this is the end of the line.
    pub(super) fn end(&self) -> Result<(), ParseError> {
        if self.peek().is_none() {
            return Ok(());
        }
        let mut expected = String::new();
        for keyword in &self.absent {
            expected += &format!("`{keyword}`, ");
        }
        if let Some(last) = expected.strip_suffix(", ") {
            expected = format!("{last} or ");
        }
        Err(self.error(&(expected + "the end of the line")))
    }

    /// An error at the next word.
    pub(super) fn error(&self, expected: &str) -> ParseError {
        let (column, found) = match self.peek() {
            Some(word) => (word.column, format!("`{}`", word.text)),
            None => (self.end, "the end of the line".into()),
        };
        ParseError {
            line: self.number,
            column,
            expected: expected.into(),
            found,
        }
    }
}

/// A name, quoted unless it is a plain word without another meaning.
pub(super) struct Name<'a>(pub(super) &'a str);

/// Whether a word without quotes can have a character.
pub(super) fn is_plain_character(c: char) -> bool {
    c.is_alphanumeric() || "_-.:<>[]()".contains(c)
}

/// Whether a name can be written without quotes.
fn is_plain(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    begins && name.chars().all(is_plain_character)
}

impl Display for Name<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if is_plain(self.0) {
            return out.write_str(self.0);
        }
        out.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '\n' => out.write_str("\\n")?,
                '"' | '\\' => write!(out, "\\{c}")?,
                _ => write!(out, "{c}")?,
            }
        }
        out.write_str("\"")
    }
}

/// A set of flags as one word: `A|B`, or `-` for none.
pub(super) struct Flags<T>(pub(super) T);

impl<T: bitflags::Flags + Copy> Display for Flags<T> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut names = self.0.iter_names().peekable();
        if names.peek().is_none() && self.0.is_empty() {
            return out.write_str("-");
        }
        for (at, (name, _)) in names.enumerate() {
            write!(out, "{}{name}", if at == 0 { "" } else { "|" })?;
        }
        Ok(())
    }
}

/// Parses the output of [`Flags`].
fn flags<T: bitflags::Flags>(word: &str) -> Option<T> {
    let mut flags = T::empty();
    for name in word.split('|').filter(|_| word != "-") {
        flags.insert(T::from_name(name)?);
    }
    Some(flags)
}
