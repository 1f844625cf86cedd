"""Which packed forms a weight keeps on a GPU."""

from types import SimpleNamespace

import nm
import numpy as np
import pytest
from nm import _forms, _kernels
from nm._matmul_text import Product
from nm._pattern import parse_pattern


def kernel(layout, microseconds, schedule="#nm.gemv<block = [1, 32, 64]>", dense=100):
    weight = {"layout": layout, "values": {"shape": [1]}, "indices": {"shape": [2]}}
    record = SimpleNamespace(strategy=schedule[4:].split("<")[0], schedule=schedule,
                             estimate_us=microseconds, dense_us=dense)
    return SimpleNamespace(_entry={"pack": {"weights": [weight]}}, ops=(record,))


@pytest.fixture(autouse=True)
def two_forms():
    yield
    nm.set_packed_forms(None)


def choose(own, kept=(), common=None, **kernels):
    asked = []

    def compile_by(schedule):
        asked.append(schedule)
        return kernels.get(schedule.split("<")[0])

    return _forms.choose_function(own, kept, common, compile_by), asked


def test_a_form_that_is_there_is_taken():
    own = kernel("few", 5)
    assert choose(own, [kernel("few", 9), kernel("many", 9)], "mma_sp") == (own, [])
    # Nor is anything shared of what is packed in a way that no one tells.
    assert choose(kernel("", 5), [kernel("", 9)])[1] == []


def test_a_form_for_all_rows_is_taken_where_it_is_about_as_fast():
    own, shared = kernel("few", 10), kernel("wgmma_pairs", 12.4)
    assert choose(own, [], "mma_sp<pairs = true>", mma_sp=shared)[0] is shared
    many = [kernel("wgmma_pairs", 50, "#nm.wgmma_sp<block = [64, 64, 64]>")]
    assert choose(own, many, None, mma_sp=shared)[0] is shared
    slow = kernel("wgmma_pairs", 12.6)
    assert choose(own, [], "mma_sp<pairs = true>", mma_sp=slow)[0] is own
    assert choose(own, many, "mma_sp<pairs = true>", mma_sp=slow)[0] is own
    assert choose(own, [], "mma_sp<pairs = true>")[0] is own
    # The common kernel that reads the same form, and is slower, shares nothing.
    same = kernel("few", 12)
    assert choose(own, many, "mma_sp<pairs = true>", mma_sp=same)[0] is own
    # Nor one that takes longer than the dense product.
    own = kernel("few", 10, dense=12)
    assert choose(own, [], "mma_sp<pairs = true>", mma_sp=shared)[0] is own
    # Of other schedules of the form that is there, one may be the fastest itself.
    own, shared = kernel("wgmma", 10), kernel("wgmma_pairs", 11)
    assert choose(own, many, "mma_sp<pairs = true>", mma_sp=shared, wgmma_sp=own)[0] is shared


def test_no_third_form_is_packed():
    own = kernel("third", 10)
    few = kernel("few", 4, "#nm.gemv<block = [1, 32, 64], packing = <panel = 32>>")
    many = kernel("many", 30, "#nm.wgmma<stages = 4, packing = <panel = 64>>")
    slow, slower = kernel("few", 40), kernel("many", 80)
    found, asked = choose(own, [few, many], gemv=slow, wgmma=slower)
    assert found is slow
    assert asked == ["gemv<packing = <panel = 32>>", "wgmma<packing = <panel = 64>>"]
    # Without an estimate it is the last that is taken.
    assert choose(own, [few, many], gemv=kernel("few", None), wgmma=slower)[0] is slower
    assert choose(own, [few, many], gemv=kernel("few", None))[0].ops[0].estimate_us is None
    # Where no kernel reads them, there is no choice.
    assert choose(own, [few, many], gemv=kernel("other", 1))[0] is own
    nm.set_packed_forms(3)
    assert choose(own, [few, many], gemv=slow, wgmma=slower)[0] is own


def test_one_form():
    nm.set_packed_forms(1)
    own, few = kernel("many", 10), kernel("few", 4)
    slow = kernel("few", 99)
    assert choose(own, [few], gemv=slow)[0] is slow
    assert choose(own, [])[0] is own
    for count in (0, -1, True, 1.0, "2"):
        with pytest.raises(nm.Error, match="number of forms from 1 on"):
            nm.set_packed_forms(count)


def test_the_limit_of_a_process():
    assert _forms._read_count("1") == 1
    for text in ("0", "two", ""):
        with pytest.raises(nm.Error, match="NM_PACKED_FORMS"):
            _forms._read_count(text)


