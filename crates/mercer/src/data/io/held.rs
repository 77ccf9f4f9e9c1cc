//! Rows of cells that are kept until all columns are known: of JSON lines, whose keys may come late, and of sheets,
//! whose cells have places.

use super::limits::Budget;
use super::records::Record;
use crate::error::Result;

/// Cells by row and column, as text.
#[derive(Debug, Default)]
pub(super) struct Held {
    text: Vec<u8>,
    /// Column and end in the text.
    cells: Vec<(u32, usize)>,
    /// End among the cells, and the row's number in the file.
    rows: Vec<(usize, u64)>,
    width: usize,
}

impl Held {
    /// Adds a cell to the row that is being read.
    pub(super) fn push(&mut self, column: u32, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.cells.push((column, self.text.len()));
        self.width = self.width.max(column as usize + 1);
    }

    /// Whether the row that is being read has cells.
    #[cfg_attr(not(feature = "xlsx"), expect(dead_code, reason = "for sheets"))]
    pub(super) fn has_cells(&self) -> bool {
        self.cells.len() > self.rows.last().map_or(0, |row| row.0)
    }

    /// Ends the row that is being read.
    pub(super) fn end_row(&mut self, number: u64) {
        self.rows.push((self.cells.len(), number));
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
            + self.cells.len() * size_of::<(u32, usize)>()
            + self.rows.len() * size_of::<(usize, u64)>()
    }

    /// Moves all cells to the left, so that the first column has one.
    #[cfg_attr(not(feature = "xlsx"), expect(dead_code, reason = "for sheets"))]
    pub(super) fn begin_at_first_column(&mut self) {
        let first = self.cells.iter().map(|cell| cell.0).min().unwrap_or(0);
        self.cells.iter_mut().for_each(|cell| cell.0 -= first);
        self.width -= first as usize;
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Number of columns up to the last with a cell.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The rows in order, each with this number of fields; missing cells are empty.
    pub(super) fn records(
        &self,
        source: &str,
        budget: Budget,
        width: usize,
    ) -> Result<impl FnMut(&mut Record) -> Result<bool> + '_> {
        // Each row gets a field for each column, whatever it holds: four bytes are the least that a cell becomes.
        budget.check_table(source, self.rows.len(), width, 4)?;
        let mut of_column: Vec<(usize, usize)> = vec![(0, 0); width];
        let mut next = 0;
        Ok(move |record: &mut Record| {
            record.clear();
            let Some(&(end, number)) = self.rows.get(next) else { return Ok(false) };
            let begin = if next == 0 { 0 } else { self.rows[next - 1].0 };
            of_column.fill((0, 0));
            for at in begin..end {
                let (column, stop) = self.cells[at];
                let start = if at == 0 { 0 } else { self.cells[at - 1].1 };
                if let Some(place) = of_column.get_mut(column as usize) {
                    *place = (start, stop);
                }
            }
            for &(start, stop) in &of_column {
                record.push(&self.text[start..stop]);
            }
            record.line = number;
            next += 1;
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_in_full_width_and_within_the_budget() {
        let mut held = Held::default();
        held.push(2, b"x");
        held.push(0, b"yy");
        held.end_row(1);
        held.end_row(2);
        held.push(1, b"z");
        held.end_row(7);
        let mut next = held.records("f", Budget::new(Some(1 << 20), None), held.width()).expect("room");
        let mut record = Record::default();
        let mut rows = Vec::new();
        while next(&mut record).expect("a row") {
            let fields: Vec<String> =
                record.fields().map(|f| String::from_utf8_lossy(f).into_owned()).collect();
            rows.push((record.line, fields.join("|")));
        }
        assert_eq!(rows, [(1, "yy||x".into()), (2, "||".into()), (7, "|z|".into())]);
        let mut wide = Held::default();
        wide.push(1 << 20, b"x");
        wide.end_row(1);
        assert!(wide.records("f", Budget::new(Some(1 << 20), None), wide.width()).is_err());
    }
}
