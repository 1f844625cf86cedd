"""Configuration of the lit tests."""

import os
import platform
import subprocess

import lit.formats
import lit.util
from lit.llvm import llvm_config

config.name = "NM"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["CMakeLists.txt", "Inputs", "Unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.nm_test_exec_root

llvm_config.with_system_environment(["HOME", "TMP", "TEMP"])
llvm_config.use_default_substitutions()
llvm_config.with_environment("PATH", config.nm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
# A variable defined in one function's checks must not match in another's.
llvm_config.with_environment("FILECHECK_OPTS", "-enable-var-scope --allow-unused-prefixes=false")

config.substitutions.append(("%python", config.python_executable))
config.substitutions.append(("%nm_source_dir", config.nm_source_dir))
config.substitutions.append(("%nm_lib_dir", config.nm_lib_dir))
config.substitutions.append(("%nm_tools_dir", config.nm_tools_dir))

config.substitutions.append(("%mlir_lib_dir", os.path.join(config.llvm_tools_dir, "../lib")))

# Upstream's tools, which load our libraries, are not built with the sanitizer of
# these.
if config.nm_sanitizer_runtime:
    config.substitutions.append((
        r"(?<![-\w/.])mlir-runner(?![-\w.])",
        f"env LD_PRELOAD={config.nm_sanitizer_runtime} mlir-runner"))

# Processors whose features tests name.
config.available_features.add(platform.machine())

# Code for tiles of bf16, or of i8 too, runs where the processor has them.
if os.path.exists("/proc/cpuinfo"):
    with open("/proc/cpuinfo") as cpuinfo:
        flags = set(cpuinfo.read().split())
        if {"amx_tile", "amx_bf16", "avx512bw"} <= flags:
            config.available_features.add("amx")
            if "amx_int8" in flags:
                config.available_features.add("amx-int8")
        # Of AMD's, vectors that choose bytes.
        if {"avx512vbmi", "avx512_vnni", "avx512_bf16", "avx512bw", "sse4a"} <= flags:
            config.available_features.add("words-of-lanes")

# Kernels are assembled where the CUDA toolkit is found.
toolkit = os.environ.get("CUDA_HOME", "/usr/local/cuda")
ptxas = lit.util.which("ptxas", os.path.join(toolkit, "bin") + os.pathsep + os.environ["PATH"])
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))

# Programs may be given the same addresses each time, which containers can forbid.
setarch = lit.util.which("setarch", os.environ["PATH"])
if setarch and subprocess.run([setarch, "-R", "true"], check=False).returncode == 0:
    config.available_features.add("fixed-addresses")

# Kernels of the runtime's own are compiled again where clang is of our LLVM.
clang = os.path.join(config.llvm_tools_dir, "clang")
if os.path.exists(clang):
    config.available_features.add("clang")
    config.substitutions.append(("%clang", clang))
