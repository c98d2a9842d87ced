//! Names of the passes and resources of a frame in text.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};

use super::lexer::{Line, Name, ParseError, Word, is_plain_character};
use crate::frame::{Frame, PassIndex};
use crate::resource::ResourceIndex;

/// Names of the items of a frame in text: the name, or `#index(name)` if several items have the name, with `_` for characters that
/// need quotes. Parsers ignore
/// the part after the index.
pub(super) struct Names<'a> {
    passes: Vec<(&'a str, bool)>,
    resources: Vec<(&'a str, bool)>,
}

impl<'a> Names<'a> {
    /// The names of a frame.
    pub(super) fn new(frame: &'a Frame) -> Self {
        let passes: Vec<&str> = frame.passes.iter().map(|pass| pass.name.as_ref()).collect();
        let resources: Vec<&str> = frame.resources.iter().map(|it| it.name.as_ref()).collect();
        Self {
            passes: with_uniqueness(passes),
            resources: with_uniqueness(resources),
        }
    }

    /// Returns the text of a pass.
    pub(super) fn pass(&self, pass: PassIndex) -> Called<'_> {
        Called::new(&self.passes, pass.0)
    }

    /// Returns the text of a resource.
    pub(super) fn resource(&self, resource: ResourceIndex) -> Called<'_> {
        Called::new(&self.resources, resource.0)
    }

    /// Reads the name of a pass.
    pub(super) fn read_pass(&self, line: &mut Line) -> Result<PassIndex, ParseError> {
        let find = |word: &Word| find(&self.passes, word).map(PassIndex);
        line.choose("a pass", || words(&self.passes), find)
    }

    /// Reads the name of a resource.
    pub(super) fn read_resource(&self, line: &mut Line) -> Result<ResourceIndex, ParseError> {
        let find = |word: &Word| find(&self.resources, word).map(ResourceIndex);
        line.choose("a resource", || words(&self.resources), find)
    }
}

fn words<'a>(names: &[(&'a str, bool)]) -> impl Iterator<Item = &'a str> {
    names.iter().map(|(name, _)| *name)
}

fn with_uniqueness(names: Vec<&str>) -> Vec<(&str, bool)> {
    let mut count: HashMap<&str, u32> = HashMap::new();
    names
        .iter()
        .for_each(|name| *count.entry(name).or_default() += 1);
    names.iter().map(|name| (*name, count[name] == 1)).collect()
}

fn find(names: &[(&str, bool)], word: &Word) -> Option<u32> {
    let index = word.text.strip_prefix('#').filter(|_| !word.quoted);
    let index = index.map(|index| index.split('(').next().unwrap_or_default());
    let found = match index.map(str::parse::<usize>) {
        Some(index) => index.ok().filter(|index| *index < names.len()),
        None => names
            .iter()
            .position(|(name, unique)| *unique && *name == word.text),
    };
    found.map(|index| index as u32)
}

/// A name, or an index.
pub(super) enum Called<'a> {
    Name(&'a str),
    Index(u32, &'a str),
}

impl<'a> Called<'a> {
    fn new(names: &[(&'a str, bool)], index: u32) -> Self {
        match names.get(index as usize) {
            Some((name, true)) => Called::Name(name),
            Some((name, false)) => Called::Index(index, name),
            None => Called::Index(index, ""),
        }
    }
}

impl Display for Called<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Called::Name(name) => Name(name).fmt(out),
            Called::Index(index, name) => {
                write!(out, "#{index}")?;
                if name.is_empty() {
                    return Ok(());
                }
                // Blanks and quotes would end the word.
                let plain = |c: char| if is_plain_character(c) { c } else { '_' };
                let name: String = name.chars().map(plain).collect();
                write!(out, "({name})")
            }
        }
    }
}