def product(rows, pattern="2:4", n=4096, k=4096, dtype="bf16"):
    found = parse_pattern(pattern, None, 1)
    w = SimpleNamespace(dtype=dtype, pattern=found, shape=(n, k), n=n, k=k)
    return Product(w, rows, None, False, False)


@pytest.mark.skipif(not nm.has_compiler(), reason="no compiler")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("n, counts", [(4096, (1, 7, 300)), (28672, (512, 1))])
def test_few_rows_read_what_all_can(chip, n, counts):
    forms = take_forms([product(rows, n=n) for rows in counts], f"cuda:{chip}")
    assert forms[0] and (chip == "sm_80" or len(set(forms)) == 1)
    assert n != 4096 or forms[0] == forms[1]


@pytest.mark.skipif(not nm.has_compiler(), reason="no compiler")
def test_one_form_of_f32():
    """Few rows read what many have packed, where a weight may have no other."""
    nm.set_packed_forms(1)
    forms = take_forms([product(rows, dtype="f32") for rows in (512, 1, 16)], "cuda:sm_90a")
    assert len(set(forms)) == 1 and "splits = 3" in forms[0][0][0]


def take_forms(products, target):
    """The forms that calls with them read, one after the other."""
    kept = []
    for each in products:
        own = _kernels.compile_product(each, each.rows, target).only_function()
        kept.append(_forms.choose_function(
            own, kept, _forms.common_schedule(each, target),
            lambda schedule, each=each: _kernels._try_schedule(
                each, each.rows, target, schedule)))
    return [_forms.form_of(function) for function in kept]


@pytest.mark.skipif(not nm.has_compiler(), reason="no compiler")
@pytest.mark.parametrize("dtype, few, many", [("f32", 0.53, 0.78), ("bf16", 0.56, 0.56)])
def test_shares_of_dense_weights(dtype, few, many):
    """What the page on memory says of 2:4: three parts of bf16 are 6 bytes for each kept f32."""
    sizes = {"f32": 4, "bf16": 2, "i8": 1}
    for rows, share in ((1, few), (512, many)):
        each = product(rows, dtype=dtype)
        function = _kernels.compile_product(each, rows, "cuda:sm_90a").only_function()
        weight, = function._entry["pack"]["weights"]
        size = sum(sizes[part["dtype"]] * np.prod(part["shape"])
                   for part in (weight["values"], weight["indices"]))
        assert size / (4096 * 4096 * sizes[dtype]) == pytest.approx(share, abs=0.005)


def test_what_all_rows_can_read():
    assert _forms.common_schedule(product(1), "cuda:sm_80") == "mma_sp"
    for pattern, dtype in (("1:4", "bf16"), ("2:8", "f16"), ("2:4", "f32"), ("2:4", "i8"),
                           ("2:4, block = 1x8", "f16")):
        assert _forms.common_schedule(product(1, pattern, dtype=dtype), "cuda:sm_80") is None


def test_what_is_forgotten_first():
    """Of a device's bound functions the oldest, whose form goes with it."""
    def bound(form):
        return SimpleNamespace(packed_parts=lambda: {form: 8})

    w = nm.compress(np.eye(8, dtype=np.float32), "2:4", axis=1)
    gpu, other = (_kernels.lib.CUDA, 0), (_kernels.lib.CUDA, 1)
    w._bound.update({(other, 1, ()): bound(9), (gpu, 1, ()): bound(1),
                     (gpu, 2, ()): bound(2), (gpu, 3, ()): bound(2)})
    _kernels._forget_surplus(w, gpu)
    assert len(w._bound) == 4
    w._bound[gpu, 40, ()] = bound(3)
    _kernels._forget_surplus(w, gpu)
    assert [key[:2] for key in w._bound] == [(other, 1), (gpu, 2), (gpu, 3), (gpu, 40)]


WHOLE = "#nm.packing<panel = 32, index_bits = 2, chunk_rows = 4, index_rows = 32>"
SPLITS = "#nm.sparse_operand<wgmma_pairs, splits = 3>"


def test_calls_make_splits_of_whole_floats():
    """Rather than that a weight packs both; with 2 it does."""
    few, many = kernel(WHOLE, 10), kernel(SPLITS, 50, "#nm.wgmma_sp<block = [64, 64, 64]>")
    slow, fast = kernel(WHOLE, 99), kernel(WHOLE, 52)
    for count, makes in ((None, True), (1, True), (2, False)):
        nm.set_packed_forms(count)
        assert _forms.can_make(many, [few]) == makes
        assert not _forms.can_make(few, [many]) and not _forms.can_make(many, [many])
    nm.set_packed_forms(None)
    assert choose(many, [few], gemv=slow) == (many, ["gemv"])
    # A kernel that reads the form is faster than one that makes its own first.
    assert choose(many, [few], gemv=fast)[0] is fast
    # Few rows pack their form, and that of many goes.
    assert choose(few, [many])[0] is few
    assert _forms.is_replaced(many, few) and not _forms.is_replaced(few, many)
    nm.set_packed_forms(2)
    assert not _forms.is_replaced(many, few)


