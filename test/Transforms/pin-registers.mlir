// RUN: nm-opt %s --pass-pipeline="builtin.module(gpu.module(nm-pin-registers))" | FileCheck %s

gpu.module @kernels {
  // Its warps have roles, also inside of branches.
  // CHECK: llvm.func @roles
  // CHECK-SAME: nvvm.minctasm = 1 : i32
  llvm.func @roles(%isProducer: i1) attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 384, 1, 1>} {
    llvm.cond_br %isProducer, ^bb1, ^bb2
  ^bb1:
    nvvm.setmaxregister decrease 40
    llvm.br ^bb2
  ^bb2:
    llvm.return
  }
  // Its lanes load far ahead.
  // CHECK: llvm.func @expands
  // CHECK-SAME: nvvm.minctasm = 1 : i32
  llvm.func @expands(%bits: vector<4xi8>, %place: i32) attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 128, 1, 1>} {
    %next = nvvm.dot.accumulate.4way %bits <unsigned>, %bits <unsigned>, %place : vector<4xi8>, vector<4xi8>
    llvm.return
  }
  // One of its blocks works while another one waits.
  // CHECK: llvm.func @sends
  // CHECK-SAME: nvvm.minctasm = 2 : i32
  llvm.func @sends(%there: !llvm.ptr<7>, %part: i32, %barrier: !llvm.ptr<7>) attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 512, 1, 1>} {
    llvm.inline_asm has_side_effects "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0], $1, [$2];", "l,r,l" %there, %part, %barrier : (!llvm.ptr<7>, i32, !llvm.ptr<7>) -> ()
    llvm.return
  }
  // CHECK: llvm.func @alike
  // CHECK-NOT: nvvm.minctasm
  llvm.func @alike() attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 384, 1, 1>} {
    llvm.return
  }
}
