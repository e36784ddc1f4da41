//! Regular expressions of the schemas: which texts there may be.

use crate::limits::is_shown;

/// A text of letters that can be shown as they are: see [`is_shown`].
pub fn all_shown() -> String {
    let mut class = String::new();
    let mut hidden = ('\0'..=char::MAX).filter(|c| !is_shown(*c)).peekable();
    while let Some(first) = hidden.next() {
        let mut last = first;
        while let Some(next) = hidden.next_if(|next| u32::from(*next) == u32::from(last) + 1) {
            last = next;
        }
        class += &letter(first);
        if last != first {
            class.push('-');
            class += &letter(last);
        }
    }
    format!("^[^{class}]*$")
}

/// The numbers from 1 to this one, as text without a needless zero.
pub fn number_up_to(last: u64) -> String {
    format!("^({})$", digits_up_to(last))
}

fn digits_up_to(last: u64) -> String {
    let digits = last.to_string();
    let shorter = digits.len() - 1;
    let mut all = vec![digits.clone()];
    if shorter > 0 {
        all.push(format!("[1-9][0-9]{{0,{}}}", shorter - 1));
    }
    // As long, and smaller for the first time at this place.
    for (place, digit) in digits.bytes().enumerate() {
        let least = if place == 0 { b'1' } else { b'0' };
        if digit > least {
            let (begin, range) = (&digits[..place], [least, digit - 1].map(char::from));
            all.push(format!("{begin}[{}-{}][0-9]{{{}}}", range[0], range[1], shorter - place));
        }
    }
    all.join("|")
}

/// A host, and a port from 1.
pub fn address() -> String {
    format!("^[A-Za-z0-9._:\\[\\]%-]+:({})$", digits_up_to(u64::from(u16::MAX)))
}

/// A letter in a regular expression. Beyond four digits, dialects differ: there it stands itself.
fn letter(c: char) -> String {
    match u32::from(c) {
        code @ 0..=0xffff => format!("\\u{code:04x}"),
        _ => c.to_string(),
    }
}

#[test]
fn numbers_end_where_they_should() {
    assert_eq!(number_up_to(9), "^(9|[1-8][0-9]{0})$");
    let port =
        "65535|[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]{1}";
    assert_eq!(digits_up_to(65_535), format!("{port}|6553[0-4][0-9]{{0}}"));
}

#[test]
fn what_must_not_reach_a_terminal_is_in_no_label() {
    let pattern = all_shown();
    for part in ["\\u0000-\\u001f", "\\u007f-\\u009f", "\\u2028-\\u202e", "\u{e0000}-\u{e0fff}"] {
        assert!(pattern.contains(part), "{part} in {pattern}");
    }
}
