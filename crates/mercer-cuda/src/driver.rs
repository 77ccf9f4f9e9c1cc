//! The driver: whether it is there, what it sees, and a device that was started.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::{CudaContext, sys};

use crate::found::{Found, Seen};
use crate::memory::Stage;
use crate::trace;

/// The device code, as text for the driver's compiler. Made from `kernels/*.cu` by `cargo xtask ptx`.
pub(crate) const PTX: &str = include_str!("../kernels/mercer.ptx");

/// Products of bytes and of f64 on tensor cores, and the reductions of the solver, are there from this architecture on.
const LEAST: (i32, i32) = (8, 0);

/// Functions of the device code, and the shared memory they ask for beyond the usual.
const FUNCTIONS: [&str; 37] = [
    "values_bytes_f32",
    "values_bytes_f64",
    "values_wide_f32",
    "values_wide_f64",
    "apply_one_f32",
    "apply_one_f64",
    "apply_many_f32",
    "apply_many_f64",
    "squares_wide",
    "squares_bytes",
    "rank_variables",
    "choose_set",
    "assign_slots",
    "gather_set_f32",
    "gather_set_u16",
    "solve_two_one",
    "solve_two_two",
    "solve_four_one",
    "solve_four_two",
    "solve_unit_one",
    "solve_unit_two",
    "add_changes",
    "times_few_f32",
    "times_few_f64",
    "times_many_f32",
    "times_sum",
    "cg_begin",
    "cg_forward",
    "cg_turn",
    "factor_times",
    "factor_tile",
    "factor_turn",
    "factor_border",
    "factor_scale",
    "factor_rows",
    "factor_add",
    "factor_solve",
];

/// Shared memory that functions have of their own, at most.
pub(crate) const STATIC_SHARED: usize = 8192;

/// Whether a function may ask for more shared memory than usual.
fn raised(name: &str) -> bool {
    ["values", "solve", "times", "factor_ti"].iter().any(|of| name.starts_with(of))
}

/// Why a call on a device ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Not enough memory on the device: the CPU does it.
    Memory,
    /// The device failed.
    Failed(String),
}

impl From<DriverError> for Trouble {
    fn from(error: DriverError) -> Self {
        if error.0 == sys::cudaError_enum::CUDA_ERROR_OUT_OF_MEMORY {
            Trouble::Memory
        } else {
            Trouble::Failed(words(error))
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Memory => f.write_str("out of memory"),
            Trouble::Failed(why) => f.write_str(why),
        }
    }
}

pub(crate) type Outcome<T> = Result<T, Trouble>;

/// The driver's own words for an error, with its number where it has none.
fn words(error: DriverError) -> String {
    let text = error.error_string().ok().map(|text| text.to_string_lossy().into_owned());
    text.unwrap_or_else(|| format!("driver error {:?}", error.0))
}

/// Whether the driver's library can be loaded.
pub(crate) fn present() -> bool {
    // SAFETY: opens and closes a library of the system, whose initialisers are the driver's own.
    unsafe { sys::is_culib_present() }
}

/// Looks for devices. Starts the driver, but no device.
pub(crate) fn found() -> Found {
    let none = |why: String| Found { devices: Vec::new(), why: Some(why), driver: None };
    if !present() {
        let names = cudarc::get_lib_name_candidates("cuda");
        let last = names.last().map_or("libcuda.so.1", String::as_str);
        return none(format!(
            "the NVIDIA driver's library ({last}) is not on the loader's path; install the driver, or add its folder to LD_LIBRARY_PATH"
        ));
    }
    if let Err(error) = result::init() {
        return none(format!("the NVIDIA driver cannot be initialised: {}", words(error)));
    }
    let mut version = 0;
    // SAFETY: writes one integer.
    let known = unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().is_ok();
    let driver = known.then_some((version / 1000, version % 1000 / 10));
    let count = result::device::get_count().unwrap_or(0);
    let devices: Vec<Seen> = (0..count as usize).filter_map(seen).collect();
    let why = devices.is_empty().then(|| "the NVIDIA driver finds no device".to_owned());
    Found { devices, why, driver }
}

