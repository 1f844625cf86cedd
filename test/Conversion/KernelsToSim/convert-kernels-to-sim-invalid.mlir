// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --convert-kernels-to-sim --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --convert-kernels-to-sim --split-input-file
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_12 --convert-kernels-to-sim --split-input-file 2>&1 | FileCheck %s --check-prefix=CHIP

// CHIP: error: expected a chip of sm_80, {{.*}}, but got 'sm_12'

gpu.module @kernels {
  llvm.func @unknown_instruction() attributes {nvvm.kernel} {
    // expected-error @+1 {{'nvvm.cluster.arrive.relaxed' op is an instruction that the simulator does not have}}
    nvvm.cluster.arrive.relaxed
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @assembly() attributes {nvvm.kernel} {
    // expected-error @+1 {{'llvm.inline_asm' op is an op that the simulator does not have}}
    llvm.inline_asm has_side_effects "trap;", "" : () -> ()
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
  llvm.func @print(%format: !llvm.ptr) attributes {nvvm.kernel} {
    // expected-error @+1 {{the simulator has no function for @vprintf}}
    %0 = llvm.call @vprintf(%format, %format) : (!llvm.ptr, !llvm.ptr) -> i32
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @reduction(%value: i32) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected a barrier without a reduction}}
    %0 = nvvm.barrier #nvvm.reduction<popc> %value -> i32
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @matrices_of_bytes(%rows: !llvm.ptr<3>) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected matrices m8n8 of b16}}
    %0 = nvvm.ldmatrix %rows {num = 1 : i32, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 16, n = 16>, eltType = #nvvm.ld_st_matrix_elt_type<b8>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @sums_of_f16(%a: vector<2xf16>) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected a product m16n8 of f16, bf16, tf32, e4m3, e5m2, s8 or u8 with sums of f32 or s32}}
    %0 = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%a, %a] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (vector<2xf16>, vector<2xf16>, vector<2xf16>) -> !llvm.struct<(vector<2xf16>, vector<2xf16>)>
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @product_in_assembly(%a: i32) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected 10 operands, but got 9}}
    %0 = llvm.inline_asm "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {$0, $1, $2, $3}, {$4, $4, $4, $4}, {$4}, {$4, $4, $4, $4};", "=r,=r,=r,=r,r" %a : (i32) -> !llvm.struct<(i32, i32, i32, i32)>
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @transposed_pair(%a: vector<2xi32>) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected an operand and a result of 32 bits}}
    %0 = llvm.inline_asm has_side_effects "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r" %a : (vector<2xi32>) -> i32
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @other_transposition(%a: i32) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected movmatrix.sync.aligned.m8n8.trans.b16 from a register to the op's result}}
    %0 = llvm.inline_asm has_side_effects "movmatrix.sync.aligned.m8n8.b16 $0, $1;", "=r,r" %a : (i32) -> i32
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @product_of_a_kind(%a: i32) attributes {nvvm.kernel} {
    // expected-error @+1 {{is a product that the simulator does not have}}
    %0 = llvm.inline_asm "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32 {$0, $1, $2, $3}, {$4, $4, $4, $4}, {$4, $4}, {$4, $4, $4, $4};", "=r,=r,=r,=r,r" %a : (i32) -> !llvm.struct<(i32, i32, i32, i32)>
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @constant_memory(%x: !llvm.ptr<4>) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected an access of global or shared memory, but got address space 4}}
    %0 = llvm.load %x : !llvm.ptr<4> -> f32
    llvm.return
  }
}

// -----

module attributes {gpu.container_module} {
// expected-error @+1 {{expected the name @nmSimLaunch to be free}}
func.func private @nmSimLaunch()
gpu.module @kernels {
  llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
func.func @name() {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
  return
}
}

// -----

gpu.module @kernels {
  llvm.func @predicate(%barrier: !llvm.ptr<3>, %count: i32, %predicate: i1) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected no predicate}}
    nvvm.mbarrier.init %barrier, %count, predicate = %predicate : !llvm.ptr<3>, i32, i1
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @sums_of_halves(%a: i64, %b: i64, %sums: !llvm.struct<(i32, i32)>) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected a product m64 of f16, bf16, tf32, e4m3, e5m2, s8 or u8 with sums of f32 or s32: the simulator has no other}}
    %0 = nvvm.wgmma.mma_async %a, %b, %sums, #nvvm.shape<m = 64, n = 8, k = 16>, D[<f16>, #nvvm.wgmma_scale_out<one>], A[<f16>, #nvvm.wgmma_scale_in<one>, <row>], B[<f16>, #nvvm.wgmma_scale_in<one>, <col>] : !llvm.struct<(i32, i32)> -> !llvm.struct<(i32, i32)>
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @too_narrow(%a: i64, %b: i64, %zero: f32) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected the op's results, 8 values of 32 bits, as the sums}}
    %0 = llvm.inline_asm has_side_effects "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {$0, $1, $2, $3}, $8, $9, 1, 1, 1, 0, 0;", "=f,=f,=f,=f,0,1,2,3,l,l" %zero, %zero, %zero, %zero, %a, %b : (f32, f32, f32, f32, i64, i64) -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @operand_missing(%a: i64, %b: i64, %zero: f32) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected the operands of wgmma.mma_async after its sums: A, B, metadata, selector, scale-d, scales of A and B, transposition of A and B}}
    %0 = llvm.inline_asm has_side_effects "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {$0, $1, $2, $3}, $8, $9, 1, 1, 1, 0, 0;", "=f,=f,=f,=f,0,1,2,3,l,l" %zero, %zero, %zero, %zero, %a, %b : (f32, f32, f32, f32, i64, i64) -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @permutation(%a: i32) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected the default mode: the simulator has no other}}
    %0 = nvvm.prmt #nvvm.permute_mode<rc8> %a, %a : i32
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @some_bytes(%to: !llvm.ptr<1>, %from: !llvm.ptr<3>, %size: i32, %mask: i16) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected a copy of all bytes: the simulator has no other}}
    nvvm.cp.async.bulk.global.shared.cta %to, %from, %size byte_mask = %mask : !llvm.ptr<1>, !llvm.ptr<3>
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @half_a_word(%to: !llvm.ptr<7>, %word: i32, %barrier: !llvm.ptr<7>) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 or .b64 of three operands}}
    llvm.inline_asm has_side_effects "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [$0], {$1, $1}, [$2];", "l,r,l" %to, %word, %barrier : (!llvm.ptr<7>, i32, !llvm.ptr<7>) -> ()
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @barrier_of_nothing(%a: i32) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected the number of a barrier and of threads}}
    llvm.inline_asm has_side_effects "bar.arrive;", "" : () -> ()
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @predicate(%to: !llvm.ptr<7>, %map: !llvm.ptr, %barrier: !llvm.ptr<3>, %at: i32, %holds: i1) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected a copy of a tile or of pixels without predicate: the simulator has no other}}
    nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %barrier, box [%at] predicate = %holds : !llvm.ptr<7>, !llvm.ptr
    llvm.return
  }
}
