// Which table answers, and what is said of one that cannot.

// RUN: split-file %s %t
// RUN: nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a schedule-table=%t/given.yaml,%t/second.yaml" --nm-select-gpu-schedule 2>&1 | FileCheck %s --check-prefix=GIVEN
// GIVEN: remark: nm.spmm <2:4>{{.*}}strategy mma_sp{{.*}}; cuBLAS is estimated to take 9.2 us with dense weights; measured 7.5 us beside 9.2 us of cuBLAS, by the table {{.*}}given.yaml; schedule #nm.mma_sp<block = [64, 64, 64]{{.*}}, stages = 3
// GIVEN: module attributes {{.*}}nm.schedule_tables = ["{{.*}}given.yaml", "{{.*}}second.yaml"]
// GIVEN: func.func @exact
// GIVEN: nm.spmm <2:4> schedule #nm.mma_sp<block = [64, 64, 64]
// GIVEN-SAME: source = table

// Layouts do not change under a schedule that was measured, whatever models say.
// RUN: nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a schedule-table=%t/slow.yaml" --nm-propagate-layouts --nm-select-gpu-schedule 2>/dev/null | FileCheck %s --check-prefix=LAYOUT --implicit-check-not=transpose_a
// LAYOUT: nm.spmm <2:4> schedule #nm.mma_sp<block = [64, 64, 64]
// LAYOUT-SAME: source = table

// The second knows what the first does not.
// RUN: nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a schedule-table=%t/empty.yaml,%t/second.yaml" --nm-select-gpu-schedule 2>&1 | FileCheck %s --check-prefix=SECOND
// SECOND: by the table {{.*}}second.yaml; schedule #nm.mma_sp<block = [64, 32, 64]

// No table does: the model, and without tables the same.
// RUN: nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a schedule-table=%t/empty.yaml" --nm-select-gpu-schedule 2>/dev/null | FileCheck %s --check-prefix=MODEL
// RUN: nm-opt %t/product.mlir --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule 2>/dev/null | FileCheck %s --check-prefix=MODEL
// MODEL: source = model

// A schedule that is given asks none.
// RUN: nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a schedule-table=%t/given.yaml" --nm-select-gpu-schedule=schedule=wgmma_sp 2>/dev/null | FileCheck %s --check-prefix=OPTION
// OPTION: nm.spmm <2:4> schedule #nm.wgmma_sp
// OPTION-SAME: source = option

// Of another device, that the chip's model is not of, or that was named.
// RUN: nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a schedule-table=%t/other-device.yaml" --nm-select-gpu-schedule 2>/dev/null | FileCheck %s --check-prefix=MODEL
// RUN: nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a device=H100 schedule-table=%t/other-device.yaml" --nm-select-gpu-schedule 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a device=H100 schedule-table=%t/given.yaml" --nm-select-gpu-schedule 2>/dev/null | FileCheck %s --check-prefix=MODEL
// RUN: nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90 schedule-table=%t/given.yaml" --nm-select-gpu-schedule 2>/dev/null | FileCheck %s --check-prefix=MODEL
// DEVICE: by the table {{.*}}other-device.yaml

// Of other kernels.
// RUN: nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a schedule-table=%t/other-kernels.yaml" --nm-select-gpu-schedule 2>&1 | FileCheck %s --check-prefix=KERNELS
// KERNELS: remark: {{.*}}other-kernels.yaml: 1 measured schedules of NVIDIA H200 are not used: expected kernels of version 1, but got 0
// KERNELS: source = model

// Where the dense product was faster, it takes the sparse one's place.
// RUN: nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a schedule-table=%t/dense.yaml" --nm-select-gpu-schedule 2>&1 | FileCheck %s --check-prefix=DENSE
// DENSE: calls cuBLAS with dense weights, which is faster: 9.5 us by strategy mma_sp{{.*}}measured 9.5 us beside 3.0 us of cuBLAS
// DENSE: nm.spmm <1:1, block = 1x32> schedule #nm.cublas
// DENSE-SAME: source = table{{.*}} dense_us = 3.000000e+00

