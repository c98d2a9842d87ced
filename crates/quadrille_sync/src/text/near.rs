//! Suggestions for mistyped words.

/// Limit of the edit distance: letters that are wrong, missing, added, or swapped with the next one.
const WRONG: usize = 2;

/// Returns the known word with the smallest edit distance to an unknown one. `None` if that is more
/// than 2, or a third of the word's length. Letters that are wrong, missing, added, or swapped with the
/// next one count as one.
///
/// ```
/// use quadrille_sync::text::closest_match;
/// assert_eq!(closest_match("heigths", ["cells", "heights"]), Some("heights"));
/// assert_eq!(closest_match("waves", ["cells", "heights"]), None);
/// ```
pub fn closest_match<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    // Short words have a lower limit, since most words are near to them.
    let most = WRONG.min(length / 3);
    let distances = known.into_iter().map(|it| (distance(word, it, most), it));
    let near = distances.filter(|(distance, _)| (1..=most).contains(distance));
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// Returns the edit distance of two words, or any larger value than `most` if it is larger than that.
fn distance(one: &str, other: &str, most: usize) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > most {
        return most + 1;
    }
    // Distances of the two previous prefixes of `one` to each prefix of `other`.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.iter().enumerate() {
        let mut row = vec![at + 1];
        for (column, it) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != it);
            let mut least = replaced.min(row[column] + 1).min(last[column + 1] + 1);
            let is_swapped =
                at > 0 && column > 0 && one[at - 1] == *it && other[column - 1] == *letter;
            if is_swapped {
                least = least.min(before[column - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
#[path = "near_tests.rs"]
mod tests;
