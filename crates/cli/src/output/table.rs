//! Aligned tables that fit the terminal.

use crate::texts::tr;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, presets};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Escape sequences take no room on the screen, but the library underneath counts them. So each is
/// replaced by one of these characters, which have no width, and put back at the end.
const STAND_INS: RangeInclusive<char> = '\u{e0100}'..='\u{e01ef}';

/// A table without lines: a heading, columns of text, columns of numbers.
pub struct Table {
    inner: comfy_table::Table,
    /// The escape sequences that were met, in the order of their stand-ins.
    sequences: Vec<String>,
    /// Whether a column is left in one piece.
    whole: bool,
}

impl Table {
    /// A table with these headings, as wide as this at most.
    pub fn new(width: usize, headings: &[&str]) -> Self {
        let mut inner = comfy_table::Table::new();
        inner.load_style(presets::NOTHING);
        inner.set_content_arrangement(ContentArrangement::Dynamic);
        inner.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        inner.set_header(headings.iter().map(|heading| tr(heading)));
        Self { inner, sequences: Vec::new(), whole: false }
    }

    /// Puts a column's cells to the right, as numbers want it.
    pub fn right(mut self, columns: impl IntoIterator<Item = usize>) -> Self {
        for column in columns {
            if let Some(column) = self.inner.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        self
    }

    /// Leaves the cells of a column in one piece, as what is copied wants it; others give way.
    pub fn whole(mut self, column: usize) -> Self {
        if let Some(column) = self.inner.column_mut(column) {
            column.set_constraint(ColumnConstraint::ContentWidth);
            self.whole = true;
        }
        self
    }

    /// Adds a row.
    pub fn row<T: Display>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cells: Vec<String> =
            cells.into_iter().map(|cell| self.without_width(&cell.to_string())).collect();
        self.inner.add_row(cells);
    }

    /// The text with a stand-in for every escape sequence; more kinds than there are stand-ins stay
    /// as they are.
    fn without_width(&mut self, text: &str) -> String {
        let mut rest = text;
        let mut shown = String::new();
        while let Some((before, after)) = rest.split_once('\x1b') {
            let end = after.find('m').map_or(after.len(), |end| end + 1);
            let sequence = format!("\x1b{}", &after[..end]);
            shown += before;
            match self.stand_in(&sequence) {
                Some(stand_in) => shown.push(stand_in),
                None => shown += &sequence,
            }
            rest = &after[end..];
        }
        shown + rest
    }

    fn stand_in(&mut self, sequence: &str) -> Option<char> {
        let known = self.sequences.iter().position(|known| known == sequence);
        let index = known.unwrap_or(self.sequences.len());
        let stand_in = STAND_INS.clone().nth(index)?;
        if known.is_none() {
            self.sequences.push(sequence.to_string());
        }
        Some(stand_in)
    }

    /// The table as text, its heading emphasised.
    pub fn render(mut self) -> String {
        for column in self.inner.column_iter_mut() {
            column.set_padding((0, 2));
        }
        // Blanks at the end of a line are cut off, and need no room.
        let last = self.inner.column_count().saturating_sub(1);
        if let Some(last) = self.inner.column_mut(last).filter(|_| self.whole) {
            last.set_padding((0, 0));
        }
        let lines: Vec<String> =
            self.inner.lines().map(|line| line.trim_end().to_string()).collect();
        let mut text = String::new();
        for (index, line) in lines.iter().enumerate() {
            text += &if index == 0 { super::strong(line) } else { line.clone() };
            text.push('\n');
        }
        for (stand_in, sequence) in STAND_INS.zip(&self.sequences) {
            text = text.replace(stand_in, sequence);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::{good, odd};
    use super::*;

    #[test]
    fn colours_take_no_room() {
        let mut table = Table::new(80, &["node", "state", "for"]);
        table.row(["1".to_string(), good("up"), "3 s".to_string()]);
        table.row(["2".to_string(), odd("no answer"), "12 s".to_string()]);
        let text = table.render();
        assert!(text.contains(&good("up")) && text.contains(&odd("no answer")), "{text:?}");
        let plain = anstream::adapter::strip_str(&text).to_string();
        let expected = "node  state      for\n1     up         3 s\n2     no answer  12 s\n";
        assert_eq!(plain, expected);
    }

    #[test]
    fn what_is_to_be_copied_is_not_broken() {
        for (width, expected) in [
            (26, "state      API\nno answer  http://a:39170\n"),
            (22, "state   API\nno      http://a:39170\nanswer\n"),
        ] {
            let mut table = Table::new(width, &["state", "API"]).whole(1);
            table.row(["no answer", "http://a:39170"]);
            let plain = anstream::adapter::strip_str(&table.render()).to_string();
            assert_eq!(plain, expected);
        }
    }
}