// What cannot be is an error where it is asked for, by whatever it fails.
// RUN: not nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a schedule-table=%t/unfit.yaml" --nm-select-gpu-schedule 2>&1 | FileCheck %s --check-prefix=UNFIT
// UNFIT: error: 'nm.spmm' op expected a product that can have the schedule #nm.wgmma<block = [64, 64, 64]> of the table {{.*}}unfit.yaml, but {{.+}}
// RUN: not nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a schedule-table=%t/cpu.yaml" --nm-select-gpu-schedule 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: 'nm.spmm' op expected a product that can have the schedule #nm.vector of the table {{.*}}cpu.yaml, but it is of no GPU strategy
// RUN: not nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a schedule-table=%t/garbled.yaml" --nm-select-gpu-schedule 2>&1 | FileCheck %s --check-prefix=GARBLED
// GARBLED: error: 'nm.spmm' op expected a product that can have the schedule #nm.mma_sp<blocks = 7> of the table {{.*}}garbled.yaml, but {{.+}}

// In the user's own it is a warning.
// RUN: nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a schedule-table=cache:%t/unfit.yaml" --nm-select-gpu-schedule 2>&1 | FileCheck %s --check-prefix=WARNING
// WARNING: warning: expected a product that can have the schedule #nm.wgmma<block = [64, 64, 64]> of the table {{.*}}unfit.yaml, but {{.+}}; the cost model chooses
// WARNING: source = model

// A file that is none.
// RUN: not nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a schedule-table=%t/none.yaml" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: {{.*}}none.yaml: cannot be read: No such file or directory
// RUN: not nm-opt %t/product.mlir --nm-attach-chip="chip=sm_90a schedule-table=%t/version.yaml" 2>&1 | FileCheck %s --check-prefix=VERSION
// VERSION: error: {{.*}}version.yaml:{{[0-9]+}}: expected a table of version 1, but got 2

// Products of the bucket, to which the model agrees or not.
// RUN: nm-opt %t/bucket.mlir --nm-attach-chip="chip=sm_90a schedule-table=%t/near.yaml" --nm-select-gpu-schedule 2>/dev/null | FileCheck %s --check-prefix=BUCKET
// RUN: nm-opt %t/bucket.mlir --nm-attach-chip="chip=sm_90a schedule-table=%t/given.yaml" --nm-select-gpu-schedule 2>/dev/null | FileCheck %s --check-prefix=SLOW
// BUCKET-LABEL: func.func @near
// BUCKET: source = table, {{.*}}measured 7.5 us beside 9.2 us of cuBLAS for m = 64, n = 1024, k = 2048
// BUCKET-LABEL: func.func @far
// BUCKET: source = model
// BUCKET-LABEL: func.func @unknown
// BUCKET: source = model
// SLOW-LABEL: func.func @near
// SLOW: source = model

//--- product.mlir
func.func @exact(%a: tensor<64x2048xf16>, %v: tensor<1024x1024xf16> {nm.values_of = 1 : i64}, %i: tensor<1024x1024xi8> {nm.indices_of = 1 : i64}, %c: tensor<64x1024xf16>) -> tensor<64x1024xf16> {
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<64x2048xf16>, tensor<1024x1024xf16>, tensor<1024x1024xi8>)
    outs(%c : tensor<64x1024xf16>) -> tensor<64x1024xf16>
  return %r : tensor<64x1024xf16>
}
//--- bucket.mlir
func.func @near(%a: tensor<48x2048xf16>, %v: tensor<1024x1088xf16> {nm.values_of = 1 : i64}, %i: tensor<1024x1088xi8> {nm.indices_of = 1 : i64}, %c: tensor<48x1088xf16>) -> tensor<48x1088xf16> {
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<48x2048xf16>, tensor<1024x1088xf16>, tensor<1024x1088xi8>)
    outs(%c : tensor<48x1088xf16>) -> tensor<48x1088xf16>
  return %r : tensor<48x1088xf16>
}
func.func @far(%a: tensor<64x2048xf16>, %v: tensor<1024x2048xf16> {nm.values_of = 1 : i64}, %i: tensor<1024x2048xi8> {nm.indices_of = 1 : i64}, %c: tensor<64x2048xf16>) -> tensor<64x2048xf16> {
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<64x2048xf16>, tensor<1024x2048xf16>, tensor<1024x2048xi8>)
    outs(%c : tensor<64x2048xf16>) -> tensor<64x2048xf16>
  return %r : tensor<64x2048xf16>
}
func.func @unknown(%a: tensor<?x2048xf16>, %v: tensor<1024x1024xf16> {nm.values_of = 1 : i64}, %i: tensor<1024x1024xi8> {nm.indices_of = 1 : i64}, %c: tensor<?x1024xf16>) -> tensor<?x1024xf16> {
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<?x2048xf16>, tensor<1024x1024xf16>, tensor<1024x1024xi8>)
    outs(%c : tensor<?x1024xf16>) -> tensor<?x1024xf16>
  return %r : tensor<?x1024xf16>
}
//--- given.yaml
version: 1
kernels: 1
device: { name: NVIDIA H200, chip: sm_90a, units: 132, ghz: 1.98, gb_per_s: 4814 }
entries:
  - product: { m: 64, n: 1024, k: 2048, pattern: '2:4', type: f16, result: f16 }
    schedule: '#nm.mma_sp<block = [64, 64, 64], stages = 3>'
    us: 7.5
    dense_us: 9.25
