"""What the gradients of attention are, in float64."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from autotune.codegen.attention.fragmented import FragmentedProblem
from autotune.codegen.model.problem import Array

_CANCELLED = 2.0**-8  # of products whose sums dP and δ are: of one key they are equal, and near 0 sums of FP32 are not


def of_rows(
    problem: FragmentedProblem, inputs: Mapping[str, Array], scalars: Mapping[str, float], rows: Array
) -> dict[str, Array]:
    """The gradients of some rows, those of others 0, beside ``dq_scale`` and its like.

    An element is a sum of products of two factors, one of which kernels round: weights p for dv, dS for dq and dk. Its
    scale is the sum of their sizes, with p·(|dP| + |δ| + `_CANCELLED`·Σ|dO·O|) in the place of dS, and of what is lost
    of factors that are too small for their type.

    Args:
        problem: whose rows these are.
        inputs, scalars: of the problem.
        rows: their numbers: of dq (b, s, h), and behind them of dk and dv (b, t, g).
    """
    return _Gradients(problem, inputs, scalars).of_rows(rows)


class _Gradients:
    def __init__(self, problem: FragmentedProblem, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> None:
        self._problem = problem
        self._views = {name: view.astype(np.float64) for name, view in problem.batched_views(inputs).items()}
        self._seen, self._named = problem.seen(inputs), problem.named(inputs)
        self._scale = scalars["scale"] or problem.usual_scale
        self._softcap = scalars["softcap"] if problem.softcap else 0.0
        terms = self._views["dout"] * self._views["o"]
        self._delta, self._delta_size = (one.sum(axis=-1).transpose(0, 2, 1) for one in (terms, np.abs(terms)))

    def of_rows(self, rows: Array) -> dict[str, Array]:
        problem = self._problem
        shapes = {one.name: one.shape for one in problem.batched_tensors}
        found = {f"{name}{end}": np.zeros(shapes[name]) for name in ("dq", "dk", "dv") for end in ("", "_scale")}
        own, behind = rows[rows < problem.rows], rows[rows >= problem.rows] - problem.rows
        for b, h, queries in _by_head(own, shapes["dq"][:3]):
            self._add(found, b, h, queries, np.arange(problem.keys), ("dq",))
        for b, g, keys in _by_head(behind, shapes["dk"][:3]):
            for h in range(g * problem.group, (g + 1) * problem.group):
                self._add(found, b, h, np.arange(problem.queries), keys, ("dk", "dv"))
        for name, scale in {"dq": self._scale, "dk": self._scale, "dv": 1.0}.items():
            found[name] *= scale
            found[f"{name}_scale"] = np.abs(found[name]) + scale * found[f"{name}_scale"]
        found["dsinks"] = found["dsinks_scale"] = np.zeros(0)
        if problem.sinks:
            lse, sinks = self._views["lse"], self._views["sinks"][:, None]
            some = lse > -np.inf
            weights = np.where(some, np.exp(sinks - np.where(some, lse, 0)), 0)
            found["dsinks"] = -(weights * self._delta).sum(axis=(0, 2))
            found["dsinks_scale"] = (weights * self._delta_size).sum(axis=(0, 2))
        return dict(problem.buffers(found))

    def _add(
        self, found: Mapping[str, Array], b: int, h: int, queries: Array, keys: Array, wanted: tuple[str, ...]
    ) -> None:
        """Add what pairs of these queries of head h and these keys give to the gradients that are wanted."""
        problem, g = self._problem, h // self._problem.group
        q, dout = (self._views[name][b, queries, h] for name in ("q", "dout"))
        k, v = (self._views[name][b, keys, g] for name in "kv")
        lse, delta = self._views["lse"][b, h, queries, None], self._delta[b, h, queries, None]
        cancelled = np.abs(delta) + _CANCELLED * self._delta_size[b, h, queries, None]
        scores, slope = q @ k.T * self._scale, np.ones(1)
        if self._softcap:
            bent = np.tanh(scores / self._softcap)
            scores, slope = self._softcap * bent, 1 - bent**2
        places = self._named(b, h, queries, keys)
        slope = slope * problem.slopes(scores, places)
        scores, let = problem.changed(scores, places)
        seen = self._seen(b, queries)[:, keys] & let & (lse > -np.inf)
        p = np.where(seen, np.exp(np.where(seen, scores - lse, 0)), 0)
        gradient = dout @ v.T
        factors = {"ds": p * (gradient - delta) * slope, "p": p}
        sizes = {"ds": p * (np.abs(gradient) + cancelled) * np.abs(slope) + problem.flushed * seen}
        sizes["p"] = p + problem.flushed * seen
        terms = {
            "dq": ("ds", (b, queries, h), k),
            "dk": ("ds", (b, keys, g), q),
            "dv": ("p", (b, keys, g), dout),
        }
        for name in wanted:
            factor, place, other = terms[name]
            turned = (lambda one: one) if name == "dq" else np.transpose
            found[name][place] += turned(factors[factor]) @ other
            found[f"{name}_scale"][place] += turned(sizes[factor]) @ np.abs(other)


def _by_head(rows: Array, shape: tuple[int, ...]) -> Iterator[tuple[int, int, Array]]:
    """Of rows (batch, sequence, head): each batch and head that has some, and where in the sequence they are."""
    sequences, places, heads = np.unravel_index(rows, shape)
    for b, h in sorted({*zip(sequences.tolist(), heads.tolist(), strict=True)}):
        yield b, h, places[(sequences == b) & (heads == h)]
