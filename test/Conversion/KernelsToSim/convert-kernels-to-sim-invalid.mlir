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
  llvm.func @two_matrices(%rows: !llvm.ptr<3>) attributes {nvvm.kernel} {
    // expected-error @+1 {{expected four matrices of b16 in row layout}}
    %0 = nvvm.ldmatrix %rows {num = 2 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
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
