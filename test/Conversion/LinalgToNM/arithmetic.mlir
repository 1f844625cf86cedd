// RUN: nm-opt %s --convert-linalg-to-nm=dense-products | FileCheck %s --check-prefixes=CHECK,DEFAULT
// RUN: nm-opt %s --convert-linalg-to-nm="dense-products arithmetic=tf32" | FileCheck %s --check-prefixes=CHECK,TF32
// RUN: nm-opt %s --convert-linalg-to-nm="dense-products arithmetic=fast_accum" | FileCheck %s --check-prefixes=CHECK,DEFAULT,FAST
// RUN: not nm-opt %s --convert-linalg-to-nm=arithmetic=f64 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: expected arithmetic f32, ieee, bf16x3, tf32 or fast_accum, but got 'f64'

// What the contraction says holds, whatever the option says.

// CHECK-LABEL: func.func @said
func.func @said(%a: tensor<5x64xf32>, %w: tensor<64x48xf32, #nm.encoding<2:4>>, %c: tensor<5x48xf32>) -> tensor<5x48xf32> {
  // CHECK: nm.spmm <2:4> arithmetic <ieee> ins
  %r = linalg.matmul {nm.arithmetic = #nm.arithmetic<ieee>}
    ins(%a, %w : tensor<5x64xf32>, tensor<64x48xf32, #nm.encoding<2:4>>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %r : tensor<5x48xf32>
}

// The option is for those that say nothing...

// CHECK-LABEL: func.func @unsaid
func.func @unsaid(%a: tensor<64xf32>, %w: tensor<64x48xf32, #nm.encoding<2:4>>, %d: tensor<64x48xf32>, %c: tensor<48xf32>)
    -> (tensor<48xf32>, tensor<48xf32>) {
  // DEFAULT: nm.spmv <2:4> ins
  // TF32: nm.spmv <2:4> arithmetic <tf32> ins
  %r = linalg.vecmat ins(%a, %w : tensor<64xf32>, tensor<64x48xf32, #nm.encoding<2:4>>)
    outs(%c : tensor<48xf32>) -> tensor<48xf32>
  // DEFAULT: nm.spmv <1:1, block = 1x48> ins
  // TF32: nm.spmv <1:1, block = 1x48> arithmetic <tf32> ins
  %s = linalg.vecmat ins(%a, %d : tensor<64xf32>, tensor<64x48xf32>)
    outs(%c : tensor<48xf32>) -> tensor<48xf32>
  return %r, %s : tensor<48xf32>, tensor<48xf32>
}

// ...and of f32.

// CHECK-LABEL: func.func @f16
func.func @f16(%a: tensor<64xf16>, %w: tensor<64x48xf16, #nm.encoding<2:4>>, %c: tensor<48xf32>) -> tensor<48xf32> {
  // CHECK: nm.spmv <2:4> ins
  %r = linalg.vecmat ins(%a, %w : tensor<64xf16>, tensor<64x48xf16, #nm.encoding<2:4>>)
    outs(%c : tensor<48xf32>) -> tensor<48xf32>
  return %r : tensor<48xf32>
}

// That of 8-bit floats is for them.

// CHECK-LABEL: func.func @f8
func.func @f8(%a: tensor<5x64xf8E4M3FN>, %w: tensor<64x48xf8E4M3FN, #nm.encoding<2:4>>, %c: tensor<5x48xf32>) -> tensor<5x48xf32> {
  // DEFAULT-NOT: arithmetic <tf32>
  // FAST: nm.spmm <2:4> arithmetic <fast_accum> ins
  %r = linalg.matmul ins(%a, %w : tensor<5x64xf8E4M3FN>, tensor<64x48xf8E4M3FN, #nm.encoding<2:4>>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %r : tensor<5x48xf32>
}
