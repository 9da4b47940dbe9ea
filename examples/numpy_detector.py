"""From a picture to boxes in the CPU emulator: a drawn picture, a small head of made-up weights, and what it sees."""

import numpy as np

from autotune import dispatcher

SIZE, CLASSES = 128, 2  # of the network's input; squares and discs

picture = np.full((90, 120, 3), 30, np.uint8)  # BGR
picture[20:50, 15:45] = (40, 40, 220)  # a red square
rows, columns = np.indices(picture.shape[:2])
picture[(rows - 60) ** 2 + (columns - 85) ** 2 < 18**2] = (220, 60, 40)  # a blue disc

target, placement = dispatcher.letterbox(picture[None], SIZE, SIZE, dtype="float32")  # RGB
ratio, left, top = placement[0]


def means(image, stride):
    """Of each channel, over each square of so many pixels."""
    return image.reshape(3, SIZE // stride, stride, SIZE // stride, stride).mean((2, 4)).reshape(3, -1)


# In the place of a trained network: red says square, blue says disc, and a box reaches two strides around its point.
levels = np.concatenate([means(target[0], stride) for stride in (8, 16, 32)], axis=1)
head = np.zeros((1, 64 + CLASSES, levels.shape[1]), np.float32)
head[0, 2:64:16] = 20  # bin 2 of each side
head[0, 64] = 12 * (levels[0] - levels[2]) - 4
head[0, 65] = 12 * (levels[2] - levels[0]) - 4

boxes, scores, classes, _, count = dispatcher.decode(head, SIZE, SIZE, 0.9, capacity=256)
indices, kept = dispatcher.nms(boxes, scores, 0.1, classes=classes, counts=count, max_output=20)

for index in indices[0, : kept[0]]:
    corners = (boxes[0, index] - [left, top, left, top]) / ratio  # in pixels of the picture
    name = ("square", "disc")[classes[0, index]]
    print(f"{name} {scores[0, index]:.3f}", corners.round().astype(int).tolist())
