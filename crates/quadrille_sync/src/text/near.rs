//! Known words near a mistyped one.

/// How many letters may be wrong, missing, too many or swapped with their neighbour.
const WRONG: usize = 2;

/// The known word that is nearest to one that is not known, if any is near: at most two letters are
/// wrong, missing, too many or swapped.
///
/// ```
/// use quadrille_sync::closest_match;
/// assert_eq!(closest_match("heigths", ["cells", "heights"]), Some("heights"));
/// assert_eq!(closest_match("waves", ["cells", "heights"]), None);
/// ```
pub fn closest_match<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    // Nearly everything is near to a short word.
    let most = WRONG.min(length / 3);
    let distances = known.into_iter().map(|it| (distance(word, it, most), it));
    let near = distances.filter(|(distance, _)| (1..=most).contains(distance));
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// How many letters have to change to make one word the other; more than `most` if it is more.
fn distance(one: &str, other: &str, most: usize) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > most {
        return most + 1;
    }
    // Distances of what is in front: of the last two letters of `one`, and of all of `other`.
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
