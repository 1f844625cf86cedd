"""Times MobileNet V1, dense and exported whole for a CPU, and its depthwise layers beside PyTorch.

usage: measure_depthwise.py [--threads 1] [--seconds 3]

Layers have batch normalization and ReLU6. Times are the least of calls that take turns, in
microseconds; PyTorch's are those of the faster layout of images. The last number is how many
times as fast nm is.
"""

import argparse
import os

import nm.torch
import torch
import transformers
from measure_convolutions import time_in_turns
from torch import nn

LAYERS = [(32, 1, 112), (64, 2, 112), (128, 1, 56), (128, 2, 56), (256, 1, 28), (256, 2, 28),
          (512, 1, 14), (512, 2, 14), (1024, 1, 7)]


class Logits(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = transformers.MobileNetV1ForImageClassification(
            transformers.MobileNetV1Config(num_labels=1000))

    def forward(self, x):
        return self.model(x).logits


def measure(name, model, x, args):
    compiled = nm.torch.export(model, x).compile(threads=str(args.threads))
    expected = model.double()(x.double())
    model.float()
    error = ((compiled(x) - expected).norm() / expected.norm()).item()
    assert error < 1e-5, error
    last = x.to(memory_format=torch.channels_last)
    mine, planes = time_in_turns([lambda: compiled(x), lambda: model(x)], args.seconds)
    model.to(memory_format=torch.channels_last)
    again, channels_last = time_in_turns([lambda: compiled(x), lambda: model(last)], args.seconds)
    mine, dense = min(mine, again), min(planes, channels_last)
    print(f"{name}: nm {mine:.0f}, PyTorch {dense:.0f}, {dense / mine:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3)
    args = parser.parse_args()
    os.environ["NM_NUM_THREADS"] = str(args.threads)
    torch.manual_seed(0)
    torch.set_num_threads(args.threads)
    with torch.no_grad():
        for channels, stride, size in LAYERS:
            layer = nn.Sequential(
                nn.Conv2d(channels, channels, 3, stride, 1, groups=channels, bias=False),
                nn.BatchNorm2d(channels), nn.ReLU6()).eval()
            measure(f"{channels} channels, {size} x {size}, stride {stride}", layer,
                    torch.randn(1, channels, size, size), args)
        measure("MobileNet V1", Logits().eval(), torch.randn(1, 3, 224, 224), args)


if __name__ == "__main__":
    main()
