//! Sources of bytes: a file, memory or any stream, decompressed on the fly, with a look-ahead buffer.
//!
//! Only a head of 64 KiB is buffered; the rest is read in pieces. Decoders have memory limits, so that a small file
//! cannot require a large dictionary.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use super::ReadOptions;
use super::encoding::{BadText, Decoder, Encoding};
use super::limits::Budget;
use crate::error::{Error, Fault, Result};

/// Number of bytes examined to detect the format.
pub(super) const HEAD: u64 = 64 * 1024;

/// No line, and no record of a table, may be longer than this: numbers beyond it are a damaged or a wrong file.
pub(super) const LONGEST_LINE: u64 = 256 * 1024 * 1024;

/// Memory an xz file's dictionary may ask for; `xz -9` asks for 65 MiB.
const XZ_MEMORY: u64 = 256 * 1024 * 1024;

/// A compression, detected from the first bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// gzip, one or several members.
    Gz,
    /// bzip2, one or several streams.
    Bz2,
    /// xz, one or several streams.
    Xz,
    /// Zstandard.
    Zst,
}

impl Compression {
    /// All of them.
    pub const ALL: [Compression; 4] = [Compression::Gz, Compression::Bz2, Compression::Xz, Compression::Zst];

    /// The usual file extension, without a dot.
    pub fn extension(self) -> &'static str {
        match self {
            Compression::Gz => "gz",
            Compression::Bz2 => "bz2",
            Compression::Xz => "xz",
            Compression::Zst => "zst",
        }
    }

    /// The compression a path's extension asks for.
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Compression::ALL.into_iter().find(|c| c.extension() == extension)
    }

    fn of_bytes(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Compression::Gz),
            // The beginning of a block, or the end of a stream without one: `BZh` alone may be text.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => {
                Some(Compression::Bz2)
            }
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zst),
            _ => None,
        }
    }
}

/// A source with random access, as archives require.
pub(super) enum Origin<'a> {
    File(PathBuf),
    Bytes(&'a [u8]),
    Stream,
}

/// Unpacked bytes with a name for messages.
pub(super) struct Input<'a> {
    /// The file's name, for messages.
    pub(super) name: String,
    /// How it was packed.
    pub(super) compression: Option<Compression>,
    /// The first bytes, unpacked; they are still to come in `reader`.
    pub(super) head: Vec<u8>,
    /// All bytes, unpacked.
    pub(super) reader: Box<dyn BufRead + 'a>,
    /// How many bytes there are, where that is known without reading them.
    pub(super) len: Option<u64>,
    /// Where the packed bytes are.
    pub(super) origin: Origin<'a>,
    /// The memory that may still be used.
    pub(super) budget: Budget,
    /// Whether the encoding of the text is known.
    marked: bool,
    /// Whether the text is not UTF-8 and was taken for Windows-1252.
    pub(super) guessed_encoding: bool,
}

