// RUN: nm-opt %s --nm-pad-rows --nm-call-cublas --canonicalize | FileCheck %s

// cuBLAS takes rows of a temporary that are padded, here from 77 elements to 128.
// CHECK-LABEL: func @padded
// CHECK: memref.alloc() : memref<64x128xf16>
// CHECK: call @nmCublasMultiply(%c77, %c128, %c64, {{.*}}, %c128, %c128, %c128, %c0, %c0, %c1, %c0,
func.func @padded(%x: memref<64x77xf16>, %b: memref<64x128xf16>, %i: memref<64x4xi8>, %c: memref<77x128xf16>) {
  %a = memref.alloc() : memref<64x77xf16>
  memref.copy %x, %a : memref<64x77xf16> to memref<64x77xf16>
  nm.spmm <32:32, block = 1x32> transpose_a schedule #nm.cublas<pad_a = 64> ins(%a, %b, %i : memref<64x77xf16>, memref<64x128xf16>, memref<64x4xi8>) outs(%c : memref<77x128xf16>)
  memref.dealloc %a : memref<64x77xf16>
  return
}
