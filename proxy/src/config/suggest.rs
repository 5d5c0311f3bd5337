//! "Did you mean": the nearest of the words that would have been right.

/// Longer words are not compared: the work grows with the product of the lengths.
const LONGEST: usize = 64;
/// More words than this are not compared.
const MOST: usize = 200;

/// Returns `; did you mean "..."?` for the nearest word, or nothing when none is near.
pub(crate) fn did_you_mean<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, words).map_or_else(String::new, |near| format!("; did you mean {near:?}?"))
}

fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let folded = word.to_ascii_lowercase().replace('-', "_");
    words
        .into_iter()
        .take(MOST)
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| (distance(&folded, &candidate.replace('-', "_")), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(word.len()) / 4)
        .filter(|(distance, candidate)| *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The number of insertions, deletions, replacements and swaps of neighbours between two words.
///
/// # Complexity
///
/// The product of the lengths.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut a_before = None;
    for (row, a_char) in a.chars().enumerate() {
        let mut current = Vec::with_capacity(b.len() + 1);
        current.push(row + 1);
        let mut b_before = None;
        for (column, &b_char) in b.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX);
            let replace = at(&last, column) + usize::from(a_char != b_char);
            let mut cost = replace.min(at(&last, column + 1) + 1).min(at(&current, column) + 1);
            if a_before == Some(b_char) && b_before == Some(a_char) && column > 0 {
                cost = cost.min(at(&before, column - 1).saturating_add(1));
            }
            current.push(cost);
            b_before = Some(b_char);
        }
        before = std::mem::replace(&mut last, current);
        a_before = Some(a_char);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_suggested_and_far_ones_are_not() {
        let words = ["fleet", "hosts", "path", "connect_timeout"];
        let rows = [
            ("flete", Some("fleet")),
            ("host", Some("hosts")),
            ("Path", Some("path")),
            ("connect-timeout", Some("connect_timeout")),
            ("conect_timout", Some("connect_timeout")),
            ("upstream", None),
            ("x", None),
            ("", None),
        ];
        for (word, want) in rows {
            assert_eq!(nearest(word, words), want, "{word}");
        }
    }
}