impl<'a> Input<'a> {
    pub(super) fn open(path: &Path, budget: Budget) -> Result<Input<'static>> {
        let file = File::open(path).map_err(|e| Error::io(path, e))?;
        let about = file.metadata().map_err(|e| Error::io(path, e))?;
        if about.is_dir() {
            return Err(fault(&path.display().to_string(), Some("a folder"), "a file"));
        }
        // A pipe has no length worth trusting and cannot be opened twice.
        let (len, origin) = if about.is_file() {
            (Some(about.len()), Origin::File(path.to_owned()))
        } else {
            (None, Origin::Stream)
        };
        Input::new(path.display().to_string(), Box::new(file), len, origin, budget)
    }

    pub(super) fn bytes(name: &str, bytes: &'a [u8], budget: Budget) -> Result<Input<'a>> {
        Input::new(name.to_owned(), Box::new(bytes), Some(bytes.len() as u64), Origin::Bytes(bytes), budget)
    }

    pub(super) fn stream(name: &str, stream: impl Read + 'a, budget: Budget) -> Result<Input<'a>> {
        Input::new(name.to_owned(), Box::new(stream), None, Origin::Stream, budget)
    }

    fn new(
        name: String,
        mut raw: Box<dyn Read + 'a>,
        len: Option<u64>,
        origin: Origin<'a>,
        budget: Budget,
    ) -> Result<Input<'a>> {
        let budget = budget.with_source(len);
        let refused = |e: io::Error| Error::io(&name, e);
        let mut head = first_bytes(&mut raw).map_err(refused)?;
        let compression = Compression::of_bytes(&head);
        let mut reader: Box<dyn BufRead + 'a> =
            Box::new(BufReader::with_capacity(1 << 17, Cursor::new(head.clone()).chain(raw)));
        if let Some(compression) = compression {
            let mut unpacked = decoder(compression, reader).map_err(refused)?;
            head = first_bytes(&mut unpacked).map_err(|e| damaged(&name, compression, &e))?;
            reader = Box::new(BufReader::with_capacity(1 << 17, Cursor::new(head.clone()).chain(unpacked)));
        }
        let len = if compression.is_some() { None } else { len };
        if Compression::of_bytes(&head).is_some() {
            return Err(fault(&name, Some("a file compressed twice"), "one compression: gz, bz2, xz or zst"));
        }
        let bare = || Encoding::is_utf16_without_mark(&head).then_some(Encoding::Utf16);
        let marked = Encoding::of_mark(&head).or_else(bare);
        let mut input = Input {
            name,
            compression,
            head,
            reader,
            len,
            origin,
            budget,
            marked: marked.is_some(),
            guessed_encoding: false,
        };
        match marked {
            // A byte order mark is not part of a label or a column's name.
            Some(Encoding::Utf8) => {
                input.head.drain(..3);
                input.reader.consume_exactly(3).map_err(|e| Error::io(&input.name, e))?;
            }
            Some(encoding) => input.decode(encoding)?,
            None => {}
        }
        input.end_lines();
        Ok(input)
    }

    /// Makes line ends of carriage returns, where text has no other line ends, as on the first Macintosh.
    fn end_lines(&mut self) {
        let has = |byte: u8| self.head.contains(&byte);
        if has(b'\r') && !has(b'\n') && !has(0) && super::sniff::bytes_format(&self.head).is_none() {
            let raw = std::mem::replace(&mut self.reader, Box::new(io::empty()));
            self.head.iter_mut().filter(|b| **b == b'\r').for_each(|b| *b = b'\n');
            self.reader = Box::new(BufReader::with_capacity(1 << 17, Returns(raw)));
        }
    }

    /// Makes UTF-8 of text in another encoding.
    fn decode(&mut self, encoding: Encoding) -> Result<()> {
        let raw = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        let mut text = Decoder::new(encoding, raw, &self.head);
        self.head = first_bytes(&mut text).map_err(|e| self.failed(e))?;
        let whole = Cursor::new(self.head.clone()).chain(text);
        self.reader = Box::new(BufReader::with_capacity(1 << 17, whole));
        self.len = None;
        Ok(())
    }

    /// The same as text in the encoding asked for, unless a byte order mark has told it; else in the one that the text
    /// seems to be in.
    pub(super) fn in_encoding(&mut self, encoding: Option<Encoding>) -> Result<()> {
        let guess = || Encoding::is_western(&self.head).then_some(Encoding::Latin1);
        let guessed = if encoding.is_none() && !self.marked { guess() } else { None };
        self.guessed_encoding = guessed.is_some();
        match encoding.or(guessed) {
            Some(encoding) if encoding != Encoding::Utf8 && !self.marked => {
                self.marked = true;
                self.decode(encoding)
            }
            _ => Ok(()),
        }
    }

    /// The error of a failed read: damaged data if compressed, else the system's error.
    pub(super) fn failed(&self, error: io::Error) -> Error {
        read_failed(&self.name, self.compression, error)
    }

    /// An error about the whole source.
    pub(super) fn fault(&self, got: Option<&str>, expected: impl Into<String>) -> Error {
        fault(&self.name, got, expected)
    }

    /// All bytes, of which each becomes so many in memory. Packed ones may be few, so these stop where they would no longer
    /// fit.
    pub(super) fn whole(&mut self, bytes_each: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let most = self.budget.bytes() / bytes_each;
        let got = self.reader.by_ref().take(most.saturating_add(1)).read_to_end(&mut bytes);
        got.map_err(|e| self.failed(e))?;
        self.budget.check(&self.name, None, bytes.len(), bytes_each)?;
        Ok(bytes)
    }

    /// Refuses bytes after the declared end.
    pub(super) fn expect_end(&mut self, after: &str) -> Result<()> {
        match self.reader.fill_buf() {
            Ok([]) => Ok(()),
            Ok(_) => Err(self.fault(Some("more bytes"), format!("the end of the file after {after}"))),
            Err(e) => Err(self.failed(e)),
        }
    }
}

/// A stream whose carriage returns are line ends.
struct Returns<R>(R);

impl<R: Read> Read for Returns<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(into)?;
        into[..count].iter_mut().filter(|b| **b == b'\r').for_each(|b| *b = b'\n');
        Ok(count)
    }
}

trait ConsumeExactly {
    fn consume_exactly(&mut self, count: u64) -> io::Result<()>;
}

impl<R: BufRead + ?Sized> ConsumeExactly for R {
    fn consume_exactly(&mut self, count: u64) -> io::Result<()> {
        io::copy(&mut self.take(count), &mut io::sink()).map(|_| ())
    }
}

