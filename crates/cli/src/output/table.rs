//! Aligned tables that fit the terminal.

use comfy_table::{CellAlignment, ContentArrangement, presets};

/// A table without lines: a heading, columns of text, columns of numbers.
pub struct Table {
    inner: comfy_table::Table,
}

impl Table {
    /// A table with these headings, as wide as this at most.
    pub fn new(width: usize, headings: &[&str]) -> Self {
        let mut inner = comfy_table::Table::new();
        inner.load_style(presets::NOTHING);
        inner.set_content_arrangement(ContentArrangement::Dynamic);
        inner.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        inner.set_header(headings);
        Self { inner }
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

    /// Adds a row.
    pub fn row<T: Into<comfy_table::Cell>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.inner.add_row(cells.into_iter().collect::<Vec<T>>());
    }

    /// The table as text, its heading emphasised.
    pub fn render(mut self) -> String {
        for column in self.inner.column_iter_mut() {
            column.set_padding((0, 2));
        }
        let lines: Vec<String> =
            self.inner.lines().map(|line| line.trim_end().to_string()).collect();
        let mut text = String::new();
        for (index, line) in lines.iter().enumerate() {
            text += &if index == 0 { super::strong(line) } else { line.clone() };
            text.push('\n');
        }
        text
    }
}