@pytest.mark.skipif(not nm.has_compiler(), reason="no compiler")
def test_which_calls_make_splits():
    """Of a weight that no few rows have packed, calls that take long beside it."""
    def own(rows):
        each = product(rows, dtype="f32")
        return _kernels.compile_product(each, rows, "cuda:sm_90a").only_function()

    assert [_forms.should_pack_few(own(rows)) for rows in (1, 64, 512, 4096)] == [
        False, False, False, True]
    assert _forms.can_make(own(64), [own(1)])
    nm.set_packed_forms(2)
    assert not _forms.should_pack_few(own(4096))


class FakeFunction:
    """A kernel whose bound function says what it took of others."""

    def __init__(self, layout, microseconds, name):
        made = kernel(layout, microseconds, name)
        self._entry, self.ops, self.layout = made._entry, made.ops, layout

    def bind(self, w, device, like, make_of):
        shared = next((each for each in like if each.function.layout == self.layout), None)
        source = next((each for each in make_of if each.function.layout == WHOLE), None)
        bound = SimpleNamespace(function=self, is_made=shared is None and source is not None)
        if shared is not None:
            bound.parts, bound.is_made = shared.parts, shared.is_made
        else:
            bound.parts = source.parts if bound.is_made else {id(bound): 8}
        bound.packed_parts = lambda: bound.parts
        return bound


def bind_rows(monkeypatch, counts):
    """How many rows read what, of calls one after the other: (layout, made) of each that
    is bound at the end, and how many forms are packed."""
    def compile_product(product, rows, target, schedule=None):
        few = rows is not None and rows <= 8
        name = "#nm.gemv<packing = <panel = 32>>" if few else "#nm.wgmma_sp<stages = 3>"
        time = 10 if few else rows or 1000
        function = FakeFunction(WHOLE if few else SPLITS, time, name)
        return SimpleNamespace(only_function=lambda: function)

    monkeypatch.setattr(_kernels, "compile_product", compile_product)
    monkeypatch.setattr(_kernels, "_try_schedule", lambda *args: None)
    w = nm.compress(np.eye(8, dtype=np.float32), "2:4", axis=1)
    gpu = (_kernels.lib.CUDA, 0)
    for rows in counts:
        _kernels._bind(Product(w, rows, None, False, False), gpu, rows, "cuda:sm_90a")
    bound = {key[1]: ("whole" if each.function.layout == WHOLE else "splits", each.is_made)
             for key, each in w._bound.items()}
    return bound, _kernels._count_forms(w, gpu)


def test_a_weight_of_f32_packs_one_form(monkeypatch):
    whole, made = ("whole", False), ("splits", True)
    assert bind_rows(monkeypatch, [1, 16]) == ({1: whole, 16: made}, 1)
    assert bind_rows(monkeypatch, [1, 64, 2, 512]) == (
        {1: whole, 64: made, 2: whole, 512: made}, 1)
    # Splits that are packed go once few rows come, and are made when they come again.
    assert bind_rows(monkeypatch, [16]) == ({16: ("splits", False)}, 1)
    assert bind_rows(monkeypatch, [16, 32, 1]) == ({1: whole}, 1)
    assert bind_rows(monkeypatch, [16, 1, 16]) == ({1: whole, 16: made}, 1)
    # Many rows have few rows' form packed where making theirs takes little time.
    assert bind_rows(monkeypatch, [4096]) == ({1: whole, 4096: made}, 1)
    nm.set_packed_forms(2)
    assert bind_rows(monkeypatch, [1, 16]) == ({1: whole, 16: ("splits", False)}, 2)
    assert bind_rows(monkeypatch, [4096]) == ({4096: ("splits", False)}, 1)


@pytest.mark.skipif(not nm.has_compiler(), reason="no compiler")
@pytest.mark.parametrize("dtype", ["f16", "f32"])
def test_few_rows_have_one_form(dtype):
    """Also where a measured schedule is the fastest, and where orders of indices differ."""
    forms = take_forms([product(rows, dtype=dtype) for rows in (1, 8)], "cuda:sm_90a")
    assert forms[0] and len(set(forms)) == 1
