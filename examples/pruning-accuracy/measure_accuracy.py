"""Trains a small network on scikit-learn's digits, prunes it in many ways, and prints how
many of the digits that it has not seen it still knows.

usage: measure_accuracy.py [--seeds 5] [--epochs 60] [--tune 20] [--only REGEX]
                           [--csv FILE] [--quick]

The layers in between the first and the last are pruned to a pattern, by its granularity and share of zeros, or
to the same share of zeros anywhere. Weights are chosen by magnitude, by Wanda, by
SparseGPT, by Wanda with the inputs' means taken off (centred), or by magnitude in an order
of inputs that keeps more, which is folded into the layer before. Then the network is
trained on with its zeros held. Needs PyTorch and
scikit-learn; takes minutes on 2 cores, and --quick seconds.
"""

import argparse
import csv
import re
import statistics

import nm
import torch
from torch import nn
from torch.nn import functional

WIDTH, CLASSES, BATCH = 256, 10, 64
ANYWHERE = "anywhere"
# By share of zeros: the pattern of each granularity.
PATTERNS = {
    "50 %": ["2:4", "16:32", "16:32, block = 1x4", "16:32, block = 1x32", "2:4, block = 4x4",
             ANYWHERE],
    "75 %": ["1:4", "8:32", "8:32, block = 1x4", "8:32, block = 1x32", "1:4, block = 4x4",
             ANYWHERE],
    "87.5 %": ["1:8", "4:32", "4:32, block = 1x4", "4:32, block = 1x32",
               "1:8, block = 4x4", ANYWHERE],
}
# Of inputs, for Wanda's scores.
NORMS = {"wanda": lambda x: x.norm(dim=0), "centred": lambda x: (x - x.mean(0)).norm(dim=0)}
METHODS = ("magnitude", "wanda", "centred", "sparsegpt", "permuted")


def make_network():
    return nn.Sequential(nn.Linear(64, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH),
                         nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
                         nn.Linear(WIDTH, CLASSES))


def split(seed):
    """Training and test digits, in an order of the seed's."""
    from sklearn.datasets import load_digits
    digits = load_digits()
    x = torch.tensor(digits.data / 16, dtype=torch.float32)
    y = torch.tensor(digits.target)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    test = len(x) // 3
    return x[order[test:]], y[order[test:]], x[order[:test]], y[order[:test]]


