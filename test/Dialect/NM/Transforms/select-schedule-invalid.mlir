// RUN: nm-opt %s --nm-select-schedule=features=+avx512f --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-select-schedule --split-input-file 2>/dev/null
// RUN: not nm-opt %s --nm-select-schedule=schedule=simt 2>&1 | FileCheck %s --check-prefix=STRATEGY
// RUN: not nm-opt %s --nm-select-schedule=threads=-1 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not nm-opt %s --nm-select-schedule=features=avx2,,fma 2>&1 | FileCheck %s --check-prefix=FEATURES
// RUN: not nm-opt %s --nm-select-schedule="schedule=vector<block=[0,1,1]>" 2>&1 | FileCheck %s --check-prefix=BLOCK
// STRATEGY: error: expected a schedule of strategy vector, amx or loops on the cpu, but got #nm.simt
// THREADS: error: expected a number of threads of at least 0, but got -1
// FEATURES: error: expected features separated by commas, such as +avx2,+fma, but got 'avx2,,fma'
// BLOCK: error: expected sizes in 'block' to be in 1..1099511627776, but got 0

func.func @element_type(%x: tensor<64xf8E4M3FN>, %v: tensor<32x48xf8E4M3FN>, %i: tensor<32x48xi8>, %y: tensor<48xf32>) -> tensor<48xf32> {
  // expected-error @+1 {{expected operands of element type f32, f16, bf16 or i8 on the cpu, but got 'f8E4M3FN'}}
  %r = nm.spmv <2:4> ins(%x, %v, %i : tensor<64xf8E4M3FN>, tensor<32x48xf8E4M3FN>, tensor<32x48xi8>) outs(%y : tensor<48xf32>) -> tensor<48xf32>
  return %r : tensor<48xf32>
}

// -----

func.func @strategy(%x: tensor<64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %y: tensor<48xf32>) -> tensor<48xf32> {
  // expected-error @+1 {{expected a schedule of strategy vector, amx or loops on the cpu, but got simt}}
  %r = nm.spmv <2:4> schedule #nm.simt ins(%x, %v, %i : tensor<64xf32>, tensor<32x48xf32>, tensor<32x48xi8>) outs(%y : tensor<48xf32>) -> tensor<48xf32>
  return %r : tensor<48xf32>
}

// -----

func.func @thread_tile(%x: tensor<64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %y: tensor<48xf32>) -> tensor<48xf32> {
  // expected-error @+1 {{expected the schedule's thread tile to fit in 32 registers of 16 lanes, but got 1x528}}
  %r = nm.spmv <2:4> schedule #nm.vector<thread = [1, 528]> ins(%x, %v, %i : tensor<64xf32>, tensor<32x48xf32>, tensor<32x48xi8>) outs(%y : tensor<48xf32>) -> tensor<48xf32>
  return %r : tensor<48xf32>
}

// -----

func.func @packing(%x: tensor<64xf32>, %v: tensor<3x32x16xf32>, %i: tensor<3x32x4xi8>, %y: tensor<48xf32>) -> tensor<48xf32> {
  // expected-error @+1 {{expected a schedule with the packing #nm.packing<panel = 16, index_bits = 2> that the weights have, but got #nm.packing<panel = 8, index_bits = 2>}}
  %r = nm.spmv <2:4> packing #nm.packing<panel = 16, index_bits = 2> schedule #nm.vector<packing = <panel = 8, index_bits = 2>>
    ins(%x, %v, %i : tensor<64xf32>, tensor<3x32x16xf32>, tensor<3x32x4xi8>) outs(%y : tensor<48xf32>) -> tensor<48xf32>
  return %r : tensor<48xf32>
}
