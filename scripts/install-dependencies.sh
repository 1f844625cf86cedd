#!/usr/bin/env bash
# Installs what building, testing and the examples need and is not there yet:
# Debian packages, and a Python environment in build/venv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=(
  cmake ninja-build g++ git
  clang-22 clang-format-22 clang-tidy-22 lld-22 liblld-22-dev
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  libopenblas-dev libgtest-dev nlohmann-json3-dev
  libzstd-dev zlib1g-dev
  python3 python3-venv shellcheck
)
# Optional, for other processors (scripts/build-runtime, and the tests cross-*, which are
# skipped without them): qemu-user-static, and for aarch64 libc6-dev-arm64-cross and
# libstdc++-12-dev-arm64-cross, for riscv64 the same with riscv64 in place of arm64.

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done

if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "error: expected to be root or to find sudo; as root, run:" >&2
      echo "  apt-get update && apt-get install ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "== Installing ${#missing[@]} packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}"
fi

# Debian's interpreter by its path: another python3 that comes first on PATH
# need not have venv.
if ! build/venv/bin/python3 -c 'import auditwheel, build, ml_dtypes, numpy, pytest, threadpoolctl' 2>/dev/null; then
  echo "== Making the Python environment build/venv"
  /usr/bin/python3 -m venv --clear build/venv
  build/venv/bin/pip install -q --disable-pip-version-check \
    -r scripts/requirements.txt
fi
