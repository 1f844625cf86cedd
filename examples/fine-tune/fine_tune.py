"""Fine-tunes a small network from dense to 2:4, on data that it makes, and prints the
loss on data that the network has not seen.

usage: fine_tune.py [--pattern 2:4] [--steps 300] [--seed 0]
"""

import argparse
import copy

import nm
import nm.torch
import torch
from torch import nn

INPUTS, WIDTH, OUTPUTS, BATCH = 16, 128, 8, 128


def make_network():
    return nn.Sequential(nn.Linear(INPUTS, WIDTH), nn.GELU(),
                         nn.Linear(WIDTH, WIDTH), nn.GELU(),
                         nn.Linear(WIDTH, OUTPUTS))


def make_data(rows, generator):
    """Inputs, and sums of the products of neighbours among them."""
    x = torch.randn(rows, INPUTS, generator=generator)
    return x, (x * x.roll(1, -1)).unflatten(-1, (OUTPUTS, -1)).sum(-1)


def train(network, generator, steps, rate, schedule=None):
    optimizer = torch.optim.AdamW(network.parameters(), rate, weight_decay=0)
    decline = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    network.train()
    for step in range(steps):
        x, y = make_data(BATCH, generator)
        optimizer.zero_grad()
        nn.functional.mse_loss(network(x), y).backward()
        optimizer.step()
        decline.step()
        if schedule is not None and 2 * step < steps:  # Then masks stay.
            schedule.step()
    return network.eval()


def loss_of(network, seed):
    x, y = make_data(4096, torch.Generator().manual_seed(seed + 1))
    with torch.no_grad():
        return nn.functional.mse_loss(network(x), y).item()


def prune(network, pattern):
    """A twin of the network whose layers have the pattern, by magnitude."""
    pruned = copy.deepcopy(network)
    nm.torch.sparsify(pruned, pattern, prune=True)
    return pruned


def run(pattern="2:4", steps=300, seed=0):
    """The losses of the dense network, of the pruned one, and after fine-tuning with
    the mask as it is, and with one that is chosen anew every 10 steps of the first
    half."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    dense = train(make_network(), generator, 3 * steps, 3e-3)
    losses = {"dense": loss_of(dense, seed)}

    pruned = prune(dense, pattern)
    losses["pruned"] = loss_of(pruned, seed)
    losses["fine-tuned, mask frozen"] = loss_of(
        train(pruned, generator, steps, 3e-3), seed)

    moving = copy.deepcopy(dense)
    schedule = nm.torch.mask_layers(moving, pattern, rule="sr-ste", every=10)
    train(moving, generator, steps, 3e-3, schedule)
    schedule.finish()
    for network in (pruned, moving):
        for layer in network:
            if isinstance(layer, nm.torch.NMLinear):
                assert nm.check(layer.weight, pattern, axis=1)
    losses["fine-tuned, SR-STE"] = loss_of(moving, seed)
    return losses


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pattern", default="2:4")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    losses = run(args.pattern, args.steps, args.seed)
    lost = losses["pruned"] - losses["dense"]
    print(f"{'':24}  loss    of what pruning added")
    for name, loss in losses.items():
        print(f"{name:24}  {loss:.4f}  {100 * (loss - losses['dense']) / lost:.0f} %")


if __name__ == "__main__":
    main()
