//! The text form of a topology: `gct:1,ct:2,t:1`.

use std::fmt::{self, Display, Formatter};

use super::lexer::ParseError;
use crate::topology::{
    BarrierStyle, Capabilities, FamilyIndex, OrderPolicy, Queue, SubmitPolicy, Topology,
};

/// The letter of each capability.
const LETTERS: [(char, Capabilities); 7] = [
    ('g', Capabilities::GRAPHICS),
    ('c', Capabilities::COMPUTE),
    ('t', Capabilities::TRANSFER),
    ('s', Capabilities::SPARSE_BINDING),
    ('d', Capabilities::VIDEO_DECODE),
    ('e', Capabilities::VIDEO_ENCODE),
    ('o', Capabilities::OPTICAL_FLOW),
];

/// Capabilities that imply transfer, also if the family does not report it (section "Queue Family
/// Properties").
const COPYING: Capabilities = Capabilities::GRAPHICS.union(Capabilities::COMPUTE);

/// The first index that is reserved in Vulkan: `FOREIGN`, `EXTERNAL` and
/// `VK_QUEUE_FAMILY_IGNORED`.
const RESERVED: u32 = FamilyIndex::FOREIGN.0;

/// Queue families, separated by commas: letters of the capabilities (**g**raphics,
/// **c**ompute, **t**ransfer, **s**parse, **d**ecode, **e**ncode, **o**ptical flow), a colon, and
/// the number of queues. Graphics and compute imply transfer.
///
/// By default, the first family can present and the others cannot. `p` (can) or `n` (cannot) after
/// the letters of a family overrides that. Families are numbered in order, unless one has an
/// explicit index: `ct@2:1`. Options other than the defaults follow as words: `gct:1 precise
/// coalesced declared maintenance8`.
impl Display for Topology {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut rest = self.queues.as_slice();
        let mut group = 0;
        while let Some(first) = rest.first() {
            let alike = |queue: &&Queue| {
                (queue.family, queue.capabilities, queue.can_present)
                    == (first.family, first.capabilities, first.can_present)
            };
            let count = rest.iter().take_while(alike).count();
            if group > 0 {
                out.write_str(",")?;
            }
            for (letter, _) in LETTERS
                .iter()
                .filter(|(_, it)| first.capabilities.contains(*it))
            {
                write!(out, "{letter}")?;
            }
            match (first.can_present, group == 0) {
                (true, false) => out.write_str("p")?,
                (false, true) => out.write_str("n")?,
                _ => {}
            }
            if first.family.0 != group {
                write!(out, "@{}", first.family.0)?;
            }
            write!(out, ":{count}")?;
            rest = &rest[count..];
            group += 1;
        }
        for (switch, name) in [
            (self.barriers == BarrierStyle::Precise, "precise"),
            (self.submit == SubmitPolicy::Coalesced, "coalesced"),
            (self.order == OrderPolicy::Declared, "declared"),
            (self.maintenance8, "maintenance8"),
        ] {
            if switch {
                write!(out, " {name}")?;
            }
        }
        Ok(())
    }
}

/// Parses a topology; its `Display` documents the form.
///
/// ```
/// use quadrille_sync::text::parse_topology;
/// use quadrille_sync::topology::QueueIndex;
/// let topology = parse_topology("gct:1,ct:2,t:1").unwrap();
/// assert_eq!(topology.queues.len(), 4);
/// assert_eq!(topology.family(QueueIndex(2)).0, 1);
/// assert_eq!(topology.to_string(), "gct:1,ct:2,t:1");
/// ```
///
/// # Errors
/// Returns the position of the first error, and the expected token.
pub fn parse_topology(text: &str) -> Result<Topology, ParseError> {
    let column = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let fail = |part: &str, expected: &str| ParseError::at(text, column(part), expected);
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    let mut topology = Topology::default();
    let families = words.next().unwrap_or(&text[text.len()..]);
    for (group, part) in families.split(',').enumerate() {
        let expected = "a family such as gct:1";
        let (letters, count) = part.split_once(':').ok_or_else(|| fail(part, expected))?;
        let (letters, family) = match letters.split_once('@') {
            Some((letters, family)) => {
                let number = family.parse().ok().filter(|number| *number < RESERVED);
                let number = number.ok_or_else(|| fail(family, "the number of a family"))?;
                (letters, number)
            }
            None => (letters, group as u32),
        };
        let room = Topology::MAX_QUEUES - topology.queues.len();
        let count: usize = count
            .parse()
            .map_err(|_| fail(count, "a number of queues"))?;
        if count > room {
            return Err(fail(part, "at most 32 queues in all"));
        }
        let (mut capabilities, mut can_present) = (Capabilities::empty(), group == 0);
        for (at, letter) in letters.char_indices() {
            match (letter, LETTERS.iter().find(|(known, _)| *known == letter)) {
                ('p', _) => can_present = true,
                ('n', _) => can_present = false,
                (_, Some((_, capability))) => capabilities |= *capability,
                _ => return Err(fail(&letters[at..], "one of the letters gctsdeo, p or n")),
            }
        }
        if capabilities.intersects(COPYING) {
            capabilities |= Capabilities::TRANSFER;
        }
        let family = FamilyIndex(family);
        let before = topology
            .queues
            .iter()
            .filter(|queue| queue.family == family)
            .count() as u32;
        topology
            .queues
            .extend((before..before + count as u32).map(|index| Queue {
                family,
                index,
                capabilities,
                can_present,
            }));
    }
    for word in words {
        match word {
            "precise" => topology.barriers = BarrierStyle::Precise,
            "coalesced" => topology.submit = SubmitPolicy::Coalesced,
            "declared" => topology.order = OrderPolicy::Declared,
            "maintenance8" => topology.maintenance8 = true,
            _ => return Err(fail(word, "precise, coalesced, declared or maintenance8")),
        }
    }
    Ok(topology)
}
