//! Memory on the device, and copies to it and back.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use cudarc::driver::result;

use crate::driver::{Gpu, Outcome, Trouble};

/// Plain values that mean the same on both sides.
///
/// # Safety
/// A type of fixed layout without padding that matters, pointers or destructors.
// SAFETY: what implementors promise is said above.
pub(crate) unsafe trait Plain: Copy {}
// SAFETY: numbers.
unsafe impl Plain for u8 {}
// SAFETY: numbers.
unsafe impl Plain for u32 {}
// SAFETY: numbers.
unsafe impl Plain for i32 {}
// SAFETY: numbers.
unsafe impl Plain for f32 {}
// SAFETY: numbers.
unsafe impl Plain for f64 {}

/// A run of bytes on the device, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Memory {
    pointer: u64,
    bytes: usize,
    gpu: Arc<Gpu>,
}

impl Memory {
    /// Room whose content is not known.
    pub(crate) fn room(gpu: &Arc<Gpu>, bytes: usize) -> Outcome<Self> {
        let bytes = bytes.max(16);
        if bytes > gpu.free.saturating_sub(gpu.used.load(Ordering::Relaxed)) {
            return Err(Trouble::Memory);
        }
        // SAFETY: our stream; the content is written before it is read, by whoever asks for room.
        let pointer = unsafe { result::malloc_async(gpu.stream(), bytes) }?;
        gpu.used.fetch_add(bytes, Ordering::Relaxed);
        Ok(Memory { pointer, bytes, gpu: Arc::clone(gpu) })
    }

    /// Room filled with one byte.
    pub(crate) fn filled(gpu: &Arc<Gpu>, bytes: usize, byte: u8) -> Outcome<Self> {
        let room = Self::room(gpu, bytes)?;
        // SAFETY: within the room just made.
        unsafe { result::memset_d8_async(room.pointer, byte, room.bytes, gpu.stream()) }?;
        Ok(room)
    }

    /// A copy of values.
    pub(crate) fn of<T: Plain>(gpu: &Arc<Gpu>, values: &[T]) -> Outcome<Self> {
        let room = Self::room(gpu, size_of_val(values))?;
        room.write(0, values)?;
        Ok(room)
    }

    /// Writes values from a byte on.
    pub(crate) fn write<T: Plain>(&self, from: usize, values: &[T]) -> Outcome<()> {
        assert!(from + size_of_val(values) <= self.bytes, "within the room");
        if values.is_empty() {
            return Ok(());
        }
        // SAFETY: within the room; values from pageable memory are staged before the call returns.
        unsafe { result::memcpy_htod_async(self.pointer + from as u64, values, self.gpu.stream()) }?;
        Ok(())
    }

    /// Reads values from a byte on, once all that was asked for before is done.
    pub(crate) fn read<T: Plain>(&self, from: usize, out: &mut [T]) -> Outcome<()> {
        assert!(from + size_of_val(out) <= self.bytes, "within the room");
        if !out.is_empty() {
            // SAFETY: within the room, and `out` outlives the wait below.
            unsafe { result::memcpy_dtoh_async(out, self.pointer + from as u64, self.gpu.stream()) }?;
        }
        self.gpu.wait()
    }

    /// Its address on the device.
    pub(crate) fn pointer(&self) -> u64 {
        self.pointer
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.gpu.used.fetch_sub(self.bytes, Ordering::Relaxed);
        // Dropped on any thread; where the device is lost there is nothing to give back.
        if self.gpu.enter().is_ok() {
            // SAFETY: given by this pool, and nobody else has the address.
            let _ = unsafe { result::free_async(self.pointer, self.gpu.stream()) };
        }
    }
}
