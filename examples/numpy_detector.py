"""From a picture to boxes in the CPU emulator: a small head of made-up weights in the place of a trained network.

``python examples/numpy_detector.py seen.png`` also writes the picture with the boxes that are kept.
"""

import sys

import numpy as np
from pictures import SHAPES, read_png, write_png

from autotune import dispatcher

SIZE, CLASSES = 256, ("square", "disc")
COLORS = ((255, 220, 60), (90, 255, 160))


def contrast(image, stride):
    """Of each channel and point: the mean within two strides of it, less that of the ring of one more stride."""
    sums = np.pad(image, ((0, 0), (3 * stride + 1, 3 * stride), (3 * stride + 1, 3 * stride)), mode="edge")
    sums = sums.cumsum(1, dtype=np.float64).cumsum(2)
    centers = np.arange(stride // 2, SIZE, stride) + 3 * stride

    def within(reach):
        low, high = centers - reach * stride, centers + reach * stride
        return sums[:, high][..., high] - sums[:, low][..., high] - sums[:, high][..., low] + sums[:, low][..., low]

    inner, outer = within(2), within(3)
    return (inner / 16 - (outer - inner) / 20).reshape(3, -1) / stride**2


picture = read_png(SHAPES)  # RGB
target, placement = dispatcher.letterbox(picture[None], SIZE, SIZE, dtype="float32", swap_channels=False)

# A linear layer of each point's contrasts: of each side 16 logits of distances, then one logit for each class. Red says
# square, blue says disc; distance 2 is the likeliest, and random weights shift it a little.
levels = np.concatenate([contrast(target[0], stride) for stride in (8, 16, 32)], axis=1)
weights, bias = np.random.default_rng(0).normal(0, 0.3, (64 + len(CLASSES), 3)), np.zeros((64 + len(CLASSES), 1))
weights[64:] = [(16, 0, -16), (-16, 0, 16)]
bias[2:64:16], bias[64:] = 8, -4
head = (weights @ levels + bias).astype(np.float32)[None]

boxes, scores, ids, _, kept = dispatcher.detect(head, SIZE, SIZE, 0.7, 0.1, capacity=1024, max_output=50)

boxes = dispatcher.scale_boxes(boxes, placement, *picture.shape[:2])  # in pixels of the picture

seen = picture.copy()
for box, score, number in zip(boxes[0, : kept[0]], scores[0], ids[0], strict=False):
    corners = box.round().astype(int)
    print(f"{CLASSES[number]} {score:.3f}", corners.tolist())
    x1, y1, x2, y2 = corners.clip(0, [seen.shape[1] - 1, seen.shape[0] - 1] * 2)
    seen[[y1, y2], x1 : x2 + 1] = seen[y1 : y2 + 1, [x1, x2]] = COLORS[number]
if len(sys.argv) > 1 and sys.argv[1].endswith(".png"):
    write_png(sys.argv[1], seen)