fn seen(number: usize) -> Option<Seen> {
    use sys::CUdevice_attribute_enum as A;
    let device = result::device::get(number as i32).ok()?;
    // SAFETY: the handle was just given by the driver.
    let attribute = |a| unsafe { result::device::get_attribute(device, a) }.ok();
    let capability = (
        attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    );
    let why_not = (capability < LEAST).then(|| {
        format!(
            "compute capability {}.{}, {}.{} or higher is required",
            capability.0, capability.1, LEAST.0, LEAST.1
        )
    });
    Some(Seen {
        number,
        name: result::device::get_name(device).unwrap_or_else(|_| "?".to_owned()),
        // SAFETY: as above.
        memory: unsafe { result::device::total_mem(device) }.unwrap_or(0) as u64,
        capability,
        multiprocessors: attribute(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).unwrap_or(1),
        why_not,
    })
}

/// A device that was started: its context, one stream, the functions.
pub(crate) struct Gpu {
    context: Arc<CudaContext>,
    stream: sys::CUstream,
    functions: HashMap<&'static str, sys::CUfunction>,
    pub(crate) multiprocessors: usize,
    /// Whether f64 runs at half the rate of f32 and not at a small part of it.
    pub(crate) fast_f64: bool,
    /// Bytes that were free when it was started.
    pub(crate) free: usize,
    /// Bytes in use by this process.
    pub(crate) used: AtomicUsize,
    /// What large copies to the device go by, once there was one.
    pub(crate) stage: Mutex<Option<Stage>>,
}

// SAFETY: the raw handles are used under the lock of `BackEnd`, after the context was made current for the thread.
unsafe impl Send for Gpu {}
// SAFETY: as above.
unsafe impl Sync for Gpu {}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gpu({})", self.context.ordinal())
    }
}

impl Gpu {
    /// Starts a device, and compiles the functions for it.
    pub(crate) fn start(number: usize) -> Result<Arc<Gpu>, String> {
        let found = found();
        if let Some(why) = found.why {
            return Err(why);
        }
        let Some(seen) = found.devices.iter().find(|seen| seen.number == number) else {
            return Err(format!("there is no device cuda:{number}; devices: {}", found.devices.len()));
        };
        if let Some(why) = &seen.why_not {
            return Err(format!("cuda:{number} ({}): {why}", seen.name));
        }
        Self::started(number, seen).map_err(|trouble| format!("cuda:{number} ({}): {trouble}", seen.name))
    }

    fn started(number: usize, seen: &Seen) -> Outcome<Arc<Gpu>> {
        use sys::CUdevice_attribute_enum as A;
        let context = CudaContext::new(number)?;
        let shared = context.attribute(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as usize;
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking)?;
        let text =
            CString::new(PTX).map_err(|_| Trouble::Failed("the device code holds a zero".to_owned()))?;
        // SAFETY: PTX that ends in a zero byte, and lives through the call.
        let module = unsafe { result::module::load_data(text.as_ptr().cast::<c_void>()) }?;
        let mut functions = HashMap::new();
        for name in FUNCTIONS {
            let word = CString::new(name).map_err(|_| Trouble::Failed(name.to_owned()))?;
            // SAFETY: the module was just loaded and is never unloaded: a device lives as long as the process.
            let function = unsafe { result::module::get_function(module, word) }?;
            if raised(name) {
                let limit = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
                // The functions' own static part counts too.
                let most = (shared - STATIC_SHARED) as i32;
                // SAFETY: a function of this module.
                unsafe { result::function::set_function_attribute(function, limit, most) }?;
            }
            functions.insert(name, function);
        }
        keep_freed_memory(context.cu_device())?;
        let (free, _) = result::mem_get_info()?;
        Ok(Arc::new(Gpu {
            context,
            stream,
            functions,
            multiprocessors: seen.multiprocessors.max(1) as usize,
            fast_f64: matches!(seen.capability, (8..=10, 0)),
            free,
            used: AtomicUsize::new(0),
            stage: Mutex::new(None),
        }))
    }

    /// Makes the device current for this thread: once a call, before anything else.
    pub(crate) fn enter(&self) -> Outcome<()> {
        Ok(self.context.bind_to_thread()?)
    }

