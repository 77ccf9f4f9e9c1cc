//! Memory on the device, and copies to it and back.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use cudarc::driver::{result, sys};
use mercer::Exec;
use rayon::prelude::*;

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

/// Bytes from which copies to the device go by way of [`Stage`], how many go at once, and how many of these a thread copies at
/// a time.
const MANY: usize = 1 << 20;
const STAGED: usize = 8 << 20;
const PIECE: usize = 256 << 10;

/// Two pieces of the host's memory that do not move, so that the device copies from one while the other is filled. They stay
/// for the life of the process.
pub(crate) struct Stage {
    memory: *mut u8,
    free: [sys::CUevent; 2],
    turn: usize,
}

// SAFETY: the memory has one owner, and events may be used by any thread that has entered the device.
unsafe impl Send for Stage {}

impl Stage {
    /// None where the system has no such memory to give.
    fn new() -> Option<Self> {
        let event = || result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING).ok();
        let free = [event()?, event()?];
        // SAFETY: plain memory for reading and writing; it is given back with the process.
        let memory = unsafe { result::malloc_host(2 * STAGED, 0) }.ok()?;
        Some(Stage { memory: memory.cast(), free, turn: 0 })
    }

    /// The two by turns, each with the event after which it may be written.
    fn next(&mut self) -> (&mut [u8], sys::CUevent) {
        self.turn = 1 - self.turn;
        // SAFETY: within the memory, which nobody else refers to while `self` is borrowed; any bytes are valid.
        let to = unsafe { std::slice::from_raw_parts_mut(self.memory.add(self.turn * STAGED), STAGED) };
        (to, self.free[self.turn])
    }
}

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
        if bytes > gpu.left() {
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

    /// A copy of many bytes, by way of memory that the device reads by itself, which several threads fill.
    pub(crate) fn of_many(gpu: &Arc<Gpu>, values: &[u8], exec: Exec) -> Outcome<Self> {
        if values.len() < MANY {
            return Self::of(gpu, values);
        }
        let room = Self::room(gpu, values.len())?;
        let mut stage = gpu.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if stage.is_none() {
            *stage = Stage::new();
        }
        let Some(stage) = stage.as_mut() else {
            room.write(0, values)?;
            return Ok(room);
        };
        for (p, part) in values.chunks(STAGED).enumerate() {
            let (to, free) = stage.next();
            // SAFETY: an event of this context that was recorded or is new.
            unsafe { result::event::synchronize(free) }?;
            if exec.threads() == 1 {
                to[..part.len()].copy_from_slice(part);
            } else {
                let pieces = to[..part.len()].par_chunks_mut(PIECE).zip(part.par_chunks(PIECE));
                pieces.for_each(|(to, from)| to.copy_from_slice(from));
            }
            // SAFETY: within the room, from memory that is written again only after the event below.
            unsafe {
                let at = room.pointer + (p * STAGED) as u64;
                result::memcpy_htod_async(at, &to[..part.len()], gpu.stream())?;
                result::event::record(free, gpu.stream())?;
            }
        }
        Ok(room)
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

/// Numbers as the bytes they lie in.
pub(crate) fn bytes_of(values: &[f64]) -> &[u8] {
    // SAFETY: numbers have no padding, and any bytes are valid.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
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
