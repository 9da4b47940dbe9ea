"""The occupancy of kernels as tables."""

from __future__ import annotations

from typing import Any

from .output import print_table

_BAR = 32  # characters for all warps of an SM
_NAMES = {"threads": "threads", "registers": "registers of a thread", "shared_bytes": "shared memory"}


def print_occupancy(document: dict[str, Any], operator: str) -> None:
    """Print what `occupancy_document` found of a kernel, an operator's or any: the limits, a chart of each resource."""
    blocks, slots, resources = document["blocks_per_sm"], document["most_blocks_per_sm"], document["resources"]
    kernel = operator if document["entry"] in ("", operator) else f"{operator}: {document['entry']}"
    print(f"{kernel} on {document['device']}" if kernel else document["device"])
    print(
        f"{_blocks(blocks)} per SM, {document['warps_per_sm']} of {document['most_warps_per_sm']} warps "
        f"({document['fraction']:.0%}), limited by {' and '.join(document['limiters'])}\n"
    )
    rows = [
        (_NAMES[name], *(_amount(name, one[column]) for column in ("of_block", "most_for_one_more")), one["blocks"])
        for name, one in resources.items()
    ]
    rows.append(("blocks", "", "" if blocks < slots else "never", slots))
    print_table("Resources", ("", "kernel", f"{_blocks(blocks + 1)} need at most", "blocks it allows"), rows)
    for name, one in resources.items():
        if one["steps"]:
            columns = (f"{_NAMES[name]} up to", "blocks", "warps", "")
            print_table(f"Other {_NAMES[name]}", columns, _chart(name, one, document["most_warps_per_sm"]))


def _chart(name: str, resource: dict[str, Any], most_warps: int) -> list[tuple[Any, ...]]:
    """A row for each step, the kernel's own marked."""
    rows, below = [], -1
    for step in resource["steps"]:
        own = below < resource["of_block"] <= step["most"]
        bar = "█" * round(_BAR * step["warps_per_sm"] / most_warps)
        below = step["most"]
        rows.append((_amount(name, below), step["blocks_per_sm"], step["warps_per_sm"], bar + " ←" * own))
    return rows


def _amount(name: str, value: int | None) -> str:
    if value is None:
        return "never"
    return f"{value / 1024:.6g} KiB" if name == "shared_bytes" else str(value)


def _blocks(count: int) -> str:
    return f"{count} block{'s' * (count != 1)}"
