// LLVM leaves the loop over three windows as it is. Unrolled whole, its 24
// kept rows of two vectors would be loaded in front of the loop over columns,
// and go by the stack.

// RUN: nm-compile %s --target=cpu:x86_64 --mcpu=skylake-avx512 --emit=llvm -o - 2>/dev/null | FileCheck %s
// RUN: nm-run %s --random --check

// CHECK-LABEL: @product
// CHECK: br i1 {{.*}}!llvm.loop ![[LOOP:[0-9]+]]
// CHECK: ![[LOOP]] = distinct !{![[LOOP]], ![[UNROLL:[0-9]+]]}
// CHECK: ![[UNROLL]] = !{!"llvm.loop.unroll.disable"}

func.func @product(%a: tensor<64x96xf32>, %b: tensor<96x64xf32, #nm.encoding<8:32, block = 1x32>>)
    -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = linalg.matmul ins(%a, %b : tensor<64x96xf32>, tensor<96x64xf32, #nm.encoding<8:32, block = 1x32>>)
                     outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
