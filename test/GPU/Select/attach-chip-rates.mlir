// What was measured of a device stands in for what the chip's models know.

// RUN: split-file %s %t
// RUN: nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a device=Mine schedule-table=%t/mine.yaml" | FileCheck %s --check-prefix=MINE
// MINE: nm.rates = {barrier = 9.000000e+01 : f64, early_launch = 7.500000e-01 : f64, gb_per_s = 2.039000e+03 : f64, ghz = 1.750000e+00 : f64, latency = 1.300000e+03 : f64, launch = 2.250000e+00 : f64, loaded_clock = 8.500000e-01 : f64, mma = 2.000000e+03 : f64, multiprocessors = 1.140000e+02 : f64, reached_memory = 9.000000e-01 : f64, received = 4.000000e+01 : f64, shared = 1.200000e+02 : f64, start = 2.400000e+03 : f64, stored = 2.000000e+01 : f64, tensor = 4.000000e+03 : f64}

// Of another device, and of one that no device was named of and whose memory is
// not the chip's, none is taken.
// RUN: nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a device=Other schedule-table=%t/mine.yaml" | FileCheck %s --check-prefix=NONE
// RUN: nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a schedule-table=%t/mine.yaml" | FileCheck %s --check-prefix=NONE
// NONE-NOT: nm.rates

// Memory of less than half the rate makes the same product slower by the model.
// RUN: nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a device=Mine schedule-table=%t/mine.yaml" --nm-select-gpu-schedule 2>&1 | FileCheck %s --check-prefix=SLOW
// RUN: nm-opt %t/product.mlir --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule 2>&1 | FileCheck %s --check-prefix=FAST
// SLOW: at least 0.3 us of multiplications and 9.4 us of memory
// FAST: at least 0.3 us of multiplications and 4.0 us of memory

// A dictionary that is none.
// RUN: not nm-opt %t/wrong.mlir 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: {{.*}}nm.rates{{.*}} a dictionary of a GPU's rates, each above 0

//--- product.mlir
func.func @f(%a: tensor<16x4096xf16>, %v: tensor<2048x4096xf16> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<16x4096xf32>) -> tensor<16x4096xf32> {
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<16x4096xf16>, tensor<2048x4096xf16>, tensor<2048x4096xi8>)
    outs(%c : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  return %r : tensor<16x4096xf32>
}
//--- wrong.mlir
module attributes {nm.rates = {tensor = 1.0 : f64}} {}
//--- mine.yaml
version: 1
kernels: 1
device: { name: Mine, chip: sm_90a, units: 114, ghz: 1.75, gb_per_s: 2039 }
rates:
  tensor: 4000
  mma: 2000
  shared: 120
  received: 40
  stored: 20
  launch: 2.25
  early_launch: 0.75
  start: 2400
  barrier: 90
  latency: 1300
  loaded_clock: 0.85
  reached_memory: 0.9
