"""What users would call instead of nms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.vision.nms.problem import Classes, NmsProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall


def _nms(torch: Any, problem: NmsProblem, tensors: Mapping[str, Any]) -> Callable[[], None]:
    """torchvision takes one image at a time. Its results have as many elements as are kept, so no array takes them."""
    if problem.images != 1 or problem.counted:
        raise NotTakenError("torchvision takes the boxes of one image, all of which count")
    from torchvision.ops import batched_nms, nms

    boxes, scores, threshold = tensors["boxes"][0], tensors["scores"][0], problem.scalars["iou_threshold"]
    ids = None if problem.classes is Classes.NONE else tensors["classes"][0]

    def compute() -> None:
        if ids is None:
            nms(boxes, scores, threshold)
        else:
            batched_nms(boxes, scores, ids, threshold)

    return compute


# It has no threshold of scores, orders equal scores as it likes, and takes NaN for the highest one.
BASELINES: Mapping[str, TorchCall | str] = {
    "torchvision": TorchCall("torchvision.ops.nms", _nms, verified=False, replayed=False, needs="torchvision")
}
