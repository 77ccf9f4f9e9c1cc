//! What Arrow and Parquet files claim of themselves, checked before anything is allocated for it.
//!
//! Both formats name the size of every buffer before and after compression, and their decoders allocate by it. A file
//! of a kilobyte could ask for gigabytes. So each message (Arrow) and each page (Parquet) is looked at first: places must
//! lie in the file, and sizes within the memory that the file's bytes justify.

use std::io::{Read, Seek, SeekFrom};

use super::limits::Budget;
use super::source::fault;
use crate::error::{Error, Result};

/// Reads bytes at a place.
type ReadAt<'a> = dyn FnMut(u64, &mut [u8]) -> std::io::Result<()> + 'a;

/// A file that claims more than it holds.
fn beyond(name: &str, what: &str, claim: i64) -> Error {
    fault(name, Some(&format!("{what} of {claim} bytes")), "a size that the file can hold")
}

/// A file whose claims are read piece by piece.
struct Claimed<'a, 'r> {
    name: &'a str,
    budget: Budget,
    read: &'a mut ReadAt<'r>,
    len: u64,
}

impl Claimed<'_, '_> {
    /// So many bytes from here on; `what` they are. They must lie in the file.
    fn bytes(&mut self, at: u64, count: i64, what: &str) -> Result<Vec<u8>> {
        let size = self.inside(at, count, what)?;
        let mut bytes = vec![0; size as usize];
        (self.read)(at, &mut bytes).map_err(|e| Error::io(self.name, e))?;
        Ok(bytes)
    }

    fn inside(&self, at: u64, count: i64, what: &str) -> Result<u64> {
        let size = u64::try_from(count).map_err(|_| beyond(self.name, what, count))?;
        match at.checked_add(size) {
            Some(end) if end <= self.len => Ok(size),
            _ => Err(beyond(self.name, what, count)),
        }
    }

    /// Adds a claim to those that are in memory at once.
    fn claim(&self, total: &mut u64, size: i64) -> Result<()> {
        *total = total.saturating_add(u64::try_from(size).unwrap_or(u64::MAX));
        if self.budget.allows(u128::from(*total), 1) {
            return Ok(());
        }
        Err(beyond(self.name, "a compressed buffer", size))
    }

