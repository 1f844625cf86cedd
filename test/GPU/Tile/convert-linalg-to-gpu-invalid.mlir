// RUN: nm-opt %s --convert-linalg-to-gpu --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --convert-linalg-to-gpu --split-input-file

func.func @host_access(%x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'memref.load' op runs on the host, but its memory is the GPU's}}
  %v = memref.load %x[%c0] : memref<4xf32>
  %i = arith.fptosi %v : f32 to i32
  return
}

// -----

func.func @format_op(%w: memref<64x64xf32>, %v: memref<32x64xf32>, %i: memref<32x64xi8>) {
  // expected-error @+1 {{'nm.compress' op runs on the host, but its memory is the GPU's}}
  nm.compress <2:4> ins(%w : memref<64x64xf32>) outs(%v, %i : memref<32x64xf32>, memref<32x64xi8>)
  return
}

// -----

func.func @reducing_loop(%x: memref<4xf32>, %y: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expected a parallel loop without results on a GPU}}
  %r = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init (%zero) -> f32 {
    %v = memref.load %x[%i] : memref<4xf32>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return
}

// -----

func.func @on_tensors(%a: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{expected operands to be memrefs, which bufferization makes of tensors}}
  %r = linalg.exp ins(%a : tensor<3x4xf32>) outs(%a : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// -----

func.func @loop_on_tensors(%c: tensor<32xf32>) -> tensor<32xf32> {
  // expected-error @+1 {{expected no results, which bufferization removes, but got 1}}
  %r = scf.forall (%m) in (32) shared_outs(%o = %c) -> tensor<32xf32> {
    %s = tensor.extract_slice %o[%m] [1] [1] : tensor<32xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%m] [1] [1] : tensor<1xf32> into tensor<32xf32>
    }
  }
  return %r : tensor<32xf32>
}
