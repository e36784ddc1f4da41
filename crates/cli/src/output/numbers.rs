//! Numbers as people like to read them, with the decimal mark of their language.

use crate::texts::{is_translated, tr};

/// What stands between thousands, and before what is less than one.
fn marks() -> (char, char) {
    if is_translated() { ('.', ',') } else { (',', '.') }
}

/// A number that was written for programs, `0.5`, as people write it.
pub fn local(number: &str) -> String {
    let (_, point) = marks();
    number.replace('.', &point.to_string())
}

/// A whole number with its thousands apart: `1,998,000`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(marks().0);
        }
        text.push(digit);
    }
    text
}

/// A measured number with at most two decimals: `12`, `2.57`, `1,234.5`.
pub fn decimal(number: f64) -> String {
    if !number.is_finite() {
        return tr("unbounded").into_owned();
    }
    let hundredths = (number.abs() * 100.0).round() as u64;
    let sign = if number < 0.0 && hundredths > 0 { "-" } else { "" };
    let (_, point) = marks();
    let fraction = match hundredths % 100 {
        0 => String::new(),
        tens if tens % 10 == 0 => format!("{point}{}", tens / 10),
        both => format!("{point}{both:02}"),
    };
    format!("{sign}{}{fraction}", count(hundredths / 100))
}

/// A rate in short: `850`, `12 k`, `3.4 M`.
pub fn rate(number: f64) -> String {
    match number {
        n if n >= 1e7 => format!("{} M", count((n / 1e6).round() as u64)),
        n if n >= 1e6 => local(&format!("{:.1} M", n / 1e6)),
        n if n >= 1e3 => format!("{} k", count((n / 1e3).round() as u64)),
        n => decimal(n.round()),
    }
}

/// The least and the most of a formula: `12`, `8 to 14`, `at least 8`, `unbounded`.
pub fn range((low, high): (f64, f64)) -> String {
    match (low, high) {
        (low, high) if decimal(low) == decimal(high) => decimal(low),
        (low, high) if high.is_finite() => {
            tr(&format!("{} to {}", decimal(low), decimal(high))).into_owned()
        }
        (low, _) if low.is_finite() => tr(&format!("at least {}", decimal(low))).into_owned(),
        (_, _) => tr("unbounded").into_owned(),
    }
}

/// So many of something: `1 node`, `7 nodes`.
pub fn of(number: u64, thing: &str) -> String {
    let told = format!("{} {thing}{}", count(number), if number == 1 { "" } else { "s" });
    tr(&told).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1_000, 1_998_000].map(count), ["0", "999", "1,000", "1,998,000"]);
        assert_eq!([12.0, 2.571, 0.5, 1e9].map(decimal), ["12", "2.57", "0.5", "1,000,000,000"]);
        assert_eq!([850.0, 12_345.0, 3.44e6, 2e7].map(rate), ["850", "12 k", "3.4 M", "20 M"]);
        assert_eq!(range((3.0, 3.0)), "3");
        assert_eq!(range((3.0, 4.5)), "3 to 4.5");
        assert_eq!(range((3.0, f64::INFINITY)), "at least 3");
    }
}
