//! The comparison as a picture.

use super::measure::Point;

/// A picture.
pub fn svg(_points: &[Point]) -> anyhow::Result<String> {
    Ok(String::new())
}
