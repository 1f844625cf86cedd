"""A function on tensors, op after op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ._scalars import Body, Scalar, compute_type, is_float, literal, mlir_type
from ._sizes import Dim, Size, product, reshape_groups


@dataclass(frozen=True)
class Tensor:
    """A value of the function: its name, sizes and MLIR's name of its elements."""

    name: str
    shape: tuple[Dim, ...]
    element: str

    @property
    def type(self) -> str:
        return tensor_type(self.shape, self.element)


def tensor_type(shape: Sequence[Dim], element: str, encoding: str = "") -> str:
    sizes = "".join(f"{size if isinstance(size, int) else '?'}x" for size in shape)
    return f"tensor<{sizes}{mlir_type(element)}{encoding and ', ' + encoding}>"


def _memory_type(type_: str) -> str:
    return type_.replace("tensor<", "memref<", 1)


#: What a linalg.generic makes of its elements: the last is the output's own.
ScalarCode = Callable[..., Scalar]


class FunctionText:
    """Builds the text of a func.func.

    Attributes:
        sizes: the names of values of type index for the sizes that have a name.
    """

    def __init__(self, name: str):
        self.name = name
        self.sizes: dict[str, str] = {}
        self._arguments: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        # What stands at the function's begin, by what it says.
        self._constants: dict[str, str] = {}
        # The arguments that are updated, by the name of their elements.
        self._updated: dict[str, str] = {}

    def fresh(self) -> str:
        self._count += 1
        return f"%{self._count}"

    def line(self, text: str) -> None:
        self._lines.append("  " + text)

    def comment(self, text: str) -> None:
        self.line("// " + text.replace("\n", " "))

    def text(self, results: Sequence[Tensor]) -> str:
        """The whole function, which returns `results`."""
        names = ", ".join(result.name for result in results)
        types = ", ".join(result.type for result in results)
        constants = [f"  {name} = {value}" for value, name in self._constants.items()]
        return "\n".join([
            f"func.func @{self.name}({', '.join(self._arguments)}) -> ({types}) {{",
            *constants, *self._lines, f"  return {names} : {types}", "}", ""])

    # Values that stand at the begin

    def argument(self, shape: Sequence[Dim], element: str) -> Tensor:
        """The next argument, whose sizes give those with a name that is new."""
        result = Tensor(f"%arg{len(self._arguments)}", tuple(shape), element)
        self._arguments.append(f"{result.name}: {result.type}")
        self._name_sizes(result)
        return result

    def weight_argument(self, shape: Sequence[int], element: str, pattern: str
                        ) -> EncodedTensor:
        """The next argument, a weight in its condensed form."""
        result = EncodedTensor(f"%arg{len(self._arguments)}", tuple(shape), element, pattern)
        self._arguments.append(f"{result.name}: {result.type}")
        return result

    def updated_argument(self, shape: Sequence[Dim], element: str) -> Tensor:
        """The elements of the next argument, to whose memory `update` writes."""
        name, type_ = f"%arg{len(self._arguments)}", tensor_type(shape, element)
        memory = _memory_type(type_)
        self._arguments.append(f"{name}: {memory}")
        before = self.begin(f"bufferization.to_tensor {name} restrict writable : "
                            f"{memory} to {type_}")
        self._updated[before] = name
        result = Tensor(before, tuple(shape), element)
        self._name_sizes(result)
        return result

    def kept(self, value: Tensor) -> Tensor:
        """A copy, which updates of an argument that `value` is a view of leave as it
        is."""
        memory = self.fresh()
        sizes = ", ".join(self.size(size) for size in value.shape
                          if not isinstance(size, int))
        self.line(f"{memory} = bufferization.alloc_tensor({sizes}) : {value.type}")
        result = Tensor(self.fresh(), value.shape, value.element)
        self.line(f"{result.name} = bufferization.materialize_in_destination "
                  f"{value.name} in {memory} : ({value.type}, {value.type}) -> "
                  f"{value.type}")
        return result

    def update(self, argument: Tensor, value: Tensor) -> None:
        """Makes `value` the elements of an argument that `updated_argument` gave. Stands
        after all that reads the argument. A copy of memory, and no
        materialize_in_destination: that lets bufferization make `value` in the
        argument's memory while other operations still read what was there."""
        memory, buffer = _memory_type(value.type), self.fresh()
        self.line(f"{buffer} = bufferization.to_buffer {value.name} read_only : "
                  f"{value.type} to {memory}")
        self.line(f"memref.copy {buffer}, {self._updated[argument.name]} : {memory} to "
                  f"{memory}")

    def _name_sizes(self, argument: Tensor) -> None:
        for place, size in enumerate(argument.shape):
            if isinstance(size, Size) and size.factor == 1 and (
                    len(size.symbols) == 1 and size.symbols[0] not in self.sizes):
                self.sizes[size.symbols[0]] = self.begin(
                    f"tensor.dim {argument.name}, {self.index(place)} : "
                    f"{argument.type}")

    def begin(self, value: str) -> str:
        """The name of what `value` says, once for the function."""
        return self._constants.setdefault(value, f"%c{len(self._constants)}")

    def index(self, value: int) -> str:
        return self.begin(f"arith.constant {value} : index")

    def scalar(self, value: float | int | bool, element: str) -> Scalar:
        text = f"arith.constant {literal(value, element)}"
        return Scalar(self.begin(text), element)

    def size(self, dim: Dim) -> str:
        """The name of a size, of type index."""
        if isinstance(dim, int):
            return self.index(dim)
        names = [self.sizes[name] for name in dim.symbols]
        if dim.factor != 1:
            names.append(self.index(dim.factor))
        result = names[0]
        for name in names[1:]:
            result = self.begin(f"arith.muli {result}, {name} : index")
        return result

    def resource(self, key: str, shape: Sequence[int], element: str) -> Tensor:
        """A constant whose elements are in a file."""
        type_ = tensor_type(shape, element)
        quoted = key.replace("\\", "\\\\").replace('"', '\\"')
        name = self.begin(f'arith.constant dense_resource<"{quoted}"> : {type_}')
        return Tensor(name, tuple(shape), element)

    # Memory

    def empty(self, shape: Sequence[Dim], element: str) -> Tensor:
        result = Tensor(self.fresh(), tuple(shape), element)
        sizes = ", ".join(self.size(size) for size in shape
                          if not isinstance(size, int))
        self.line(f"{result.name} = tensor.empty({sizes}) : {result.type}")
        return result

    def fill(self, value: float | int | bool, shape: Sequence[Dim], element: str
             ) -> Tensor:
        out, scalar = self.empty(shape, element), self.scalar(value, element)
        result = Tensor(self.fresh(), out.shape, element)
        self.line(f"{result.name} = linalg.fill ins({scalar.name} : {mlir_type(element)}) "
                  f"outs({out.name} : {out.type}) -> {out.type}")
        return result

    # Arithmetic

    def generic(self, inputs: Sequence[tuple[Tensor, Sequence[int]]],
                init: Tensor, loops_of_init: Sequence[int], iterators: str,
                code: ScalarCode) -> Tensor:
        """A linalg.generic; each operand has a loop for each of its dimensions, and
        `iterators` a ``p`` (parallel) or ``r`` (reduction) for each loop."""
        loops = [f"d{i}" for i in range(len(iterators))]

        def places(of: Sequence[int]) -> str:
            return ", ".join(loops[i] for i in of)

        return self.mapped(loops,
                           [loop for loop, kind in zip(loops, iterators) if kind == "r"],
                           [(tensor, places(of)) for tensor, of in inputs], init,
                           places(loops_of_init), code)

    def elementwise(self, inputs: Sequence[Tensor], shape: Sequence[Dim],
                    element: str, code: ScalarCode) -> Tensor:
        """`code` of elements of inputs that are broadcast to `shape`."""
        operands = [self._broadcast(tensor, shape) for tensor in inputs]
        loops = range(len(shape))
        return self.generic(operands, self.empty(shape, element), loops,
                            "p" * len(shape), lambda body, *all_: code(
                                body, *all_[:-1]))

    def _broadcast(self, tensor: Tensor, shape: Sequence[Dim]
                   ) -> tuple[Tensor, list[int]]:
        """The tensor without the ones that are broadcast, and its loops."""
        offset = len(shape) - len(tensor.shape)
        kept = [dim for dim, size in enumerate(tensor.shape)
                if size != 1 or shape[offset + dim] == 1]
        narrow = self.reshape(tensor, [tensor.shape[dim] for dim in kept])
        return narrow, [offset + dim for dim in kept]

    def reduce(self, inputs: Sequence[Tensor], dims: Sequence[int], start: float,
               element: str, code: ScalarCode) -> Tensor:
        """`code` of elements of the inputs and of what it gave before, along `dims`;
        inputs after the first have no such dimensions."""
        shape = inputs[0].shape
        kept = [dim for dim in range(len(shape)) if dim not in dims]
        init = self.fill(start, [shape[dim] for dim in kept], element)
        operands = [(tensor, kept if tensor is not inputs[0] else range(len(shape)))
                    for tensor in inputs]
        kinds = "".join("r" if dim in dims else "p" for dim in range(len(shape)))
        return self.generic(operands, init, kept, kinds, code)

    def contract(self, a: Tensor, a_loops: str, b: Tensor | EncodedTensor,
                 b_loops: str, out_loops: str, order: str) -> Tensor:
        """A sum of products, with a letter for each dimension; the loops run in
        `order`. Sums of floats are in f32 at least."""
        sizes: dict[str, Dim] = dict(zip(b_loops, b.shape))
        sizes.update(zip(a_loops, a.shape))
        element = compute_type(a.element) if is_float(a.element) else "i64"
        zeros = self.fill(0, [sizes[loop] for loop in out_loops], element)
        kinds = "".join("p" if loop in out_loops else "r" for loop in order)

        def code(body: Body, x: Scalar, y: Scalar, total: Scalar) -> Scalar:
            return body.add(total, body.mul(body.cast(x, element),
                                            body.cast(y, element)))

        return self.generic([(a, [order.index(loop) for loop in a_loops]),
                             (b, [order.index(loop) for loop in b_loops])], zeros,
                            [order.index(loop) for loop in out_loops], kinds, code)

    def mapped(self, loops: Sequence[str], reduced: Sequence[str],
               inputs: Sequence[tuple[Tensor, str]], init: Tensor, of_init: str,
               code: ScalarCode) -> Tensor:
        """A linalg.generic over named loops; each operand has an affine expression of
        them for each of its dimensions."""
        result = Tensor(self.fresh(), init.shape, init.element)
        maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({each})>"
                         for each in (*(of for _, of in inputs), of_init))
        kinds = ", ".join('"reduction"' if loop in reduced else '"parallel"'
                          for loop in loops)
        ins = ""
        if inputs:
            names = ", ".join(tensor.name for tensor, _ in inputs)
            types = ", ".join(tensor.type for tensor, _ in inputs)
            ins = f" ins({names} : {types})"
        self.line(f"{result.name} = linalg.generic {{indexing_maps = [{maps}], "
                  f"iterator_types = [{kinds}]}}{ins} "
                  f"outs({init.name} : {init.type}) {{")
        elements = [Scalar(self.fresh(), tensor.element)
                    for tensor in (*(tensor for tensor, _ in inputs), init)]
        self.line("^bb0(" + ", ".join(f"{each.name}: {mlir_type(each.element)}"
                                      for each in elements) + "):")
        given = code(Body(self, "  "), *elements)
        self.line(f"  linalg.yield {given.name} : {mlir_type(given.element)}")
        self.line(f"}} -> {result.type}")
        return result

    def convolve(self, name: str, image: Tensor, filter_: Tensor, init: Tensor,
                 strides: Sequence[int], dilations: Sequence[int]) -> Tensor:
        """A convolution of linalg's."""
        result = Tensor(self.fresh(), init.shape, init.element)
        steps = ", ".join(
            f"{kind} = dense<{list(each)}> : tensor<{len(each)}xi64>"
            for kind, each in (("dilations", dilations), ("strides", strides)))
        self.line(f"{result.name} = linalg.{name} {{{steps}}} ins({image.name}, "
                  f"{filter_.name} : {image.type}, {filter_.type}) outs({init.name} : "
                  f"{init.type}) -> {init.type}")
        return result

    def filter_of_channels(self, weight: EncodedTensor, reduced: Sequence[int]) -> Tensor:
        """A filter, output channels first, of its matrix [out, channels and taps], or with the
        dimensions of k in another order."""
        expanded = Tensor(self.fresh(), (weight.shape[0], *reduced), weight.element)
        self.line(f"{expanded.name} = tensor.expand_shape {weight.name} "
                  f"{_listed([range(1), range(1, 1 + len(reduced))])} output_shape "
                  f"{list(expanded.shape)} : {weight.type} into {expanded.type}")
        return expanded

    def filter(self, weight: EncodedTensor, reduced: Sequence[int]) -> Tensor:
        """The filter [out, in, taps...] of a matrix [out, taps and channels]."""
        expanded = self.filter_of_channels(weight, reduced)
        return self._transposed(expanded, [0, len(reduced), *range(1, len(reduced))])

    def filter_of_outputs_last(self, weight: EncodedTensor, reduced: Sequence[int]) -> Tensor:
        """The filter [taps..., in, out] of such a matrix."""
        expanded = self.filter_of_channels(weight, reduced)
        return self._transposed(expanded, [*range(1, len(reduced) + 1), 0])

    def attention(self, query: tuple[Tensor, str], key: tuple[Tensor, str],
                  value: tuple[Tensor, str], mask: tuple[Tensor, str] | None,
                  lengths: tuple[Tensor, str] | None,
                  out: tuple[Sequence[Dim], str], scale: float, is_causal: bool
                  ) -> Tensor:
        """An nm.attention of tensors with a letter for each dimension."""
        shape, loops_of_out = out
        init = self.empty(shape, query[0].element)
        others = {name: each for name, each in (("mask", mask), ("lengths", lengths))
                  if each}
        operands = [query, key, value, *others.values(), (init, loops_of_out)]
        letters = sorted({letter for _, loops in operands for letter in loops})
        maps = ", ".join(f"affine_map<({', '.join(letters)}) -> ({', '.join(loops)})>"
                         for _, loops in operands)
        ins = ", ".join(each.name for each, _ in operands[:3])
        types = ", ".join(each.type for each, _ in operands[:3])
        hidden = "".join(f" {name}({each.name} : {each.type})"
                         for name, (each, _) in others.items())
        result = Tensor(self.fresh(), init.shape, init.element)
        self.line(f"{result.name} = nm.attention indexing_maps = [{maps}] scale = "
                  f"{literal(scale, 'f32').split(' : ')[0]} "
                  f"{'causal ' if is_causal else ''}"
                  f"ins({ins} : {types}){hidden} outs({init.name} : {init.type}) -> "
                  f"{result.type}")
        return result

    def assemble(self, values: Tensor, indices: Tensor, shape: Sequence[int],
                 pattern: str) -> EncodedTensor:
        """An N:M weight of its condensed parts."""
        result = EncodedTensor(self.fresh(), tuple(shape), values.element, pattern)
        self.line(f"{result.name} = nm.assemble {values.name}, {indices.name} : "
                  f"{values.type}, {indices.type} -> {result.type}")
        return result

    # Places

    def reshape(self, tensor: Tensor, shape: Sequence[Dim]) -> Tensor:
        """The same elements in the same order with other sizes."""
        if tensor.shape == tuple(shape):
            return tensor
        groups = reshape_groups(tensor.shape, shape)
        middle = [product([tensor.shape[dim] for dim in old]) for old, _ in groups]
        if any(not old or not new for old, new in groups):
            # All are ones.
            groups, middle = [], []
        flat = self._collapse(tensor, [old for old, _ in groups], middle)
        return self._expand(flat, [new for _, new in groups], shape)

    def _collapse(self, tensor: Tensor, groups: list[range], shape: Sequence[Dim]
                  ) -> Tensor:
        if len(shape) == len(tensor.shape):
            return tensor
        result = Tensor(self.fresh(), tuple(shape), tensor.element)
        self.line(f"{result.name} = tensor.collapse_shape {tensor.name} "
                  f"{_listed(groups)} : {tensor.type} into {result.type}")
        return result

    def _expand(self, tensor: Tensor, groups: list[range], shape: Sequence[Dim]
                ) -> Tensor:
        if len(shape) == len(tensor.shape):
            return tensor
        result = Tensor(self.fresh(), tuple(shape), tensor.element)
        sizes = ", ".join(str(size) if isinstance(size, int) else self.size(size)
                          for size in shape)
        self.line(f"{result.name} = tensor.expand_shape {tensor.name} "
                  f"{_listed(groups)} output_shape [{sizes}] : {tensor.type} into "
                  f"{result.type}")
        return result

    def transpose(self, tensor: Tensor, permutation: Sequence[int]) -> Tensor:
        """Dimension i of the result is dimension permutation[i]."""
        moved = [dim for dim in permutation if tensor.shape[dim] != 1]
        if moved == sorted(moved):
            # Nothing moves in memory.
            return self.reshape(tensor, [tensor.shape[dim] for dim in permutation])
        return self._transposed(tensor, permutation)

    def _transposed(self, tensor: Tensor, order: Sequence[int]) -> Tensor:
        empty = self.empty([tensor.shape[dim] for dim in order], tensor.element)
        result = Tensor(self.fresh(), empty.shape, empty.element)
        self.line(f"{result.name} = linalg.transpose ins({tensor.name} : "
                  f"{tensor.type}) outs({empty.name} : {empty.type}) permutation = "
                  f"{list(order)}")
        return result

    def slice(self, tensor: Tensor, dim: int, begin: Dim | str, size: Dim,
              step: int = 1) -> Tensor:
        """`size` elements along a dimension from `begin` on."""
        shape = (*tensor.shape[:dim], size, *tensor.shape[dim + 1:])
        if shape == tensor.shape:
            return tensor
        if size == 0:
            # Which may begin behind the last element, where no slice may.
            return self.empty(shape, tensor.element)
        result = Tensor(self.fresh(), shape, tensor.element)
        self.line(f"{result.name} = tensor.extract_slice {tensor.name}"
                  f"{self._place(shape, dim, begin, step)} : {tensor.type} to "
                  f"{result.type}")
        return result

    def concatenate(self, tensors: Sequence[Tensor], dim: int, shape: Sequence[Dim]
                    ) -> Tensor:
        parts = [tensor for tensor in tensors if tensor.shape[dim] != 0]
        if len(parts) == 1:
            return parts[0]
        result, begin = self.empty(shape, tensors[0].element), self.index(0)
        for tensor in parts:
            filled = Tensor(self.fresh(), result.shape, result.element)
            place = self._place(tensor.shape, dim, begin, 1)
            self.line(f"{filled.name} = tensor.insert_slice {tensor.name} into "
                      f"{result.name}{place} : {tensor.type} into {result.type}")
            begin = self.begin(f"arith.addi {begin}, {self.size(tensor.shape[dim])} "
                               ": index")
            result = filled
        return result

    def insert(self, tensor: Tensor, into: Tensor, offsets: Sequence[int],
               steps: Sequence[int] = ()) -> Tensor:
        """`into` with `tensor` in it, from `offsets` on."""
        result = Tensor(self.fresh(), into.shape, into.element)
        _, sizes, strides = self._places(tensor.shape)
        strides = [str(step) for step in steps] or strides
        place = "".join(f"[{', '.join(map(str, each))}]"
                        for each in (offsets, sizes, strides))
        self.line(f"{result.name} = tensor.insert_slice {tensor.name} into "
                  f"{into.name}{place} : {tensor.type} into {into.type}")
        return result

    def insert_at(self, tensor: Tensor, into: Tensor, dim: int, begin: Dim | str,
                  step: int) -> Tensor:
        """`into` with `tensor` in it, from `begin` on along one dimension."""
        if tensor.shape[dim] == 0:
            return into
        result = Tensor(self.fresh(), into.shape, into.element)
        place = self._place(tensor.shape, dim, begin, step)
        self.line(f"{result.name} = tensor.insert_slice {tensor.name} into "
                  f"{into.name}{place} : {tensor.type} into {into.type}")
        return result

    def scatter(self, source: Tensor, into: Tensor, places: Tensor, dim: int) -> Tensor:
        """`into` with slice i of `source` at place `places[i]` of dimension `dim`."""
        order = [dim, *(other for other in range(len(into.shape)) if other != dim)]
        rows = self.transpose(source, order)
        wide = self.reshape(rows, [rows.shape[0], *into.shape[:dim], 1,
                                   *into.shape[dim + 1:]])
        at = self.reshape(places, [*places.shape, 1])
        result = Tensor(self.fresh(), into.shape, into.element)
        self.line(f"{result.name} = tensor.scatter {wide.name} into {into.name}"
                  f"[{at.name}] scatter_dims([{dim}]) unique : ({wide.type}, "
                  f"{into.type}, {at.type}) -> {into.type}")
        return result

    def _place(self, shape: Sequence[Dim], dim: int, begin: Dim | str, step: int
               ) -> str:
        offsets, sizes, strides = self._places(shape)
        offsets[dim] = (begin if isinstance(begin, str) else
                        str(begin) if isinstance(begin, int) else self.size(begin))
        strides[dim] = str(step)
        return "".join(f"[{', '.join(each)}]" for each in (offsets, sizes, strides))

    def _places(self, shape: Sequence[Dim]) -> tuple[list[str], list[str], list[str]]:
        """Offsets, sizes and strides of a whole tensor."""
        sizes = [str(size) if isinstance(size, int) else self.size(size)
                 for size in shape]
        return ["0"] * len(shape), sizes, ["1"] * len(shape)


@dataclass(frozen=True)
class EncodedTensor:
    """A weight that keeps N of every M; only `contract` takes it."""

    name: str
    shape: tuple[int, ...]
    element: str
    pattern: str

    @property
    def type(self) -> str:
        return tensor_type(self.shape, self.element, f"#nm.encoding<{self.pattern}>")


def _listed(groups: list[range]) -> str:
    return str([list(group) for group in groups])
