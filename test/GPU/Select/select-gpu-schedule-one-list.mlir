// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-propagate-layouts --nm-select-gpu-schedule 2>%t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.log

// Groups of 8-bit operands are compared with operands that are widened, too,
// not only with 8-bit products of the windows as they are.
// REMARK: k = 4096, f8E5M2: strategy wgmma_sp {{.*}}windows of 4:6 along k = 3072 are taken to be groups of four rows that overlap
// CHECK-LABEL: func.func @bytes
// CHECK-NOT: arith.extf
// CHECK: nm.spmm <2:4> schedule #nm.wgmma_sp<
func.func @bytes(%a: tensor<16x3072xf8E5M2>, %v: tensor<2048x11008xf8E5M2> {nm.values_of = 1 : i64}, %i: tensor<2048x11008xi8> {nm.indices_of = 1 : i64}, %c: tensor<16x11008xf32>) -> tensor<16x11008xf32> {
  %r = nm.spmm <4:6> arithmetic <fast_accum> ins(%a, %v, %i : tensor<16x3072xf8E5M2>, tensor<2048x11008xf8E5M2>, tensor<2048x11008xi8>) outs(%c : tensor<16x11008xf32>) -> tensor<16x11008xf32>
  return %r : tensor<16x11008xf32>
}