def train(network, x, y, epochs, rate, masks=None):
    """With masks their zeros are held."""
    optimizer = torch.optim.AdamW(network.parameters(), rate)
    steps = epochs * (len(x) // BATCH)
    decline = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(steps, 1))
    for _ in range(epochs):
        for rows in torch.randperm(len(x))[:len(x) // BATCH * BATCH].view(-1, BATCH):
            optimizer.zero_grad()
            functional.cross_entropy(network(x[rows]), y[rows]).backward()
            optimizer.step()
            decline.step()
            for layer, mask in (masks or {}).items():
                layer.weight.data *= mask


@torch.no_grad()
def known(network, x, y):
    """The share of digits that it knows, in per cent."""
    return 100 * float((network(x).argmax(1) == y).float().mean())


@torch.no_grad()
def prune_anywhere(weight, zeros, scores):
    """Without a pattern: the least scores of the whole layer go."""
    dropped = round(weight.numel() * zeros)
    order = scores.flatten().argsort()
    pruned = weight.flatten().clone()
    pruned[order[:dropped]] = 0
    return pruned.view_as(weight)


@torch.no_grad()
def prune_outputs(weight, zeros, scores):
    """Without a pattern: the least scores of each output go, as Wanda compares them."""
    return weight.scatter(1, scores.argsort(1)[:, :round(weight.shape[1] * zeros)], 0)


@torch.no_grad()
def prune_layer(layer, before, x, pattern, zeros, method):
    """Prunes a layer whose inputs are `x`; `before` is the layer that makes them. Gives
    the relative error of the product."""
    weight = layer.weight.data
    scores = nm.wanda_scores(weight, NORMS[method](x)) if method in NORMS else method
    if pattern == ANYWHERE:
        layer.weight.data = (prune_outputs(weight, zeros, scores) if method in NORMS
                             else prune_anywhere(weight, zeros, weight.abs()))
    elif method != "permuted":
        layer.weight.data = nm.prune(weight, pattern, axis=1, activations=x,
                                     scores=scores).weight
    if method != "permuted":
        product = x @ weight.T
        return float((product - x @ layer.weight.data.T).norm() / product.norm())
    found = nm.prune(weight, pattern, axis=1, activations=x, permute=True)
    layer.weight.data = found.weight
    order = torch.as_tensor(found.permutation)
    # The layer before makes its outputs in that order.
    before.weight.data = before.weight.data[order]
    before.bias.data = before.bias.data[order]
    return found.report.relative_error


def pruned_copy(network, x, pattern, zeros, method):
    """Layer by layer, so that each sees the inputs that the pruned ones before make; with
    the masks of what is left, and the mean of the products' errors in per cent."""
    copy = make_network()
    copy.load_state_dict(network.state_dict())
    layers = [layer for layer in copy if isinstance(layer, nn.Linear)]
    errors = []
    # The first and the last layer stay dense, as is usual.
    for i in range(1, len(layers) - 1):
        inputs = x
        for each in layers[:i]:
            inputs = functional.relu(each(inputs)).detach()
        errors.append(100 * prune_layer(layers[i], layers[i - 1], inputs, pattern, zeros,
                                        method))
    return (copy, {layer: (layer.weight.data != 0).float() for layer in layers[1:-1]},
            statistics.mean(errors))


def granularity(pattern):
    n_of_m, _, block = pattern.partition(", block = ")
    return block or ("anywhere" if pattern == ANYWHERE else "1x1"), n_of_m


def measure(args):
    """Lines of the table: a way to prune, and what is known before and after training on,
    as the mean of all seeds with the standard deviation."""
    patterns = PATTERNS if not args.quick else {"50 %": ["2:4", ANYWHERE]}
    results, dense = {}, []
    for seed in range(args.seeds):
        torch.manual_seed(seed)
        x, y, test_x, test_y = split(seed)
        network = make_network()
        train(network, x, y, args.epochs, 1e-3)
        dense.append((known(network, test_x, test_y),))
        for share, each in patterns.items():
            zeros = float(share.split()[0]) / 100
            for pattern in each:
                for method in METHODS:
                    # What changes weights or orders needs windows.
                    if pattern == ANYWHERE and method in METHODS[3:]:
                        continue
                    if not re.search(args.only, f"{share}, {pattern}, {method}"):
                        continue
                    copy, masks, error = pruned_copy(network, x, pattern, zeros, method)
                    before = known(copy, test_x, test_y)
                    train(copy, x, y, args.tune, 5e-4, masks)
                    results.setdefault((share, pattern, method), []).append(
                        (error, before, known(copy, test_x, test_y)))
    return dense, results


def mean_of(values):
    spread = statistics.stdev(values) if len(values) > 1 else 0
    return f"{statistics.mean(values):.1f} ± {spread:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--tune", type=int, default=20)
    parser.add_argument("--only", default="", metavar="REGEX",
                        help='lines to measure, as "50 %%, 2:4, wanda"')
    parser.add_argument("--csv")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    dense, results = measure(args)
    header = ["zeros", "pruned at once", "pattern", "chosen by", "error", "pruned",
              "trained on"]
    lines = [["0 %", "-", "dense", "-", "-", mean_of([each[0] for each in dense]), "-"]]
    for (share, pattern, method), pairs in results.items():
        block, n_of_m = granularity(pattern)
        lines.append([share, block, n_of_m, method,
                      *(mean_of(values) for values in zip(*pairs))])
    for line in [header, *lines]:
        print("  ".join(f"{field:14}" for field in line).rstrip())
    if args.csv:
        with open(args.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *lines])


if __name__ == "__main__":
    main()
