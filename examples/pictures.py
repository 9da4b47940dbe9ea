"""PNG files of 8-bit RGB, and the picture of numpy_detector.py: ``python examples/pictures.py`` draws it.

The picture is the project's own, and CC0: do with it what you like.
"""

import struct
import zlib
from pathlib import Path

import numpy as np

SHAPES = Path(__file__).with_name("shapes.png")
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_FINE = 4  # dots along each side of a pixel, whose mean it is


def write_png(path, pixels):
    """Write uint8 pixels of shape (height, width, 3) in RGB."""
    height, width = pixels.shape[:2]
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)  # 0: not filtered
    header = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(rows.tobytes(), 9)
    chunks = {b"IHDR": header, b"tEXt": b"License\0CC0 1.0", b"IDAT": data, b"IEND": b""}
    framed = (
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks.items()
    )
    Path(path).write_bytes(_SIGNATURE + b"".join(framed))


def read_png(path):
    """The pixels of a file that `write_png` wrote."""
    content, at, data = Path(path).read_bytes(), len(_SIGNATURE), b""
    while at < len(content):
        (length,), name = struct.unpack(">I", content[at : at + 4]), content[at + 4 : at + 8]
        body = content[at + 8 : at + 8 + length]
        if name == b"IHDR":
            width, height, *kind = struct.unpack(">2I5B", body)
            if kind != [8, 2, 0, 0, 0]:
                raise ValueError(f"{path} is of kind {kind}: expected 8-bit RGB")
        data += body if name == b"IDAT" else b""
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + 3 * width)
    if rows[:, 0].any():
        raise ValueError(f"{path} has filtered rows: expected those of write_png")
    return rows[:, 1:].reshape(height, width, 3)


def shapes():
    """Squares in reds and discs in blues on a ground that grows lighter downwards, 240 pixels high and 320 wide."""
    y, x = (np.indices((240 * _FINE, 320 * _FINE), np.float32) + 0.5) / _FINE
    dots = np.stack([40 + y / 6, 46 + y / 6, 52 + y / 6], axis=-1)
    squares = ((50, 30, 80, (222, 60, 48)), (235, 45, 40, (200, 50, 60)), (265, 165, 40, (240, 80, 40)))
    for left, top, side, color in squares:
        dots[(abs(x - left - side / 2) < side / 2) & (abs(y - top - side / 2) < side / 2)] = color
    for center_x, center_y, radius, color in ((170, 150, 40, (56, 90, 226)), (65, 195, 20, (40, 60, 190))):
        dots[(x - center_x) ** 2 + (y - center_y) ** 2 < radius**2] = color
    return dots.reshape(240, _FINE, 320, _FINE, 3).mean((1, 3)).round().astype(np.uint8)


if __name__ == "__main__":
    write_png(SHAPES, shapes())