    fn le(&mut self, at: u64, what: &str) -> Result<i32> {
        let bytes = self.bytes(at, 4, what)?;
        Ok(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// A message of Arrow at `at`, whose metadata take so many bytes with their prefix; returns the size of its body.
    fn message(&mut self, at: u64, metadata: i64) -> Result<i64> {
        let bytes = self.bytes(at, metadata, "a message")?;
        let prefix = if bytes.starts_with(&[0xff; 4]) { 8 } else { 4 };
        let damaged = |e: &dyn std::fmt::Display| {
            fault(self.name, Some(&format!("a damaged Arrow file ({e})")), "a whole one")
        };
        let flat = bytes.get(prefix..).ok_or_else(|| damaged(&"a message without metadata"))?;
        let message = arrow_ipc::root_as_message(flat).map_err(|e| damaged(&e))?;
        let (start, body) = (at + metadata as u64, message.bodyLength());
        self.inside(start, body, "the body of a message")?;
        let dictionary = message.header_as_dictionary_batch().and_then(|d| d.data());
        let Some(batch) = message.header_as_record_batch().or(dictionary) else { return Ok(body) };
        let (packed, mut total) = (batch.compression().is_some(), 0);
        for buffer in batch.buffers().into_iter().flatten() {
            let (offset, length) = (buffer.offset(), buffer.length());
            let fits = offset >= 0 && length >= 0 && offset.checked_add(length).is_some_and(|e| e <= body);
            if !fits {
                return Err(beyond(self.name, "a buffer", length));
            }
            if packed && length >= 8 {
                let size = self.bytes(start + offset as u64, 8, "a buffer")?;
                let size = i64::from_le_bytes(size.try_into().expect("eight bytes"));
                // -1: this buffer is not compressed.
                self.claim(&mut total, size.max(0))?;
            }
        }
        Ok(body)
    }
}

/// Checks the messages of an Arrow file or stream of so many bytes.
pub(super) fn check_arrow(
    name: &str,
    budget: Budget,
    mut file: impl Read + Seek,
    len: u64,
    stream: bool,
) -> Result<()> {
    let mut read = |at, bytes: &mut [u8]| {
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(bytes)
    };
    let mut claimed = Claimed { name, budget, read: &mut read, len };
    if stream {
        let mut at = 0;
        // A stream ends with an empty message or with the file.
        while at + 4 <= len {
            let first = claimed.le(at, "a message")?;
            let (prefix, size) = if first == -1 { (8, claimed.le(at + 4, "a message")?) } else { (4, first) };
            if size == 0 {
                break;
            }
            let metadata = i64::from(size) + prefix;
            let body = claimed.message(at, metadata)?;
            at += metadata as u64 + body as u64;
        }
        return Ok(());
    }
    let Some(end) = len.checked_sub(10) else { return Err(beyond(name, "a footer", 10)) };
    let size = claimed.le(end, "a footer")?;
    let start = end.checked_sub(u64::try_from(size).unwrap_or(u64::MAX));
    let start = start.ok_or_else(|| beyond(name, "a footer", i64::from(size)))?;
    let footer = claimed.bytes(start, i64::from(size), "a footer")?;
    // A footer that cannot be read is for the decoder to report.
    let Ok(footer) = arrow_ipc::root_as_footer(&footer) else { return Ok(()) };
    let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries());
    for block in blocks.flatten() {
        let at = u64::try_from(block.offset())
            .map_err(|_| beyond(name, "a message at an offset", block.offset()))?;
        let metadata = i64::from(block.metaDataLength());
        claimed.message(at, metadata)?;
        // The decoder reads as much as the footer says, whatever the message says.
        claimed.inside(at + metadata as u64, block.bodyLength(), "the body of a message")?;
    }
    Ok(())
}

/// Checks the pages of a column of a Parquet file: `len` bytes from `start` on.
pub(super) fn check_pages(
    name: &str,
    budget: Budget,
    read: &mut ReadAt<'_>,
    size: u64,
    (start, len): (u64, u64),
) -> Result<()> {
    let mut claimed = Claimed { name, budget, read, len: size };
    claimed.inside(start, i64::try_from(len).unwrap_or(i64::MAX), "a column")?;
    let (mut at, end) = (start, start + len);
    while at < end {
        // A header takes some ten bytes, and more only with statistics.
        let mut window = 64.min(end - at);
        let header = loop {
            let bytes = claimed.bytes(at, window as i64, "a page")?;
            match (Compact { bytes: &bytes, at: 0 }).page() {
                Some(header) => break header,
                None if window == end - at => return Err(beyond(name, "a page header", window as i64)),
                None => window = (window * 4).min(end - at),
            }
        };
        at += header.len;
        claimed.inside(at, header.compressed, "a page")?;
        claimed.claim(&mut 0, header.unpacked)?;
        at += header.compressed as u64;
    }
    Ok(())
}

/// Of the header of a Parquet page, what it claims.
#[derive(Debug, PartialEq)]
struct PageHeader {
    len: u64,
    unpacked: i64,
    compressed: i64,
}

/// Thrift's compact protocol, as far as page headers need it: whole numbers are read and the rest is skipped.
struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Compact<'_> {
    fn byte(&mut self) -> Option<u8> {
        self.at += 1;
        self.bytes.get(self.at - 1).copied()
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Uncompressed and compressed size: fields 2 and 3 of a page header.
    fn page(mut self) -> Option<PageHeader> {
        let (mut unpacked, mut compressed) = (-1, -1);
        self.fields(0, |at, field, kind| match (field, kind) {
            (2, 4..=6) => at.zigzag().map(|v| unpacked = v),
            (3, 4..=6) => at.zigzag().map(|v| compressed = v),
            _ => at.skip(kind, 0),
        })?;
        Some(PageHeader { len: self.at as u64, unpacked, compressed })
    }

    fn fields(&mut self, depth: usize, mut each: impl FnMut(&mut Self, i64, u8) -> Option<()>) -> Option<()> {
        // Headers have structs in structs, but no tower of them.
        if depth >= 16 {
            return None;
        }
        let mut field = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = if head >> 4 == 0 { self.zigzag()? } else { field + i64::from(head >> 4) };
            each(self, field, head & 15)?;
        }
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            // True and false are in the type itself.
            1 | 2 => Some(()),
            3 => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            7 => self.past(8),
            8 => {
                let len = self.varint()?;
                self.past(len)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                // An element takes a byte at least.
                let left = self.bytes.len().saturating_sub(self.at) as u64;
                if count > left || depth > 15 {
                    return None;
                }
                (0..count).try_for_each(|_| match head & 15 {
                    1 | 2 => self.byte().map(drop),
                    kind => self.skip(kind, depth + 1),
                })
            }
            12 => self.fields(depth + 1, |at, _, kind| at.skip(kind, depth + 1)),
            _ => None,
        }
    }

    fn past(&mut self, count: u64) -> Option<()> {
        self.at = self.at.checked_add(usize::try_from(count).ok()?)?;
        (self.at <= self.bytes.len()).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_pages_are_read_past_what_they_hold_beside_their_sizes() {
        // Type 0, sizes 300 and 200, then a struct with a text and a true, and the end.
        let bytes = [0x15, 0, 0x15, 0xd8, 4, 0x15, 0x90, 3, 0x2c, 0x18, 2, b'a', b'b', 0x11, 0, 0, 99];
        let header = Compact { bytes: &bytes, at: 0 }.page();
        assert_eq!(header, Some(PageHeader { len: 16, unpacked: 300, compressed: 200 }));
        for end in 0..16 {
            assert_eq!(Compact { bytes: &bytes[..end], at: 0 }.page(), None, "cut at {end}");
        }
        // Structs in structs without an end.
        assert_eq!(Compact { bytes: &[0x1c; 1000], at: 0 }.page(), None);
    }
}
