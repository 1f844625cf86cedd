// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --convert-kernels-to-sim | FileCheck %s

// Before, after: pointers into shared memory are the block's, accesses ask the
// simulator where to go, instructions are its functions, each with its number
// in the table.

module attributes {gpu.container_module} {
// CHECK: llvm.func @nmSimBarrier(!llvm.ptr, i32, i32, i32)
// CHECK: llvm.func @nmSimAccess(!llvm.ptr, i32, !llvm.ptr) -> !llvm.ptr
gpu.module @kernels {
  llvm.mlir.global internal @buffer() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<128 x f32>
  llvm.mlir.global internal @more() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @double_exponential(%x: f32) -> f32 {
    %0 = llvm.call @__nv_expf(%x) : (f32) -> f32
    %1 = llvm.fadd %0, %0 : f32
    llvm.return %1 : f32
  }
  llvm.func @reverse(%allocated: !llvm.ptr, %x: !llvm.ptr, %offset: i64, %size: i64, %stride: i64) attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 128, 1, 1>} {
    %last = llvm.mlir.constant(127 : i32) : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    nvvm.griddepcontrol wait
    %from = llvm.getelementptr %x[%thread] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %value = llvm.load %from : !llvm.ptr -> f32
    %power = llvm.call @double_exponential(%value) : (f32) -> f32
    %buffer = llvm.mlir.addressof @buffer : !llvm.ptr<3>
    %slot = llvm.getelementptr %buffer[%thread] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.store %power, %slot {alignment = 4 : i64} : f32, !llvm.ptr<3>
    nvvm.barrier0
    %other = llvm.sub %last, %thread : i32
    %there = llvm.getelementptr %buffer[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %read = llvm.load %there : !llvm.ptr<3> -> f32
    %kept = llvm.inline_asm has_side_effects "", "=f,0" %read : (f32) -> f32
    %shuffled = nvvm.shfl.sync bfly %all, %kept, %one, %last : f32 -> f32
    llvm.store %shuffled, %from : f32, !llvm.ptr
    %matrices = nvvm.ldmatrix %slot {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
    %third = llvm.extractvalue %matrices[2] : !llvm.struct<(i32, i32, i32, i32)>
    llvm.store %third, %from : i32, !llvm.ptr
    %transposed = llvm.inline_asm has_side_effects "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r" %third : (i32) -> i32
    llvm.store %transposed, %from : i32, !llvm.ptr
    %dynamic = llvm.mlir.addressof @more : !llvm.ptr<3>
    %global = llvm.addrspacecast %from : !llvm.ptr to !llvm.ptr<1>
    nvvm.cp.async.shared.global %dynamic, %global, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    llvm.return
  }
}

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[MEMREF:.*]]: memref<128xf32>
// CHECK: %[[DESCRIPTOR:.*]] = builtin.unrealized_conversion_cast %[[MEMREF]] : memref<128xf32> to !llvm.struct
// CHECK: %[[KERNEL:.*]] = llvm.mlir.addressof @kernels.reverse.kernel
// CHECK: llvm.call @nmSimLaunch(%[[KERNEL]], %{{.*}})
// CHECK-NOT: gpu.launch_func
func.func @main(%x: memref<128xf32>) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %bytes = arith.constant 2048 : i32
  gpu.launch_func @kernels::@reverse blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %bytes args(%x : memref<128xf32>)
  return
}
}

// CHECK-NOT: gpu.module
// CHECK-LABEL: llvm.func internal @kernels.double_exponential
// CHECK-SAME: (%{{.*}}: !llvm.ptr, %[[ARGUMENT:.*]]: f32)
// CHECK: llvm.call @expf(%[[ARGUMENT]])
// CHECK-LABEL: llvm.func internal @kernels.reverse
// CHECK-SAME: (%[[THREAD:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[X:.*]]: !llvm.ptr
// CHECK: %[[ID:.*]] = llvm.call @nmSimReadRegister(%[[THREAD]], %{{.*}}, %{{.*}}) : (!llvm.ptr, i32, i32) -> i32
// CHECK-NEXT: llvm.mlir.constant
// CHECK-NEXT: llvm.call @nmSimFence(%[[THREAD]]
// CHECK: %[[FROM:.*]] = llvm.getelementptr %[[X]][%[[ID]]]
// CHECK: %[[AT:.*]] = llvm.call @nmSimAccess(%[[THREAD]], %{{.*}}, %[[FROM]])
// CHECK: %[[VALUE:.*]] = llvm.load %[[AT]] {alignment = 1 : i64} : !llvm.ptr -> f32
// CHECK: %[[POWER:.*]] = llvm.call @kernels.double_exponential(%[[THREAD]], %[[VALUE]])
// CHECK: %[[BUFFER:.*]] = llvm.call @nmSimStaticShared
// CHECK: %[[SLOT:.*]] = llvm.getelementptr %[[BUFFER]][%[[ID]]]
// CHECK: %[[TO:.*]] = llvm.call @nmSimAccess(%[[THREAD]], %{{.*}}, %[[SLOT]])
// CHECK: llvm.store %[[POWER]], %[[TO]] {alignment = 1 : i64} : f32, !llvm.ptr
// CHECK: llvm.call @nmSimBarrier
// CHECK-NOT: llvm.inline_asm
// CHECK: %[[SHUFFLE:.*]] = llvm.mlir.addressof @nmSimShuffle
// CHECK: llvm.call @nmSimCollective(%[[THREAD]], %{{.*}}, %{{.*}}, %{{.*}}, %[[SHUFFLE]], %{{.*}}, %{{.*}})
// CHECK: %[[ROW:.*]] = llvm.call @nmSimAccessOfLanes(%[[THREAD]], %{{.*}}, %[[SLOT]], %{{.*}})
// CHECK: llvm.store %[[ROW]], %[[OPERANDS:.*]] : !llvm.ptr, !llvm.ptr
// CHECK: %[[MATRICES:.*]] = llvm.mlir.addressof @nmSimLoadMatrices
// CHECK: llvm.call @nmSimCollective(%[[THREAD]], %{{.*}}, %{{.*}}, %{{.*}}, %[[MATRICES]], %{{.*}}, %{{.*}})
// CHECK: %[[TRANSPOSE:.*]] = llvm.mlir.addressof @nmSimTransposeMatrix
// CHECK: llvm.call @nmSimCollective(%[[THREAD]], %{{.*}}, %{{.*}}, %{{.*}}, %[[TRANSPOSE]], %{{.*}}, %{{.*}})
// CHECK: %[[DYNAMIC:.*]] = llvm.call @nmSimDynamicShared
// CHECK: llvm.call @nmSimCopyAsync(%[[THREAD]], %{{.*}}, %[[DYNAMIC]], %[[FROM]], %{{.*}})
// CHECK: llvm.call @nmSimCommitCopies
// CHECK: llvm.call @nmSimWaitForCopies
// CHECK: llvm.mlir.global internal constant @kernels.sites
// CHECK: llvm.mlir.global internal constant @kernels.text
// CHECK-SAME: llvm.load\00{{.*}}convert-kernels-to-sim.mlir:
// CHECK: llvm.func internal @kernels.reverse.entry(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK: llvm.mlir.global internal constant @kernels.reverse.kernel
