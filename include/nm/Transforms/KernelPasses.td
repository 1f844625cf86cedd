//===- KernelPasses.td - Passes on kernels and launches ----*- tablegen -*-===//
//
// A part of Passes.td, which generates them.
//
//===----------------------------------------------------------------------===//

#ifndef NM_TRANSFORMS_KERNELPASSES
#define NM_TRANSFORMS_KERNELPASSES

include "mlir/Pass/PassBase.td"

def NMGatherKernels : Pass<"nm-gather-kernels", "::mlir::ModuleOp"> {
  let summary = "all kernels to one gpu.module";
  let description = [{
    `gpu-kernel-outlining` makes a `gpu.module` for each launch. This pass moves
    all kernels to one, `@kernels`, so that they are assembled, embedded and
    loaded together. Kernels that do the same become one.

    Before:
    ```mlir
    gpu.launch_func @f_kernel::@f_kernel blocks in ... threads in ...
    gpu.launch_func @f_kernel_0::@f_kernel blocks in ... threads in ...
    ...
    gpu.module @f_kernel { gpu.func @f_kernel(...) kernel { ... } }
    gpu.module @f_kernel_0 { gpu.func @f_kernel(...) kernel { ... } }
    ```
    After:
    ```mlir
    gpu.launch_func @kernels::@f_kernel blocks in ... threads in ...
    gpu.launch_func @kernels::@f_kernel_0 blocks in ... threads in ...
    ...
    gpu.module @kernels {
      gpu.func @f_kernel(...) kernel { ... }
      gpu.func @f_kernel_0(...) kernel { ... }
    }
    ```
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

def NMInlineProducers : Pass<"nm-inline-producers", "::mlir::func::FuncOp"> {
  let summary = "elementwise ops to the parallel loop that reads their elements";
  let description = [{
    A parallel loop on memrefs that reads each element of a temporary once, in
    the iteration of that element, computes it there, if an elementwise
    `linalg.generic` made it and nothing else reads it. The temporary goes, and so
    does the kernel that wrote it: a rotary embedding of keys stores what it makes
    right into their cache. The temporary may have one shape where it is written
    and another where it is read, and its rows may be padded. Ops that make what
    such an op reads follow it. One that reads along another dimension than it
    writes stays: `convert-transpose-to-gpu` has tiles for it.

    Before:
    ```mlir
    %t = memref.alloc() : memref<2x64xf16>
    linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%k : memref<2x64xf16>) outs(%t : memref<2x64xf16>) { <f(in)> }
    scf.parallel (%i, %j) = (%c0, %c0) to (%c2, %c64) step (%c1, %c1) {
      %x = memref.load %t[%i, %j] : memref<2x64xf16>
      memref.store %x, %cache[%i, %position, %j] : memref<2x256x64xf16>
    }
    ```
    After:
    ```mlir
    scf.parallel (%i, %j) = (%c0, %c0) to (%c2, %c64) step (%c1, %c1) {
      %in = memref.load %k[%i, %j] : memref<2x64xf16>
      %x = <f(%in)>
      memref.store %x, %cache[%i, %position, %j] : memref<2x256x64xf16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NMMergeLaunches : Pass<"nm-merge-launches", "::mlir::func::FuncOp"> {
  let summary = "launches that do not depend on each other to one launch";
  let description = [{
    Launches of one block of the host whose thread blocks have as many threads,
    and neither share memory nor meet at barriers, become one launch with the
    blocks of all, if none reads or writes what another writes, and the first can
    move to the last: nothing between them depends on it, and host and library do
    nothing there that is not known. Rotary embeddings of
    queries and keys, and the copies of keys and values into their caches, are
    then one kernel.

    Before:
    ```mlir
    gpu.launch blocks(%b, ...) in (... = %c2, ...) threads(%t, ...) in (... = %c256, ...) { <A(%b)> }
    gpu.launch blocks(%b, ...) in (... = %c3, ...) threads(%t, ...) in (... = %c256, ...) { <B(%b)> }
    ```
    After:
    ```mlir
    gpu.launch blocks(%b, ...) in (... = %c5, ...) threads(%t, ...) in (... = %c256, ...) {
      %0 = arith.cmpi ult, %b, %c2 : index
      scf.if %0 {
        <A(%b)>
      } else {
        %1 = arith.subi %b, %c2 : index
        <B(%1)>
      }
      gpu.terminator
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def NMLoadEarly : Pass<"nm-load-early", "::mlir::func::FuncOp"> {
  let summary = "kernels load constants first of all";
  let description = [{
    What a `gpu.launch` of at most one block for each multiprocessor begins
    with, up to its first loop, store or barrier, loads constants first. These
    loads, and copies to workgroup memory, bear `nm.early_load`: no kernel
    writes a constant, so that on sm_90 and newer they need not wait for the
    kernel before, see `nm-overlap-kernels`. Weights of products of few rows
    are then on their way while that kernel ends, which leaves memory idle.

    Before:
    ```mlir
    %w = memref.get_global @weights : memref<64xf32>
    gpu.launch ... {
      %0 = memref.load %a[%i] : memref<64xf32>
      %1 = memref.load %w[%i] : memref<64xf32>
      ...
    ```
    After:
    ```mlir
    gpu.launch ... {
      %1 = memref.load %w[%i] {nm.early_load} : memref<64xf32>
      %0 = memref.load %a[%i] : memref<64xf32>
      ...
    ```
  }];
}

def NMOverlapKernels : Pass<"nm-overlap-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "kernels that start while the one before ends";
  let description = [{
    Every kernel of a `gpu.module` whose targets are sm_90 or newer waits until
    the kernel before it in the stream is over, and then lets the next one start,
    which will wait in turn (PTX `griddepcontrol`). It does so before anything
    but prefetches to L2 and loads of constants. A kernel whose blocks are at most
    an eighth of the multiprocessors, as the norm of a row, lets the next one start
    before it waits: weights of the product behind a norm are prefetched while the
    product before the norm runs. A constant `nm_waits_<kernel>` tells the runtime that
    the kernel may be launched so. Kernels with more blocks than the chip has
    multiprocessors do not wait and bear no mark: the runtime launches them when
    all before them is over.

    Before:
    ```mlir
    gpu.func @f_kernel(%a: memref<4xf32>, %b: memref<4xf32>) kernel {
      %i = gpu.thread_id x
      %0 = memref.load %a[%i] : memref<4xf32>
      memref.store %0, %b[%i] : memref<4xf32>
      gpu.return
    }
    ```
    After:
    ```mlir
    llvm.mlir.global external constant @nm_waits_f_kernel(1 : i8) {addr_space = 1 : i32, alignment = 1 : i64} : i8
    gpu.func @f_kernel(%a: memref<4xf32>, %b: memref<4xf32>) kernel {
      nvvm.griddepcontrol wait
      nvvm.griddepcontrol launch_dependents
      %i = gpu.thread_id x
      %0 = memref.load %a[%i] : memref<4xf32>
      memref.store %0, %b[%i] : memref<4xf32>
      gpu.return
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def NMAlignKernelMemory
    : Pass<"nm-align-kernel-memory", "::mlir::gpu::GPUModuleOp"> {
  let summary = "kernels' memory is aligned as swizzles and NVPTX want it";
  let description = [{
    wgmma and tensor copies exchange 16-byte words of shared memory by bits of
    their addresses, in patterns of 1024 bytes (PTX ISA, "Asynchronous Warpgroup
    Level Matrix Shared Memory Layout"). Upstream's conversion asks for 16.

    The module says how NVPTX lays types out, so that loads and stores of 64-bit
    integers are translated with an alignment of 8 bytes. LLVM's default is 4,
    for which LLVM halves them; ptxas 13.0 converts the lower half of what was
    an f64 to an integer.

    Before:
    ```mlir
    gpu.module @kernels { ... }
    llvm.mlir.global internal @__dynamic_shmem__0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
    ```
    After:
    ```mlir
    gpu.module @kernels attributes {llvm.data_layout = "e-p6:32:32-i64:64-..."} { ... }
    llvm.mlir.global internal @__dynamic_shmem__0() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
    ```
  }];
}

def NMPinRegisters : Pass<"nm-pin-registers", "::mlir::gpu::GPUModuleOp"> {
  let summary = "kernels that change or fill their registers start with many";
  let description = [{
    The warps of a role have a number of registers of their own (PTX ISA,
    `setmaxnreg`). ptxas leaves these instructions out where it does not know how
    many registers a thread starts with, and the warps then spill. A kernel that
    says that a multiprocessor has room for one of its blocks (PTX ISA,
    `.minnctapersm`) starts with as many as a block of its threads can have. So
    does one of strategy mma_bitmap, whose lanes load values far ahead, and which
    ptxas would else give as few registers as leave room for more blocks than
    shared memory does. A kernel whose blocks send parts of sums to each other
    (PTX ISA, `st.async`) says that a multiprocessor has room for two of them:
    one has memory busy while the other waits for parts.

    Before:
    ```mlir
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 384, 1, 1>} {
      nvvm.setmaxregister increase 232
      llvm.return
    }
    ```
    After:
    ```mlir
    llvm.func @kernel() attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 384, 1, 1>, nvvm.minctasm = 1 : i32} {
      nvvm.setmaxregister increase 232
      llvm.return
    }
    ```
  }];
}

def NMPlanMemory : Pass<"nm-plan-memory", "::mlir::func::FuncOp"> {
  let summary = "one allocation for the temporaries of a function";
  let description = [{
    All allocations of static sizes in a function's body that are released there
    become places in one allocation. Two of them share bytes where one is released
    before the other is made. The largest is placed first, each at the lowest
    offset that is free while it lives, a multiple of 256 bytes. The attribute
    `nm.temporary_bytes` says how large the allocation is.

    On a GPU this leaves no allocation and no release between two kernels of a
    stream: in a captured graph each would be a node of its own, and a kernel
    starts early only behind another kernel. With `count` the attribute is all that
    changes: a CPU's runtime keeps memory from call to call.

    Before:
    ```mlir
    %a = memref.alloc() : memref<64xf32>
    gpu.launch_func @kernels::@f ... args(%x : memref<64xf32>, %a : memref<64xf32>)
    %b = memref.alloc() : memref<64xf32>
    gpu.launch_func @kernels::@g ... args(%a : memref<64xf32>, %b : memref<64xf32>)
    memref.dealloc %a : memref<64xf32>
    gpu.launch_func @kernels::@h ... args(%b : memref<64xf32>, %y : memref<64xf32>)
    memref.dealloc %b : memref<64xf32>
    ```
    After:
    ```mlir
    %all = memref.alloc() {alignment = 256 : i64} : memref<512xi8>
    %a = <a memref at byte 0 of %all>
    gpu.launch_func @kernels::@f ... args(%x : memref<64xf32>, %a : memref<64xf32>)
    %b = <a memref at byte 256 of %all>
    gpu.launch_func @kernels::@g ... args(%a : memref<64xf32>, %b : memref<64xf32>)
    gpu.launch_func @kernels::@h ... args(%b : memref<64xf32>, %y : memref<64xf32>)
    memref.dealloc %all : memref<512xi8>
    ```
  }];
  let options = [Option<"count", "count", "bool", /*default=*/"false",
                        "Only say how large the allocation would be">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def NMLaunchOnStream : Pass<"nm-launch-on-stream", "::mlir::ModuleOp"> {
  let summary = "launches and memory on the caller's stream and device";
  let description = [{
    In functions that launch kernels, launches are queued on the stream that the
    runtime's `nmGetStream` gives, in whose order temporaries are allocated and
    freed, and nothing waits. A constant, which the module has in the host's
    memory, is replaced by the copy on the device that `nmDeviceConstant` makes
    at the first call; `nmReleaseDeviceConstants` frees the copies when the
    module is unloaded.

    Before:
    ```mlir
    %t = memref.alloc() : memref<4xf32>
    %w = memref.get_global @w : memref<4xf32>
    gpu.launch_func @kernels::@f blocks in ... threads in ... args(%w : memref<4xf32>, %t : memref<4xf32>)
    memref.dealloc %t : memref<4xf32>
    ```
    After:
    ```mlir
    %p = llvm.call @nmGetStream() : () -> !llvm.ptr
    %stream = builtin.unrealized_conversion_cast %p : !llvm.ptr to !gpu.async.token
    %t, %0 = gpu.alloc async [%stream] () : memref<4xf32>
    %w = <memref of llvm.call @nmDeviceConstant(%table, <@w>, 16)>
    %1 = gpu.launch_func async [%stream] @kernels::@f blocks in ... threads in ... args(%w : memref<4xf32>, %t : memref<4xf32>)
    %2 = gpu.dealloc async [%stream] %t : memref<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect"];
}

def NMSplitEdges : Pass<"nm-split-edges"> {
  let summary = "a block for each further way from a branch to a block";
  let description = [{
    LLVM IR knows a block's arguments by the block that control comes from, so
    that a branch that names one block twice, with different arguments, needs
    blocks between. Upstream's translation makes them in the order of the
    addresses of blocks, which is another in each process; this pass makes them
    in the order of the branch.

    Before:
    ```mlir
    llvm.switch %i : i32, ^bb1(%a : f32) [0: ^bb2(%b : f32), 1: ^bb1(%c : f32)]
    ```
    After:
    ```mlir
      llvm.switch %i : i32, ^bb1(%a : f32) [0: ^bb2(%b : f32), 1: ^bb3(%c : f32)]
    ^bb3(%d: f32):
      llvm.br ^bb1(%d : f32)
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // NM_TRANSFORMS_KERNELPASSES
