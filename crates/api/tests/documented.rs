//! docs/api.md says what is so: its table of errors is that of the codes, its limits are those that
//! are checked.

use conclave_api::{Code, limits};

const DOCUMENT: &str = include_str!("../../../docs/api.md");

#[test]
fn every_code_is_in_the_table_with_its_status_and_whether_to_try_again() {
    for code in Code::ALL {
        let retry = if code.retry() { "yes" } else { "no" };
        let row = format!("| `{code}` | {} | {retry} |", code.status());
        assert!(DOCUMENT.contains(&row), "docs/api.md lacks: {row}");
    }
    let rows = DOCUMENT.lines().filter(|line| line.ends_with(" |") && line.starts_with("| `"));
    let codes = rows.filter(|row| row.contains("| yes |") || row.contains("| no |")).count();
    assert_eq!(codes, Code::ALL.len(), "and no other code");
}

/// A number as people write it.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[test]
fn the_limits_are_those_that_are_checked() {
    let table = DOCUMENT.split_once("\n## Limits\n").map_or("", |(_, table)| table);
    let sizes = [
        limits::NAME_MAX,
        limits::LABEL_MAX,
        limits::PROCLAIMED_MAX,
        limits::REASON_MAX,
        limits::BODY_MAX,
        limits::VALUE_MAX,
        limits::PAGE_MAX,
        limits::LOCKS_MAX,
        limits::LOCKS_OF_ONE_MAX,
        limits::VALUES_MAX,
        limits::VALUES_BYTES_MAX,
        limits::SESSIONS_MAX,
        limits::WAITERS_MAX,
        limits::WAITERS_OF_ONE_MAX,
        limits::WAITERS_OF_ALL_MAX,
        limits::HOLDS_MAX,
        limits::OWNER_MAX,
        limits::WANTED_MAX,
        limits::PERMITS_MAX as usize,
        limits::OPEN_MAX,
        limits::NAMED_MAX,
        limits::KEEPALIVE_MAX,
    ];
    let times = [
        limits::TTL_MS_MIN,
        limits::TTL_MS_MAX,
        limits::TTL_MS_DEFAULT,
        limits::CANDIDATE_TTL_MS_MAX,
        limits::WAIT_MS_MAX,
        limits::GRACE_MS_MIN,
        limits::GRACE_MS_MAX,
        limits::FENCE_END - 1,
    ];
    for number in sizes.map(|size| size as u64).into_iter().chain(times) {
        assert!(table.contains(&grouped(number)), "docs/api.md lacks {}", grouped(number));
    }
}
