"""Compilations with scripts in the compilers' places: what is read from output, what is cached, what is missing."""

import os
import stat

import pytest
from hetero_opencl.estimate.compilers.compilation import compile_program, compile_spirv
from hetero_opencl.estimate.compilers.resources import KernelResources

from hetero.system.errors import ConfigError

# The description in a binary for Intel's GPUs, with what surrounds it there.
DESCRIPTION = """\
version:         '1.20'
kernels:
  - name:            gemm
    execution_env:
      grf_count:       128
      simd_size:       8
      slm_size:        4096
    per_thread_memory_buffers:
      - type:            scratch
        usage:           spill_fill_space
        size:            8192
      - type:            global
        usage:           private_space
        size:            576
        is_simt_thread:  true
  - name:            copy
    execution_env:
      grf_count:       128
      simd_size:       32
kernels_misc_info:
  - name:            gemm
...
"""
OCLOC = f"""\
printf '\\001\\000' > program
cat >> program <<'END'
{DESCRIPTION}END
printf '\\000\\002' >> program
echo "warning: kernel gemm  compiled SIMD8 allocated 128 regs and spilled around 168"
echo "Build succeeded."
"""
PTXAS = """\
cat >&2 <<'END'
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'gemm' for 'sm_80'
ptxas info    : Function properties for gemm
    624 bytes stack frame, 40 bytes spill stores, 48 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 256 bytes smem, 372 bytes cmem[0]
ptxas info    : Compiling entry function 'copy' for 'sm_80'
ptxas info    : Function properties for copy
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 23 registers, used 0 barriers, 372 bytes cmem[0]
END
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that makes a script the program of a name; each run of it adds a line to the file ``runs``."""
    folder = tmp_path / "usr/bin"
    folder.mkdir(parents=True)
    (tmp_path / "usr/lib/clc").mkdir(parents=True)
    (tmp_path / "usr/lib/x86_64-linux-gnu").mkdir()
    for file in ("clc/nvptx64--nvidiacl.bc", "x86_64-linux-gnu/libigc.so.1"):
        (tmp_path / "usr/lib" / file).touch()
    monkeypatch.setenv("HETERO_GPU_TOOLS", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def make(name, body):
        (folder / name).write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/runs\n{body}")
        (folder / name).chmod(stat.S_IRWXU)

    return make


@pytest.fixture
def runs(tmp_path):
    file = tmp_path / "runs"
    return lambda: file.read_text().split() if file.exists() else []


def test_intel(install):
    install("ocloc", OCLOC)
    assert compile_program("text", "dg2").kernels == {
        # 8192 bytes for the 8 work-items of a hardware thread, and 576 for each.
        "gemm": KernelResources(
            registers=128, spilled_registers=168, scratch_bytes=1024 + 576, local_bytes=4096, wave_width=8
        ),
        "copy": KernelResources(registers=128, spilled_registers=0, scratch_bytes=0, local_bytes=0, wave_width=32),
    }


def test_nvidia(install):
    install("clang-19", "")
    install("ptxas", PTXAS)
    assert compile_program("text", "sm_80").kernels == {
        "gemm": KernelResources(registers=255, spilled_registers=10, scratch_bytes=624, local_bytes=256, wave_width=32),
        "copy": KernelResources(registers=23, spilled_registers=0, scratch_bytes=0, local_bytes=0, wave_width=32),
    }


def test_errors(install, runs):
    """The error is what the first tool that fails says, from its first error on; it is cached, too."""
    install("clang-15", "")
    install("llvm-spirv-15", "echo a warning; echo 'error: no such type' >&2; exit 1")
    install("spirv-val", "")
    for _ in range(2):
        assert compile_spirv("text").error == "error: no such type"
    assert runs() == ["clang-15", "llvm-spirv-15"]


def test_a_compilation_is_repeated_only_if_something_changed(install, runs, tmp_path):
    install("ocloc", OCLOC)
    first = compile_program("text", "dg2")
    assert compile_program("text", "dg2") == first
    assert len(runs()) == 1
    compile_program("other text", "dg2")
    compile_program("text", "skl")
    assert len(runs()) == 3
    for number, file in enumerate(("bin/ocloc", "lib/x86_64-linux-gnu/libigc.so.1"), 4):
        os.utime(tmp_path / "usr" / file, (0, 0))
        compile_program("text", "dg2")
        assert len(runs()) == number


@pytest.mark.parametrize(("target", "tool"), [("dg2", "ocloc"), ("sm_80", "clang-19"), ("gfx1100", "clang-19")])
def test_missing_tools(target, tool, tmp_path, monkeypatch):
    monkeypatch.setenv("HETERO_GPU_TOOLS", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(
        ConfigError, match=rf"^{tool} is not found in .*usr/bin nor on PATH: install .* HETERO_GPU_TOOLS"
    ):
        compile_program("text", target)


def test_missing_libraries(install):
    install("clang-19", "")
    install("llvm-nm-19", "")
    install("llvm-readelf-19", "")
    with pytest.raises(ConfigError, match="^ocml.bc is not found at .*: install rocm-device-libs"):
        compile_program("text", "gfx1100")