//--- second.yaml
version: 1
kernels: 1
device: { name: NVIDIA H200, chip: sm_90a, units: 132 }
entries:
  - product: { m: 64, n: 1024, k: 2048, pattern: '2:4', type: f16, result: f16 }
    schedule: '#nm.mma_sp<block = [64, 32, 64], stages = 3>'
    us: 7.5
    dense_us: 9.25
//--- empty.yaml
version: 1
kernels: 1
device: { name: NVIDIA H200, chip: sm_90a, units: 132 }
//--- other-device.yaml
version: 1
kernels: 1
device: { name: H100, chip: sm_90a, units: 132, ghz: 1.98, gb_per_s: 3352 }
entries:
  - product: { m: 64, n: 1024, k: 2048, pattern: '2:4', type: f16, result: f16 }
    schedule: '#nm.mma_sp<block = [64, 32, 64], stages = 3>'
    us: 7.5
    dense_us: 9.25
//--- other-kernels.yaml
version: 1
kernels: 0
device: { name: NVIDIA H200, chip: sm_90a, units: 132 }
entries:
  - product: { m: 64, n: 1024, k: 2048, pattern: '2:4', type: f16, result: f16 }
    schedule: '#nm.mma_sp<block = [64, 32, 64], stages = 3>'
    us: 7.5
//--- dense.yaml
version: 1
kernels: 1
device: { name: NVIDIA H200, chip: sm_90a, units: 132 }
entries:
  - product: { m: 64, n: 1024, k: 2048, pattern: '2:4', type: f16, result: f16 }
    schedule: '#nm.mma_sp<block = [64, 32, 64], stages = 3>'
    us: 9.5
    dense_us: 3
//--- unfit.yaml
version: 1
kernels: 1
device: { name: NVIDIA H200, chip: sm_90a, units: 132 }
entries:
  - product: { m: 64, n: 1024, k: 2048, pattern: '2:4', type: f16, result: f16 }
    schedule: '#nm.wgmma<block = [64, 64, 64]>'
    us: 7.5
//--- cpu.yaml
version: 1
kernels: 1
device: { name: NVIDIA H200, chip: sm_90a, units: 132 }
entries:
  - product: { m: 64, n: 1024, k: 2048, pattern: '2:4', type: f16, result: f16 }
    schedule: '#nm.vector'
    us: 7.5
//--- garbled.yaml
version: 1
kernels: 1
device: { name: NVIDIA H200, chip: sm_90a, units: 132 }
entries:
  - product: { m: 64, n: 1024, k: 2048, pattern: '2:4', type: f16, result: f16 }
    schedule: '#nm.mma_sp<blocks = 7>'
    us: 7.5
//--- version.yaml
version: 2
kernels: 1
shape: something else
//--- near.yaml
version: 1
kernels: 1
device: { name: NVIDIA H200, chip: sm_90a, units: 132 }
entries:
  - product: { m: 64, n: 1024, k: 2048, pattern: '2:4', type: f16, result: f16 }
    schedule: '#nm.wgmma_sp<block = [64, 64, 128], stages = 6>'
    us: 7.5
    dense_us: 9.25
//--- slow.yaml
version: 1
kernels: 1
device: { name: NVIDIA H200, chip: sm_90a, units: 132 }
entries:
  - product: { m: 64, n: 1024, k: 2048, pattern: '2:4', type: f16, result: f16 }
    schedule: '#nm.mma_sp<block = [64, 64, 64], stages = 3>'
    us: 750
    dense_us: 9250
