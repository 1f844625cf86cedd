// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --convert-kernels-to-sim | FileCheck %s

// The instructions of kernels whose warps have roles: as ops, and as inline PTX.

gpu.module @kernels {
  // CHECK-LABEL: llvm.func internal @kernels.ops
  // CHECK-SAME: (%[[THREAD:[a-z0-9]+]]: !llvm.ptr, %[[LOW:.*]]: i32, %[[HIGH:.*]]: i32, %[[SELECTOR:.*]]: i32, %[[SHARED:.*]]: !llvm.ptr, %[[GLOBAL:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr)
  llvm.func @ops(%low: i32, %high: i32, %selector: i32, %shared: !llvm.ptr<3>, %global: !llvm.ptr<1>, %map: !llvm.ptr) attributes {nvvm.kernel} {
    // CHECK: %[[C216:.*]] = llvm.mlir.constant(216 : i32)
    // CHECK: llvm.call @nmSimSetRegisters(%[[THREAD]], %{{.*}}, %[[C216]])
    nvvm.setmaxregister increase 216
    // CHECK: llvm.call @nmSimArriveBarrier(%[[THREAD]], %{{.*}}, %[[LOW]], %[[HIGH]])
    nvvm.barrier.arrive id = %low number_of_threads = %high
    // CHECK: llvm.mlir.addressof @nmSimElect
    %elected = nvvm.elect.sync -> i1
    // CHECK: llvm.call @nmSimPermute(%[[THREAD]], %{{.*}}, %[[LOW]], %[[HIGH]], %[[SELECTOR]])
    %bytes = nvvm.prmt #nvvm.permute_mode<default> %selector, %low, %high : i32
    // CHECK: %[[YES:.*]] = llvm.mlir.constant(1 : i32)
    // CHECK: llvm.call @nmSimFenceProxies(%[[THREAD]], %{{.*}}, %[[YES]])
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    // CHECK: %[[NO:.*]] = llvm.mlir.constant(0 : i32)
    // CHECK: llvm.call @nmSimFenceProxies(%[[THREAD]], %{{.*}}, %[[NO]])
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>}
    // CHECK: llvm.call @nmSimStoreBulk(%[[THREAD]], %{{.*}}, %[[GLOBAL]], %[[SHARED]], %[[LOW]])
    nvvm.cp.async.bulk.global.shared.cta %global, %shared, %low : !llvm.ptr<1>, !llvm.ptr<3>
    // CHECK: %[[RANK:.*]] = llvm.mlir.constant(2 : i32)
    // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
    // CHECK: llvm.call @nmSimLoadTensor(%[[THREAD]], %{{.*}}, %[[SHARED]], %[[MAP:.*]], %[[SHARED]], %[[RANK]], %[[LOW]], %[[HIGH]], %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[TILE:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
    nvvm.cp.async.bulk.tensor.shared.cluster.global %shared, %map, %shared, box [%low, %high] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    // CHECK: %[[PIXELS:.*]] = llvm.mlir.constant(1 : i32)
    // CHECK: %[[TAP:.*]] = llvm.zext %{{.*}} : i16 to i32
    // CHECK: llvm.call @nmSimLoadTensor(%[[THREAD]], %{{.*}}, %{{.*}}, %[[MAP]], %[[SHARED]], %{{.*}}, %[[LOW]], %[[HIGH]], %[[LOW]], %{{.*}}, %{{.*}}, %[[PIXELS]], %[[TAP]], %{{.*}}, %{{.*}}, %{{.*}})
    %tap = llvm.trunc %low : i32 to i16
    %of_cluster = llvm.addrspacecast %shared : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %of_cluster, %map, %shared, box [%low, %high, %low] im2col [%tap] {mode = #nvvm.tma_load_mode<im2col>} : !llvm.ptr<7>, !llvm.ptr
    // CHECK: %[[MASK:.*]] = llvm.zext %{{.*}} : i16 to i32
    // CHECK: llvm.call @nmSimCopyBulk(%[[THREAD]], %{{.*}}, %{{.*}}, %[[GLOBAL]], %[[SHARED]], %[[LOW]], %[[MASK]])
    %cluster = llvm.addrspacecast %shared : !llvm.ptr<3> to !llvm.ptr<7>
    %mask = llvm.trunc %high : i32 to i16
    nvvm.cp.async.bulk.shared.cluster.global %cluster, %global, %shared, %low multicast_mask = %mask : !llvm.ptr<7>, !llvm.ptr<1>
    // CHECK: llvm.call @nmSimStoreTensor(%[[THREAD]], %{{.*}}, %[[MAP]], %[[SHARED]], %{{.*}}, %[[LOW]], %[[HIGH]], %[[SELECTOR]], %[[LOW]], %[[HIGH]])
    nvvm.cp.async.bulk.tensor.global.shared.cta %map, %shared, box [%low, %high, %selector, %low, %high] : !llvm.ptr, !llvm.ptr<3>
    // CHECK: llvm.call @nmSimCommitBulk(%[[THREAD]], %{{[^,]*}})
    nvvm.cp.async.bulk.commit.group
    // CHECK: %[[C3:.*]] = llvm.mlir.constant(3 : i32)
    // CHECK: llvm.call @nmSimWaitForBulk(%[[THREAD]], %{{.*}}, %[[C3]])
    nvvm.cp.async.bulk.wait_group 3 {read}
    llvm.return
  }

  // CHECK-LABEL: llvm.func internal @kernels.in_asm
  // CHECK-SAME: (%[[THREAD:[a-z0-9]+]]: !llvm.ptr, %[[ID:.*]]: i32, %[[COUNT:.*]]: i32)
  llvm.func @in_asm(%id: i32, %count: i32) attributes {nvvm.kernel} {
    // CHECK: llvm.call @nmSimBarrier(%[[THREAD]], %{{.*}}, %[[ID]], %[[COUNT]])
    llvm.inline_asm has_side_effects "bar.sync $0, $1;", "r,r" %id, %count : (i32, i32) -> ()
    // CHECK: llvm.call @nmSimArriveBarrier(%[[THREAD]], %{{.*}}, %[[ID]], %[[COUNT]])
    llvm.inline_asm has_side_effects "bar.arrive $0, $1;", "r,r" %id, %count : (i32, i32) -> ()
    // CHECK: %[[C40:.*]] = llvm.mlir.constant(40 : i32)
    // CHECK: llvm.call @nmSimSetRegisters(%[[THREAD]], %{{.*}}, %[[C40]])
    llvm.inline_asm has_side_effects "setmaxnreg.dec.sync.aligned.u32 40;", "" : () -> ()
    // CHECK: llvm.call @nmSimFenceProxies
    llvm.inline_asm has_side_effects "fence.proxy.async.shared::cta;", "" : () -> ()
    // CHECK: llvm.call @nmSimFence(
    llvm.inline_asm has_side_effects "fence.proxy.async.global;", "" : () -> ()
    llvm.return
  }

  // What is done to registers of a product.
  // CHECK-LABEL: llvm.func internal @kernels.registers
  // CHECK-SAME: (%[[THREAD:[a-z0-9]+]]: !llvm.ptr,
  llvm.func @registers(%b: i64, %from: !llvm.ptr<3>, %scale: f32) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    // CHECK: llvm.call @nmSimChangeRegister(%[[THREAD]], %{{.*}}, %{{.*}})
    // CHECK: llvm.call @nmSimAccess
    %a = llvm.load %from : !llvm.ptr<3> -> i32
    // CHECK: llvm.call @nmSimStartProduct(%[[THREAD]], %{{.*}}, %{{.*}})
    // CHECK: llvm.mlir.addressof @nmSimMultiplyWarpgroup
    %sums = llvm.inline_asm has_side_effects "{\n.reg .pred p;\nsetp.ne.b32 p, $8, 0;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, {$8, $8, $8, $8}, $9, p, 1, -1, 1;\n}", "=f,=f,=f,=f,0,1,2,3,r,l" %zero, %zero, %zero, %zero, %a, %b : (f32, f32, f32, f32, i32, i64) -> !llvm.struct<(f32, f32, f32, f32)>
    // CHECK-NOT: nmSimUseSums
    // CHECK: llvm.extractvalue
    %first = llvm.extractvalue %sums[0] : !llvm.struct<(f32, f32, f32, f32)>
    // CHECK: llvm.call @nmSimUseSums(%[[THREAD]], %{{.*}}, %{{.*}})
    // CHECK: llvm.fmul
    %product = llvm.fmul %first, %scale : f32
    llvm.store %product, %from : f32, !llvm.ptr<3>
    llvm.return
  }
}

// Dynamic shared memory comes after static memory, aligned as it says.
gpu.module @aligned {
  llvm.mlir.global internal @barriers() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<2 x i64>
  llvm.mlir.global external @tiles() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // CHECK-LABEL: llvm.mlir.global internal constant @aligned.kernel.kernel
  // CHECK: %[[LIMIT:.*]] = llvm.mlir.constant(232448 : i64)
  // CHECK: %[[STATIC:.*]] = llvm.mlir.constant(1024 : i64)
  // CHECK: llvm.insertvalue %[[STATIC]], %{{.*}}[3]
  llvm.func @kernel() attributes {nvvm.kernel} {
    llvm.return
  }
}
