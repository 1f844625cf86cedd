// Which table answers on a CPU, and what is said of one that cannot.

// RUN: split-file %s %t
// RUN: nm-opt %t/product.mlir --nm-select-schedule="device=here threads=2 features=avx512f,fma schedule-table=%t/given.yaml" 2>&1 | FileCheck %s --check-prefix=GIVEN
// GIVEN: remark: nm.spmm <2:4>{{.*}}strategy vector{{.*}}; measured 50.0 us beside 90.0 us of a dense BLAS, by the table {{.*}}given.yaml; schedule #nm.vector<block = [32, 32, 64], thread = [32, 2]
// GIVEN: nm.spmm <2:4> schedule #nm.vector<block = [32, 32, 64], thread = [32, 2]
// GIVEN-SAME: source = table

// Another processor, another number of threads, a schedule that is given, and no
// table: the model, or the option.
// RUN: nm-opt %t/product.mlir --nm-select-schedule="device=there threads=2 features=avx512f,fma schedule-table=%t/given.yaml" 2>/dev/null | FileCheck %s --check-prefix=MODEL
// RUN: nm-opt %t/product.mlir --nm-select-schedule="device=here threads=4 features=avx512f,fma schedule-table=%t/given.yaml" 2>/dev/null | FileCheck %s --check-prefix=MODEL
// RUN: nm-opt %t/product.mlir --nm-select-schedule="device=here threads=2 features=avx512f,fma" 2>/dev/null | FileCheck %s --check-prefix=MODEL
// RUN: nm-opt %t/product.mlir --nm-select-schedule="device=here threads=2 features=avx512f,fma schedule=vector schedule-table=%t/given.yaml" 2>/dev/null | FileCheck %s --check-prefix=OPTION
// MODEL: source = model
// OPTION: source = option

// RUN: not nm-opt %t/product.mlir --nm-select-schedule="device=here threads=2 features=avx512f,fma schedule-table=%t/unfit.yaml" 2>&1 | FileCheck %s --check-prefix=UNFIT
// UNFIT: error: 'nm.spmm' op expected a product that can have the schedule #nm.vector<block = [64, 64, 64], thread = [64, 64]> of the table {{.*}}unfit.yaml, but {{.*}}expected the schedule's thread tile to fit in 32 registers
// RUN: nm-opt %t/product.mlir --nm-select-schedule="device=here threads=2 features=avx512f,fma schedule-table=cache:%t/unfit.yaml" 2>&1 | FileCheck %s --check-prefix=WARNING
// WARNING: warning: expected a product that can have the schedule
// WARNING: source = model
// RUN: not nm-opt %t/product.mlir --nm-select-schedule="device=here threads=2 features=avx512f,fma schedule-table=%t/gpu.yaml" 2>&1 | FileCheck %s --check-prefix=GPU
// GPU: error: 'nm.spmm' op expected a product that can have the schedule #nm.simt of the table {{.*}}gpu.yaml, but it is of no strategy of a CPU
// RUN: not nm-opt %t/product.mlir --nm-select-schedule="schedule-table=%t/none.yaml" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: {{.*}}none.yaml: cannot be read: No such file or directory

// With one order of sums for all numbers of rows no table is asked, and no
// dense weights take the sparse ones' place.
// RUN: nm-opt %t/product.mlir --nm-select-schedule="batch-invariant device=here threads=2 features=avx512f,fma schedule-table=%t/given.yaml" 2>/dev/null | FileCheck %s --check-prefix=ROWS
// ROWS: nm.spmm <2:4> schedule #nm.vector<{{.*}}thread = [1, 64]

//--- product.mlir
func.func @exact(%a: tensor<64x128xf32>, %v: tensor<64x96xf32> {nm.values_of = 1 : i64}, %i: tensor<64x96xi8> {nm.indices_of = 1 : i64}, %c: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<64x128xf32>, tensor<64x96xf32>, tensor<64x96xi8>)
    outs(%c : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %r : tensor<64x96xf32>
}
//--- given.yaml
version: 1
kernels: 1
device: { name: here, chip: cpu, units: 2 }
entries:
  - product: { m: 64, n: 96, k: 128, pattern: '2:4', type: f32, result: f32 }
    schedule: '#nm.vector<block = [32, 32, 64], thread = [32, 2]>'
    us: 50
    dense_us: 90
//--- unfit.yaml
version: 1
kernels: 1
device: { name: here, chip: cpu, units: 2 }
entries:
  - product: { m: 64, n: 96, k: 128, pattern: '2:4', type: f32, result: f32 }
    schedule: '#nm.vector<block = [64, 64, 64], thread = [64, 64]>'
    us: 50
//--- gpu.yaml
version: 1
kernels: 1
device: { name: here, chip: cpu, units: 2 }
entries:
  - product: { m: 64, n: 96, k: 128, pattern: '2:4', type: f32, result: f32 }
    schedule: '#nm.simt'
    us: 50
