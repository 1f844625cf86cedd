"""Exported operators that put elements in other places, compared with PyTorch: sorting,
writes to computed places, products of all elements so far, and pools of any sizes."""

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from test_torch_export_ops import Function, check, draw, every, same  # noqa: E402
from torch.nn import functional as F  # noqa: E402

NAN, INF = float("nan"), float("inf")
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16],
                                 ids=str)

SORTS = {"sort": lambda x: tuple(x.sort(dim=1, stable=True)),
         "descending": lambda x: tuple(x.sort(dim=1, descending=True, stable=True)),
         "rows": lambda x: tuple(x.sort(dim=0, stable=True)),
         "places": lambda x: x.argsort(dim=-1, stable=True),
         "median": lambda x: tuple(x.median(1)),
         "median of columns": lambda x: tuple(x.median(0, keepdim=True))}


def distinct(x):
    """Another order of 0, 1, ... in each row: an order of equal elements is not defined
    for all of these operators."""
    return x.argsort(1).to(x.dtype)


@DTYPES
def test_sorts(dtype):
    check(every(SORTS), distinct(draw(5, 9)).to(dtype) - 4)
    check(every(SORTS), distinct(draw(5, 9, seed=1)).to(torch.int32))


def test_sorts_of_any_batch():
    functions = every({name: each for name, each in SORTS.items()
                       if name not in ("rows", "median of columns")})
    check(functions, distinct(draw(3, 6)), dynamic=True)


def test_sorts_of_equal_elements_and_nan():
    x = torch.tensor([[2., NAN, -INF, 2., INF, NAN, -0., 0.], [1, 1, 1, 0, 0, 0, 1, 1]])
    functions = every({name: SORTS[name] for name in ("sort", "descending", "places")})
    compiled = nm.torch.export(Function(functions), (x,)).compile(opt_level=1)
    same(compiled(x), functions(x), 1e-9)
    value, place = nm.torch.export(Function(SORTS["median"]), (x,)).compile(
        opt_level=1)(x)
    assert value[0].isnan() and place[0] in (1, 5) and value[1] == 1


def test_a_long_sort_is_refused():
    with pytest.raises(nm.Error, match="sort"):
        nm.torch.export(Function(lambda x: x.sort(1)), (draw(1, 4097),))


@DTYPES
def test_writes_to_computed_places(dtype):
    places = draw(4, 7).argsort(1)[:, :3]
    check(every({
        "sources": lambda x, y, at: x.scatter(1, at, y),
        "a number": lambda x, y, at: x.scatter(1, at, 2.5),
        "sums": lambda x, y, at: x.scatter_add(1, at, y),
        "fewer rows": lambda x, y, at: x.scatter(1, at[:2], y),
        "rows": lambda x, y, at: x.scatter_add(0, at[:, :1] % 4, y),
        "sums at one place": lambda x, y, at: x.scatter_add(1, at * 0 + 6, y)}),
        draw(4, 7, dtype=dtype), draw(4, 5, dtype=dtype, seed=1), places)


def test_writes_of_nan_stay_where_they_are_written():
    x, y = draw(2, 5), torch.tensor([[NAN, INF], [1., -INF]])
    places = torch.tensor([[4, 0], [1, 1]])
    functions = every({"sums": lambda x, y, at: x.scatter_add(1, at, y),
                       "sources": lambda x, y, at: x.scatter(1, at.flip(1) * 2 % 5, y)})
    compiled = nm.torch.export(Function(functions), (x, y, places)).compile(opt_level=1)
    same(compiled(x, y, places), functions(x, y, places), 1e-6)


def test_integers():
    places = torch.tensor([[0, 2, 1], [4, 4, 4]])
    check(every({"classes": lambda x, at: F.one_hot(at, 6),
                 "counts": lambda x, at: x.scatter_add(1, at, torch.ones_like(x)),
                 "products": lambda x, at: x.cumprod(1)}),
          torch.tensor([[3, -2, 3, 1, 5], [0, -2, 7, 7, 1]]), places)


def test_others():
    x = draw(3, 5)
    x[0, 1], x[1, 2] = INF, -INF
    check(every({"infinite": torch.isinf,
                 "where": lambda x: x.index_put((x > 0.5,), torch.tensor(-1.0))}), x)
    check(every({"products": lambda x: x.cumprod(1),
                 "distances": lambda x: torch.cdist(x, x[:2] + 1),
                 "of blocks": lambda x: torch.cdist(x, x[:2] + 1, p=1.0)}), draw(3, 5))


@DTYPES
def test_adaptive_pools(dtype):
    check(every({"to fewer": lambda x: F.adaptive_avg_pool2d(x, (3, 2)),
                 "to more": lambda x: F.adaptive_avg_pool2d(x, (7, 8)),
                 "one dimension": lambda x: F.adaptive_avg_pool2d(x, (5, 4))}),
          draw(2, 3, 5, 7, dtype=dtype))


@pytest.mark.parametrize("dynamic", [False, True])
def test_empty_parts(dynamic):
    """As of heads that rotary embeddings turn whole, which leave nothing behind."""
    def written(x):
        y = x.clone()
        y[:, 6:] = x[:, :0]
        return y

    check(every({
        "behind": lambda x: torch.cat([x[:, :6] * 2, x[:, 6:]], -1),
        "before": lambda x: torch.cat([x[:, :0], x[:, 2:]], -1),
        "between": lambda x: torch.cat([x[:, :2], x[:, 6:], x[:, 2:]], -1),
        "all": lambda x: torch.cat([x[:, 6:], x[:, :0]], -1),
        "past the end": lambda x: torch.cat([x, x[:, 9:12]], -1),
        "split": lambda x: torch.cat(x.split([6, 0], -1)[::-1], -1),
        "sum": lambda x: x[:, 6:].sum(-1), "added": lambda x: x[:, 6:] + 1,
        "written": written,
    }), draw(4, 6), dynamic=dynamic)


def test_repeats_by_the_batch():
    """As of relative positions, which DeBERTa has once for each sequence and head."""
    check(every({
        "whole": lambda x: x[:1].repeat(x.shape[0], 1) + x,
        "new dimension": lambda x: x[0, :4].repeat(x.shape[0], 1),
        "of blocks": lambda x: torch.arange(12.).view(2, 6).repeat(
            x.shape[0], 1).view(x.shape[0], 2, 6) * x[:, None],
        "twice": lambda x: x.repeat(1, 2)}), draw(3, 6), dynamic=True)


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_mean_of_all_places(dynamic):
    """Its result has other strides, of sizes of one."""
    check(lambda x: F.adaptive_avg_pool1d(x, 1), draw(3, 4, 6), dynamic=dynamic)
    check(lambda x: F.adaptive_avg_pool2d(x, 1), draw(3, 4, 6, 5), dynamic=dynamic)


def test_strides_that_move_elements():
    """They name places in the order in which elements are stored."""
    check(every({
        "transposed": lambda x: x.as_strided((6, 4), (1, 6)),
        "windows": lambda x: x.as_strided((5, 3), (4, 1), 2),
        "of a transposition": lambda x: x.t().as_strided((4, 6), (6, 1)) + 1,
    }), draw(4, 6))


def test_strides_of_what_has_gaps_are_refused():
    with pytest.raises(nm.Error, match="strides that stay in a tensor without gaps"):
        nm.torch.export(Function(lambda x: x[:, ::2].as_strided((4, 2), (6, 4))),
                        (draw(4, 6),))
