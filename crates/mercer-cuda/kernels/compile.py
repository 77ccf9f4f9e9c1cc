"""Compiles the device code to PTX with NVRTC. Called by `cargo xtask ptx`; needs no device."""
import ctypes
import glob
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
source = "".join(open(path, encoding="utf-8").read() for path in sorted(glob.glob(os.path.join(here, "*.cu"))))
[library] = [p for d in sys.path for p in glob.glob(os.path.join(d, "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"))]
nvrtc = ctypes.CDLL(library)
program = ctypes.c_void_p()
assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"mercer.cu", 0, None, None) == 0
options = [b"--gpu-architecture=compute_80", b"--std=c++17"]
failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
size = ctypes.c_size_t()
if failed:
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    sys.exit(log.value.decode())
nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
text = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetPTX(program, text)
# The crate's tests compare this number with that of the sources (FNV-1a, 64 bits).
number = 0xCBF29CE484222325
for byte in source.encode():
    number = (number ^ byte) * 0x100000001B3 % 2**64
with open(os.path.join(here, "mercer.ptx"), "w", encoding="utf-8") as out:
    out.write(f"// Made from kernels/*.cu by `cargo xtask ptx`. Sources: {number:016x}\n")
    out.write(text.value.decode())
