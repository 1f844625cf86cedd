// RUN: nm-opt %s --transform-interpreter --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --transform-interpreter --split-input-file 2>/dev/null

module attributes {transform.with_named_sequence} {
  func.func @fuse_of_fill(%c: tensor<4xf32>) -> tensor<4xf32> {
    %zero = arith.constant 0.0 : f32
    // expected-note @+1 {{payload op}}
    %r = linalg.fill ins(%zero : f32) outs(%c : tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{expected payload ops to be nm.spmm or nm.spmv, but got linalg.fill}}
    %r = transform.nm.fuse_epilogue %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @select_of_fill(%c: tensor<4xf32>) -> tensor<4xf32> {
    %zero = arith.constant 0.0 : f32
    // expected-note @+1 {{payload op}}
    %r = linalg.fill ins(%zero : f32) outs(%c : tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{expected payload ops to be nm.spmm or nm.spmv, but got linalg.fill}}
    transform.nm.select_schedule %op : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @tile_of_fill(%c: tensor<4xf32>) -> tensor<4xf32> {
    %zero = arith.constant 0.0 : f32
    // expected-note @+1 {{payload op}}
    %r = linalg.fill ins(%zero : f32) outs(%c : tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{expected payload ops to be nm.spmm or nm.spmv, but got linalg.fill}}
    %r:2 = transform.nm.tile %op : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @stage_of_fill(%c: tensor<4xf32>) -> tensor<4xf32> {
    %zero = arith.constant 0.0 : f32
    // expected-note @+1 {{payload op}}
    %r = linalg.fill ins(%zero : f32) outs(%c : tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{expected payload ops to be nm.spmm, but got linalg.fill}}
    %r = transform.nm.stage %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @pipeline_of_fill(%c: tensor<4xf32>) -> tensor<4xf32> {
    %zero = arith.constant 0.0 : f32
    // expected-note @+1 {{payload op}}
    %r = linalg.fill ins(%zero : f32) outs(%c : tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{expected payload ops to be nm.spmm, but got linalg.fill}}
    %r = transform.nm.pipeline %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @expand_of_fill(%c: tensor<4xf32>) -> tensor<4xf32> {
    %zero = arith.constant 0.0 : f32
    // expected-note @+1 {{payload op}}
    %r = linalg.fill ins(%zero : f32) outs(%c : tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{expected payload ops to be scf.forall, but got linalg.fill}}
    %r = transform.nm.expand %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @nothing_to_fuse(%a: tensor<64x256xf32>, %v: tensor<128x128xf32>, %i: tensor<128x128xi8>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
    // expected-error @+1 {{expected something to fuse to the epilogue, but its result is not used by just one linalg op}}
    %s = nm.spmm <2:4> ins(%a, %v, %i : tensor<64x256xf32>, tensor<128x128xf32>, tensor<128x128xi8>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
    return %s : tensor<64x128xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    
    %r = transform.nm.fuse_epilogue %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {nm.chip = #nm.chip<"sm_90a">, transform.with_named_sequence} {
  func.func @no_strategy(%a: tensor<64x256xf32>, %v: tensor<128x128xf32>, %i: tensor<128x128xi8>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
    // expected-error @+1 {{wgmma}}
    %s = nm.spmm <2:4> ins(%a, %v, %i : tensor<64x256xf32>, tensor<128x128xf32>, tensor<128x128xi8>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
    return %s : tensor<64x128xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    
    transform.nm.select_schedule %op {schedule = #nm.wgmma} : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @gpu_schedule_on_cpu(%a: tensor<64x256xf32>, %v: tensor<128x128xf32>, %i: tensor<128x128xi8>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
    // expected-error @+1 {{expected a schedule of strategy vector, amx or loops on the cpu, but got #nm.simt}}
    %s = nm.spmm <2:4> ins(%a, %v, %i : tensor<64x256xf32>, tensor<128x128xf32>, tensor<128x128xi8>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
    return %s : tensor<64x128xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    
    transform.nm.select_schedule %op {schedule = #nm.simt} : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @tile_without_schedule(%a: tensor<64x256xf32>, %v: tensor<128x128xf32>, %i: tensor<128x128xi8>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
    // expected-error @+1 {{expected operands that are tensors and a schedule with a block for the cpu, as nm-select-schedule makes it}}
    %s = nm.spmm <2:4> ins(%a, %v, %i : tensor<64x256xf32>, tensor<128x128xf32>, tensor<128x128xi8>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
    return %s : tensor<64x128xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    
    %r:2 = transform.nm.tile %op : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {nm.chip = #nm.chip<"sm_90a">, transform.with_named_sequence} {
  func.func @tile_without_block(%a: tensor<64x256xf32>, %v: tensor<128x128xf32>, %i: tensor<128x128xi8>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
    // expected-error @+1 {{expected operands that are tensors and a schedule with a block for a GPU, as nm-select-gpu-schedule makes it}}
    %s = nm.spmm <2:4> schedule #nm.gemv<stages = 2> ins(%a, %v, %i : tensor<64x256xf32>, tensor<128x128xf32>, tensor<128x128xi8>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
    return %s : tensor<64x128xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    
    %r:2 = transform.nm.tile %op : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {nm.chip = #nm.chip<"sm_90a">, transform.with_named_sequence} {
  func.func @stage_of_tensors(%a: tensor<64x256xf32>, %v: tensor<128x128xf32>, %i: tensor<128x128xi8>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
    // expected-error @+1 {{expected operands that are memrefs and a schedule for a GPU, in an scf.forall over blocks, as nm-tile-to-gpu-blocks and bufferization make it}}
    %s = nm.spmm <2:4> ins(%a, %v, %i : tensor<64x256xf32>, tensor<128x128xf32>, tensor<128x128xi8>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
    return %s : tensor<64x128xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    
    %r = transform.nm.stage %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {nm.chip = #nm.chip<"sm_90a">, transform.with_named_sequence} {
  func.func @pipeline_of_tensors(%a: tensor<64x256xf32>, %v: tensor<128x128xf32>, %i: tensor<128x128xi8>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
    // expected-error @+1 {{expected a schedule for a GPU and an A in workgroup memory, as nm-stage-shared-memory makes it}}
    %s = nm.spmm <2:4> ins(%a, %v, %i : tensor<64x256xf32>, tensor<128x128xf32>, tensor<128x128xi8>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
    return %s : tensor<64x128xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    
    %r = transform.nm.pipeline %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {nm.chip = #nm.chip<"sm_90a">, transform.with_named_sequence} {
  func.func @expand_of_threads(%c: memref<4xf32>) {
    // expected-error @+1 {{expected a mapping to blocks, #gpu.block, as nm-tile-to-gpu-blocks gives it}}
    scf.forall (%i) in (4) {
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %c[%i] : memref<4xf32>
    }
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    
    %r = transform.nm.expand %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @expand_without_chip(%c: memref<4xf32>) {
    // expected-error @+1 {{expected a module with a chip, as nm-attach-chip sets it}}
    scf.forall (%i) in (4) {
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %c[%i] : memref<4xf32>
    } {mapping = [#gpu.block<linear_dim_0>]}
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    
    %r = transform.nm.expand %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {nm.chip = #nm.chip<"sm_90a">, transform.with_named_sequence} {
  func.func @expand_of_zero_divisor(%a: memref<8xf32>, %c: memref<4xf32>, %n: index) {
    scf.forall (%i) in (4) {
      // expected-error @+1 {{expected a divisor other than 0}}
      %j = affine.apply affine_map<(d0) -> (d0 floordiv 0)>(%i)
      %x = memref.load %a[%j] : memref<8xf32>
      memref.store %x, %c[%i] : memref<4xf32>
    } {mapping = [#gpu.block<linear_dim_0>]}
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    
    %r = transform.nm.expand %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