fn first_bytes(reader: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

fn decoder<'a>(compression: Compression, packed: Box<dyn BufRead + 'a>) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match compression {
        Compression::Gz => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
        // A block unpacks to at most 900 kB, which bounds the decoder's memory.
        Compression::Bz2 => Box::new(bzip2::bufread::MultiBzDecoder::new(packed)),
        Compression::Xz => {
            use liblzma::stream::{CONCATENATED, Stream};
            let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(packed, stream))
        }
        // Its own default refuses windows above 128 MiB.
        Compression::Zst => Box::new(zstd::stream::read::Decoder::with_buffer(packed)?),
    })
}

/// All bytes of a stream that may have no end, such as a pipe or a device; `name` stands for it in messages.
///
/// The beginning is looked at first: what no reader knows is refused before the rest is waited for. What follows is kept
/// up to a quarter of the limit: [`ReadOptions::max_bytes`], or [`ReadOptions::memory`].
pub fn read_stream(name: &str, stream: impl Read, options: &ReadOptions) -> Result<Vec<u8>> {
    let mut stream = stream;
    let bytes = first_bytes(&mut stream).map_err(|e| Error::io(name, e))?;
    // A head in another encoding may end within a character.
    let plain = Compression::of_bytes(&bytes).is_none()
        && options.encoding.is_none()
        && !matches!(Encoding::of_mark(&bytes), Some(Encoding::Utf16))
        && !Encoding::is_utf16_without_mark(&bytes);
    if bytes.len() as u64 == HEAD && plain {
        super::sniff::format_of(&Input::bytes(name, &bytes, Budget::of(options))?)?;
    }
    rest_of(name, bytes, stream, Budget::of(options).bytes() / SHARE)
}

/// All bytes of a file that is read as a whole, such as a model. Where its length is not known, because it is a pipe or
/// a device, at most a quarter of `limit` bytes.
pub(crate) fn read_whole(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let refused = |e: io::Error| Error::io(path, e);
    let mut file = File::open(path).map_err(refused)?;
    let about = file.metadata().map_err(refused)?;
    let mut bytes = Vec::new();
    if about.is_file() {
        // A file may be larger than memory; asking first gives a message where growing would abort.
        crate::exec::room(&path.display().to_string(), about.len().into(), 0, limit)?;
        file.read_to_end(&mut bytes).map_err(refused)?;
        return Ok(bytes);
    }
    rest_of(&path.display().to_string(), bytes, file, limit / SHARE)
}

/// A stream may use this part of the limit: its buffer grows by doubling, and the data read from it comes on top.
const SHARE: u64 = 4;

fn rest_of(name: &str, mut bytes: Vec<u8>, stream: impl Read, limit: u64) -> Result<Vec<u8>> {
    let left = limit.saturating_sub(bytes.len() as u64);
    stream.take(left.saturating_add(1)).read_to_end(&mut bytes).map_err(|e| Error::io(name, e))?;
    if bytes.len() as u64 > limit {
        let what = format!("{name}: a stream, kept in memory while it is read (a file can be larger)");
        return Err(Error::Memory { what, needed: bytes.len() as u64, allowed: limit });
    }
    Ok(bytes)
}

/// The error of a failed read: invalid text, damaged data if compressed, else the system's error.
pub(super) fn read_failed(name: &str, compression: Option<Compression>, error: io::Error) -> Error {
    if let Some(bad) = error.get_ref().and_then(|e| e.downcast_ref::<BadText>()) {
        return fault(name, Some(&bad.to_string()), "text in UTF-16");
    }
    match compression {
        Some(compression) => damaged(name, compression, &error),
        None => Error::io(name, error),
    }
}

fn damaged(name: &str, compression: Compression, error: &io::Error) -> Error {
    fault(
        name,
        Some(&format!("damaged {} data ({error})", compression.extension())),
        "a complete compressed file",
    )
}

/// An error of a source that has rows and no lines.
pub(super) fn by_row(error: Error) -> Error {
    match error {
        Error::Data(mut fault) => {
            fault.row = fault.row.or(fault.line.take());
            Error::Data(fault)
        }
        other => other,
    }
}

/// An error about a format that this build was made without.
#[cfg_attr(
    all(feature = "parquet", feature = "pictures", feature = "xlsx"),
    expect(dead_code, reason = "this build has all formats")
)]
pub(super) fn absent(name: &str, what: &str, feature: &str) -> Error {
    Error::Unsupported(format!(
        "{name}: this build of Mercer does not support {what}; build it with `--features {feature}`"
    ))
}

/// An error about a whole source.
pub(super) fn fault(name: &str, got: Option<&str>, expected: impl Into<String>) -> Error {
    Fault {
        source: Some(name.to_owned()),
        got: got.map(str::to_owned),
        expected: expected.into(),
        ..Fault::default()
    }
    .into()
}
