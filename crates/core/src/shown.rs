//! What of a text reaches a terminal: nothing that sends commands to it, breaks a line, turns the
//! direction of writing or cannot be seen.

use std::borrow::Cow;

/// Whether a character can be shown as it is, whatever is shown around it: it breaks no line, sends
/// nothing to the terminal and changes the direction of no other.
pub fn is_shown(c: char) -> bool {
    let separates = matches!(c, '\u{2028}' | '\u{2029}');
    let directs = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !(c.is_control() || separates || directs || hides(c))
}

/// Whether nothing is seen of a letter: joiners, fillers, selectors of a form, annotations.
fn hides(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}')
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// A text of somebody else's for people to see: what cannot be shown as it is, is shown escaped.
pub fn shown(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_shown) {
        return Cow::Borrowed(text);
    }
    let escaped = |c: char| match is_shown(c) {
        true => c.to_string(),
        false => c.escape_unicode().to_string(),
    };
    Cow::Owned(text.chars().map(escaped).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_or_changes_what_is_around_it_is_escaped() {
        for c in
            "\u{1b}\n\u{9b}\u{ad}\u{200d}\u{202e}\u{2028}\u{2800}\u{3164}\u{fff9}\u{e0100}".chars()
        {
            assert_eq!(shown(&c.to_string()), c.escape_unicode().to_string());
        }
        let plain = "São Paulo, 東京, Ωμέγα, 🔒 \u{e000}";
        assert!(matches!(shown(plain), Cow::Borrowed(_)));
    }
}
