"""Tensors of bits (torch.bool), which have a byte each in memory, where a vector of them
would be packed: made, read and written by kernels of each target, beside PyTorch in
float64. Sizes are drawn afresh, with those that fill 32, 64 and 128 bits; NM_TEST_SEED
repeats a run."""

import copy
import os

import numpy as np
import pytest
from conftest import relative_error

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", np.random.SeedSequence().entropy % 2 ** 31))
TARGETS = ["cpu", "sim:sm_80", "sim:sm_90a"]


def draw(*path):
    print("NM_TEST_SEED =", SEED)
    torch.manual_seed(SEED + sum(path))
    return np.random.default_rng([SEED, *path])


class LaterHidden(torch.nn.Module):
    """Attention with a mask of bits that the module makes, of the last `window` keys or of
    all before, as transformers does."""

    def __init__(self, window):
        super().__init__()
        self.window = window

    def forward(self, q, k, v):
        row = (torch.arange(q.shape[2]) + 0)[None, None, :, None]
        key = (torch.arange(k.shape[2]) + 0)[None, None, None, :]
        mask = row.new_ones((), dtype=torch.bool) & (key <= row)
        if self.window:
            mask = mask & (key > row - self.window)
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("has_window", [False, True])
@pytest.mark.parametrize("rows", [32, 64, 128, None])
def test_masks_that_a_module_makes(rows, has_window, target):
    rng = draw(0, rows or 1, has_window, TARGETS.index(target))
    rows = rows or int(rng.integers(2, 150))
    q, k, v = (torch.randn(2, 2, rows, 16).half() for _ in range(3))
    module = LaterHidden(int(rng.integers(1, rows + 1)) if has_window else None)
    got = nm.torch.export(module, (q, k, v)).compile(target=target)(q, k, v)
    want = module(q.double(), k.double(), v.double())
    assert relative_error(got.double().numpy(), want.numpy()) < 2e-3


#: What is made of the sums y of a product, by bits of its shape.
EPILOGUES = {
    "elements": lambda y, bits: torch.where(bits, y, -y),
    "columns": lambda y, bits: torch.where(bits[0], y, -y),
    "rows": lambda y, bits: torch.where(bits[:, :1], y, -y),
    "turned": lambda y, bits: torch.where(bits.t().contiguous().t(), y, -y),
    "made": lambda y, bits: torch.where(bits & ~bits[0], y, -y),
    "result": lambda y, bits: (y > 0) & bits[0],
}


class Product(torch.nn.Module):
    def __init__(self, k, n, epilogue):
        super().__init__()
        self.linear = torch.nn.Linear(k, n, bias=False)
        self.epilogue = EPILOGUES[epilogue]

    def forward(self, x, bits):
        return self.epilogue(self.linear(x), bits)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("epilogue", list(EPILOGUES))
@pytest.mark.parametrize("rows", [1, 8, 32, 200])
def test_epilogues_of_products(rows, epilogue, target):
    rng = draw(1, rows, list(EPILOGUES).index(epilogue), TARGETS.index(target))
    dtype = [torch.float16, torch.float32][int(rng.integers(2))]
    k, n = int(rng.choice([128, 256, 512])), int(rng.choice([128, 200, 256, 384]))
    # Integers, so that sums are exact and zero is zero.
    module = Product(k, n, epilogue).eval().requires_grad_(False)
    module.linear.weight.copy_(torch.randint(-2, 3, (n, k)))
    nm.torch.sparsify(module.to(dtype), "2:4", prune=True, force=True)
    x, bits = torch.randint(-2, 3, (rows, k)).to(dtype), torch.rand(rows, n) < .5
    reference = copy.deepcopy(module)
    nm.torch.densify(reference)
    got = nm.torch.export(module, (x, bits)).compile(target=target)(x, bits)
    want = reference.double()(x.double(), bits)
    np.testing.assert_array_equal(got.double().numpy(), want.double().numpy())