    /// Bytes that may still be asked for.
    pub(crate) fn left(&self) -> usize {
        self.free.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    pub(crate) fn stream(&self) -> sys::CUstream {
        self.stream
    }

    /// Waits until all that was asked for is done.
    pub(crate) fn wait(&self) -> Outcome<()> {
        // SAFETY: our own stream.
        Ok(trace::host("waiting", || unsafe { result::stream::synchronize(self.stream) })?)
    }

    /// Starts a function on a grid of blocks.
    ///
    /// # Safety
    /// Arguments are pointers to values of the types that the function takes, in its order, and device pointers among
    /// them hold what it reads and writes until the stream has passed.
    pub(crate) unsafe fn launch(
        &self,
        name: &'static str,
        grid: (usize, usize),
        threads: usize,
        shared: usize,
        arguments: &mut [*mut c_void],
    ) -> Outcome<()> {
        let function = self.functions[name];
        let grid = (grid.0 as u32, grid.1 as u32, 1);
        let from = trace::mark(self.stream);
        // SAFETY: promised by the caller.
        unsafe {
            result::launch_kernel(
                function,
                grid,
                (threads as u32, 1, 1),
                shared as u32,
                self.stream,
                arguments,
            )
        }?;
        trace::launched(name, from, self.stream);
        Ok(())
    }
}

/// Memory that is given back stays with this process: the next call asks for the same.
fn keep_freed_memory(device: sys::CUdevice) -> Outcome<()> {
    let mut keep = u64::MAX;
    // SAFETY: the default pool of a device that was started, and an attribute of eight bytes.
    unsafe {
        let pool = result::device::get_default_mem_pool(device)?;
        result::mem_pool::set_attribute(
            pool,
            sys::CUmemPool_attribute_enum::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
            (&raw mut keep).cast::<c_void>(),
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_driver_everything_says_why() {
        if present() {
            return;
        }
        let found = found();
        assert!(found.devices.is_empty() && found.driver.is_none());
        let why = found.why.expect("a reason");
        assert!(why.contains("libcuda.so.1") && why.contains("LD_LIBRARY_PATH"), "{why}");
        assert_eq!(Gpu::start(0).map(|_| ()), Err(why.clone()));
        assert_eq!(crate::device(crate::Choice::Cuda(3)).map(|_| ()), Err(why));
        assert_eq!(crate::device(crate::Choice::Auto).map(mercer::exec::Device::is_cpu), Ok(true));
    }

    #[test]
    fn the_device_code_was_made_from_these_sources() {
        let sources = [
            include_str!("../kernels/1_map.cu"),
            include_str!("../kernels/2_values.cu"),
            include_str!("../kernels/3_apply.cu"),
            include_str!("../kernels/4_choose.cu"),
            include_str!("../kernels/5_solve.cu"),
            include_str!("../kernels/6_times.cu"),
            include_str!("../kernels/7_linear.cu"),
            include_str!("../kernels/8_factor.cu"),
        ];
        let bytes = sources.iter().flat_map(|text| text.bytes());
        let number =
            bytes.fold(0xcbf2_9ce4_8422_2325_u64, |n, b| (n ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        let first = PTX.lines().next().unwrap_or_default();
        assert!(
            first.ends_with(&format!("{number:016x}")),
            "run `cargo xtask ptx`: {first}, sources {number:016x}"
        );
    }

    /// The limit that is set for them leaves no more than this, or no device would start.
    #[test]
    fn functions_with_much_shared_memory_have_little_of_their_own() {
        for name in FUNCTIONS.iter().filter(|name| raised(name)) {
            let body = PTX.split_once(&format!(".entry {name}(")).expect("an entry").1;
            let body = &body[..body.find(".entry ").unwrap_or(body.len())];
            let own: usize = body
                .lines()
                .filter(|line| line.contains(".shared .align") && line.contains(".b8 "))
                .filter_map(|line| line.rsplit_once('[')?.1.split_once(']')?.0.parse::<usize>().ok())
                .sum();
            assert!(own <= STATIC_SHARED, "{name}: {own} bytes");
        }
    }

    #[test]
    fn the_device_code_has_every_function() {
        for name in FUNCTIONS {
            assert!(PTX.contains(&format!(".entry {name}(")), "{name}");
        }
    }
}
