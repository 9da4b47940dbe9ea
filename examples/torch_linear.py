"""Train a small model whose layers multiply by autotune's sgemm, and compare its losses with those of PyTorch's own."""

import torch

import autotune.torch

torch.backends.cuda.matmul.allow_tf32 = False


def losses(linear: type[torch.nn.Linear]) -> torch.Tensor:
    """The loss at each step of a training from the same start, on the same task."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(linear(64, 256), torch.nn.GELU(), linear(256, 8)).cuda()
    x, y = torch.rand(32, 20, 64, device="cuda"), torch.rand(32, 20, 8, device="cuda")
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    found = []
    for _ in range(100):
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        found.append(loss.detach())
    return torch.stack(found)


print("largest difference:", (losses(autotune.torch.Linear) - losses(torch.nn.Linear)).abs().max().item())
