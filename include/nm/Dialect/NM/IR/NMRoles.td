//===- NMRoles.td - Roles of a block's warps ---------------*- tablegen -*-===//
//
// Part of NMOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef NM_DIALECT_NM_IR_NMROLES_TD
#define NM_DIALECT_NM_IR_NMROLES_TD

include "nm/Dialect/NM/IR/NMTiles.td"

def NM_BarriersOp : NM_TileOp<"barriers"> {
  let summary = "a ring of mbarriers";
  let description = [{
    Barriers that are ready when the block's roles begin. How often a barrier is
    signalled in a step follows from the `nm.signal` ops of the ring.

    ```mlir
    %full = nm.barriers : !nm.barriers<4>
    ```
  }];
  let results = (outs NM_BarriersType:$ring);
  let assemblyFormat = "attr-dict `:` type($ring)";
}

def NM_WarpsOp : NM_TileOp<"warps", [
    NoTerminator, SingleBlock, NoRegionArguments, RecursiveMemoryEffects]> {
  let summary = "what some warps of a block do";
  let description = [{
    The warps from `first` to `last`, which is not among them, run the region,
    and no others: they have a role of their own, as the producers of tiles have
    that fill the slots of rings, and their consumers. Roles meet at barriers
    only. With `registers`, a thread of them has so many from the start of the
    region on (PTX ISA, `setmaxnreg`).

    With `ordered`, the role's warpgroups start the products of a tile one after
    another (PTX ISA, `barrier` with a number), where they wait for the sums of
    that tile and add them to promoted sums: while one adds, the tensor cores have the
    products of the next. Without, all of them start at once, and all add at
    once.

    Constraints:
    * (C1) 0 <= first < last <= 32.
    * (C2) `registers` is a multiple of 8 in 24..256; then `first` and `last` are
      multiples of 4, whole warpgroups.
    * (C3) it is not inside another role.
    * (C4) with `ordered`, `first` and `last` are multiples of 4, and the role has
      two warpgroups or more. To be lowered, it multiplies with promotion.

    ```mlir
    nm.warps 0 to 8 registers 232 ordered {
      ...
    }
    nm.warps 8 to 12 registers 40 {
      ...
    }
    ```
  }];
  let arguments = (ins I64Attr:$first, I64Attr:$last,
                       OptionalAttr<I64Attr>:$registers, UnitAttr:$ordered);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $first `to` $last (`registers` $registers^)? (`ordered` $ordered^)?
    attr-dict-with-keyword $body
  }];
  let builders = [OpBuilder<(ins "int64_t":$first, "int64_t":$last,
                                 "std::optional<int64_t>":$registers,
                                 CArg<"bool", "false">:$ordered)>];
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    int64_t countWarps() { return getLast() - getFirst(); }
    int64_t countWarpgroups();
  }];
}

def NM_WaitOp : NM_TileOp<"wait"> {
  let summary = "waits until a step is over";
  let description = [{
    Each thread waits until all signals of step `step` have come. What was done,
    or copied, before them can then be read; with `async_proxy` by wgmma and bulk
    copies, too, as for `nm.await`. Steps from -stages to -1 are over from the
    start: a producer of step s waits until step s - stages was consumed.

    The token stands for what was waited for: `nm.copy` takes that of the wait
    behind which it may write.

    Constraints:
    * (C1) it is in `nm.warps`.

    ```mlir
    nm.wait async_proxy %full[%step] : <4>
    %free = nm.wait %empty[%before] : <4>
    ```
  }];
  let arguments = (ins UnitAttr:$async_proxy, NM_BarriersType:$ring,
                       Index:$step);
  let results = (outs NM_TokenType:$over);
  let assemblyFormat = [{
    (`async_proxy` $async_proxy^)? $ring `[` $step `]` attr-dict
    `:` type($ring)
  }];
  let hasVerifier = 1;
}

def NM_SignalOp : NM_TileOp<"signal", [AttrSizedOperandSegments]> {
  let summary = "signals a part of a step";
  let description = [{
    Tells those who wait for step `step` that this role has done what comes
    before: each thread, warp or warpgroup of it once, by `scope`. With tokens,
    scope `thread`: each thread does when its copies have arrived (PTX ISA,
    `cp.async.mbarrier.arrive`), and each bulk copy when its bytes have. Where
    `condition` is given and false, nothing is signalled.

    All products that were started before are over for who waits, but the last
    one inside a loop, which may be in flight until `nm.end_tile`.

    Constraints:
    * (C1) it is in `nm.warps`, whose warps are whole warpgroups for scope
      `warpgroup`; the scope is not `block`.
    * (C2) tokens are of `nm.copy` in the same block, and signalled once, at the
      barrier that the copy names, if it does; with tokens there is no condition,
      and the scope is `thread`.

    ```mlir
    nm.signal <thread> %full[%step] tokens %t0, %t1 : <4>
    nm.signal <warpgroup> %empty[%before] where %isLater : <4>
    ```
  }];
  let arguments = (ins NM_SyncScopeAttr:$scope, NM_BarriersType:$ring,
                       Index:$step, Optional<I1>:$condition,
                       Variadic<NM_TokenType>:$tokens);
  let assemblyFormat = [{
    $scope $ring `[` $step `]` (`where` $condition^)? (`tokens` $tokens^)?
    attr-dict `:` type($ring)
  }];
  let hasVerifier = 1;
}

def NM_EndTileOp : NM_TileOp<"end_tile"> {
  let summary = "ends the products of a tile of C";
  let description = [{
    Waits for the products of a tile of C that are in flight. Behind it the sums
    of `tile` are whole: they are signalled, made again, taken by an epilogue and
    stored there.

    Constraints:
    * (C1) it is in `nm.warps`.

    ```mlir
    nm.end_tile %c : memref<256x128xf16, strided<[4096, 1], offset: ?>>
    ```
  }];
  let arguments = (ins AnyMemRef:$tile);
  let assemblyFormat = "$tile attr-dict `:` type($tile)";
  let hasVerifier = 1;
}

#endif // NM_DIALECT_NM_IR_NMROLES_TD
