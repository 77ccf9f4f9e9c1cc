//! Anonymous mappings, and the ones kept for the next buffer.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use crate::Real;

const HUGE: usize = 2 << 20;
/// The smallest unit in which the system takes memory back.
const PAGE: usize = 4 << 10;
/// A kept mapping is reused for requests of at least 1/SHARE of its size.
const SHARE: usize = 2;

/// A private anonymous mapping, its data aligned to a huge page.
struct Block {
    base: *mut libc::c_void,
    /// Length of the mapping.
    bytes: usize,
    data: NonNull<u8>,
    /// Bytes from `data` on that may hold something; all others read as zero.
    dirty: usize,
}

// SAFETY: a block is owned by whoever holds it; the address is valid in every thread.
unsafe impl Send for Block {}

/// Maximum number of kept mappings: a model with many classes has a matrix for each.
const MOST: usize = 32;

/// Bytes that may stay in kept mappings while a new one is made. A fit has buffers of several sizes, and the next one has
/// the same: without this, each would free what the others need again.
const SPARE: usize = 256 << 20;

/// Mappings of dropped buffers, most recent last.
static KEPT: Mutex<Vec<Block>> = Mutex::new(Vec::new());

fn kept() -> std::sync::MutexGuard<'static, Vec<Block>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Unmaps all that is kept.
pub(super) fn release() {
    kept().clear();
}

impl Block {
    fn new(bytes: usize) -> Option<Block> {
        let bytes = bytes.checked_add(HUGE)?;
        // SAFETY: a fresh anonymous mapping; the result is checked.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        crate::counting::taken(bytes);
        let skip = (base as usize).wrapping_neg() % HUGE;
        // SAFETY: skip < HUGE bytes lie inside the mapping, which has HUGE bytes to spare.
        let data = unsafe { base.cast::<u8>().add(skip) };
        // SAFETY: the range lies inside the mapping; advice changes no contents.
        unsafe { libc::madvise(data.cast(), bytes - skip, libc::MADV_HUGEPAGE) };
        Some(Block { base, bytes, data: NonNull::new(data)?, dirty: 0 })
    }

    /// Bytes from `data` on.
    fn room(&self) -> usize {
        self.bytes - HUGE
    }

    /// Lets the system take the contents whenever it wants to.
    fn offer(&self) {
        // SAFETY: the range lies inside the mapping and nothing refers to it any more.
        unsafe { libc::madvise(self.data.as_ptr().cast(), self.dirty, libc::MADV_FREE) };
    }

    /// Revokes `offer`: until a page is written to, the system may still replace it by zeros, which must not happen
    /// while it is being read.
    fn reclaim(&mut self) {
        for at in (0..self.dirty).step_by(PAGE) {
            // SAFETY: inside the mapping, which this block owns. Volatile, or the compiler would remove it.
            unsafe {
                let byte = self.data.as_ptr().add(at);
                byte.write_volatile(byte.read_volatile());
            }
        }
    }

    /// Makes everything from byte `at` on read as zero, and gives its pages back.
    fn cut(&mut self, at: usize) {
        let whole = at.next_multiple_of(PAGE);
        if whole < self.dirty {
            // SAFETY: whole pages inside the mapping; private anonymous memory reads as zero afterwards.
            unsafe {
                libc::madvise(self.data.as_ptr().add(whole).cast(), self.dirty - whole, libc::MADV_DONTNEED)
            };
        }
        let end = whole.min(self.dirty);
        if at < end {
            // SAFETY: inside the mapping.
            unsafe { self.data.as_ptr().add(at).write_bytes(0, end - at) };
        }
        self.dirty = self.dirty.min(at);
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: base and bytes are what mmap gave; nothing borrows them any more.
        unsafe { libc::munmap(self.base, self.bytes) };
        crate::counting::given_back(self.bytes);
    }
}

/// Room for `len` numbers.
pub(super) struct Map<T: Real> {
    /// Nothing only while it is dropped.
    block: Option<Block>,
    len: usize,
    owns: PhantomData<T>,
}

// SAFETY: the mapping is owned by this value alone and `T: Real` is f32 or f64, which are Send.
unsafe impl<T: Real> Send for Map<T> {}
// SAFETY: shared access only reads plain numbers.
unsafe impl<T: Real> Sync for Map<T> {}

impl<T: Real> Map<T> {
    /// Zeros, or numbers of any value.
    pub(super) fn new(len: usize, zeros: bool) -> Option<Self> {
        let bytes = len.checked_mul(size_of::<T>())?;
        let found = {
            let mut kept = kept();
            let fits = |block: &Block| bytes <= block.room() && block.room() / SHARE <= bytes;
            let best = (0..kept.len()).filter(|&at| fits(&kept[at])).min_by_key(|&at| kept[at].bytes);
            let found = best.map(|at| kept.remove(at));
            if found.is_none() {
                // Free mappings that do not fit before a new one is made, the oldest first.
                let mut held: usize = kept.iter().map(|block| block.dirty).sum();
                while held > SPARE {
                    held -= kept.remove(0).dirty;
                }
            }
            found
        };
        let mut block = match found {
            Some(mut block) => {
                block.cut(bytes);
                block.reclaim();
                if zeros {
                    // SAFETY: inside the mapping.
                    unsafe { block.data.as_ptr().write_bytes(0, block.dirty) };
                }
                block
            }
            None => Block::new(bytes)?,
        };
        // Its new owner may write all of it.
        block.dirty = bytes;
        Some(Map { block: Some(block), len, owns: PhantomData })
    }

    fn data(&self) -> *mut T {
        self.block.as_ref().expect("there until it is dropped").data.as_ptr().cast()
    }

    pub(super) fn slice(&self) -> &[T] {
        // SAFETY: len numbers lie inside the mapping, aligned to a huge page; any bits are a number.
        unsafe { std::slice::from_raw_parts(self.data(), self.len) }
    }

    pub(super) fn slice_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.data(), self.len) }
    }

    /// Only the first `len` numbers are still needed; the others become 0.
    pub(super) fn keep_first(&mut self, len: usize) {
        if let Some(block) = &mut self.block {
            block.cut(len.min(self.len) * size_of::<T>());
        }
    }
}

impl<T: Real> Drop for Map<T> {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            block.offer();
            let mut kept = kept();
            if kept.len() == MOST {
                kept.remove(0);
            }
            kept.push(block);
        }
    }
}
