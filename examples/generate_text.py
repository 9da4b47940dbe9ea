"""Text of a tiny model of characters, by four ways to choose the next one; NumPy chooses the same.

The model is trained here: a softmax regression on the last three characters. A batch of one `sampling` call generates
greedily, by top-k and by top-p, since each row has parameters of its own. A beam search keeps the likeliest lines by
`log_softmax` and `beam_step`. Runs anywhere: arrays of NumPy are computed in the emulator.

    python examples/generate_text.py
"""

import numpy as np

from autotune import dispatcher
from autotune.codegen.selection.sampling.problem import SamplingProblem

TEXT = """the key is read once, the row is sorted.
the row is read, the keys are counted.
a block reads a row, a warp reads a tile.
the tile is sorted, the keys are stored.
a warp counts the keys, a block stores the row.
"""
LETTERS = sorted(set(TEXT))
CONTEXT, LENGTH, BEAMS, SEED = 3, 32, 4, 7
END = LETTERS.index("\n")


def encoded(text):
    """The numbers of characters."""
    return [LETTERS.index(letter) for letter in text]


def features(contexts):
    """A 1 for each place and character of some contexts."""
    found = np.zeros((len(contexts), CONTEXT, len(LETTERS)), np.float32)
    for row, context in enumerate(contexts):
        found[row, range(CONTEXT), context[-CONTEXT:]] = 1
    return found.reshape(len(contexts), -1)


def trained(steps=300, rate=8.0):
    """The weights of a softmax regression, by gradient descent on all of the text."""
    letters = encoded("\n" * CONTEXT + TEXT)
    x = features([letters[i : i + CONTEXT] for i in range(len(TEXT))])
    y = np.eye(len(LETTERS), dtype=np.float32)[letters[CONTEXT:]]
    weights = np.zeros((x.shape[1], len(LETTERS)), np.float32)
    for _ in range(steps):
        powers = np.exp(x @ weights)
        weights += rate / len(x) * x.T @ (y - powers / powers.sum(1, keepdims=True))
    return weights


def generated(weights, sample):
    """A line of each row: greedy, top-k and top-p."""
    rows = [encoded("\n" * CONTEXT) for _ in range(3)]
    parameters = {
        "temperature": np.array([0, 1, 1], np.float32),
        "top_k": np.array([0, 4, 0], np.int32),
        "top_p": np.array([1, 1, 0.8], np.float32),
    }
    for step in range(LENGTH):
        tokens = sample(features(rows) @ weights, step, parameters)
        for row, token in zip(rows, tokens, strict=True):
            row.append(int(token))
    return ["".join(LETTERS[token] for token in row[CONTEXT:]).partition("\n")[0] for row in rows]


def by_kernels(logits, step, parameters):
    """A token of each row, by a kernel."""
    return dispatcher.sampling(logits, SEED, step, **parameters)


def by_numpy(logits, step, parameters):
    """A token of each row, by the reference in NumPy."""
    problem = SamplingProblem(*logits.shape, top_k=True, top_p=True)
    inputs = {"x": logits.reshape(-1), **parameters}
    return problem.reference(inputs, {"seed": SEED, "offset": step})["tokens"]


def beam(weights, log_probabilities, best):
    """The line of the largest mean logarithm of its characters' probabilities that a search of `BEAMS` lines finds."""
    lines, scores, finished = [encoded("\n" * CONTEXT)], np.zeros(1, np.float32), []
    for _ in range(LENGTH):
        parents, letters, totals = best(log_probabilities(features(lines) @ weights), scores)
        lines = [[*lines[parent], int(letter)] for parent, letter in zip(parents, letters, strict=True)]
        ended = [line[-1] == END for line in lines]
        found = zip(totals, lines, ended, strict=True)
        finished += [(score / (len(line) - CONTEXT), line) for score, line, end in found if end]
        kept = [number for number, end in enumerate(ended) if not end]
        lines, scores = [lines[number] for number in kept], totals[kept]
        if not lines:
            break
    finished += [(score / (len(line) - CONTEXT), line) for score, line in zip(scores, lines, strict=True)]
    return "".join(LETTERS[token] for token in max(finished)[1][CONTEXT:]).strip()


def numpy_log_softmax(logits):
    """What `log_softmax` computes."""
    logits = logits.astype(np.float64)
    return (logits - np.log(np.exp(logits).sum(1, keepdims=True))).astype(np.float32)


def numpy_best(log_probabilities, scores):
    """What `beam_step` finds."""
    totals = (log_probabilities + scores[:, None]).reshape(-1)
    places = np.argsort(-totals, kind="stable")[:BEAMS]
    return *np.divmod(places, len(LETTERS)), totals[places]


def main():
    """Compare the lines of kernels with those of NumPy."""
    weights = trained()
    lines = [
        *generated(weights, by_kernels),
        beam(weights, dispatcher.log_softmax, lambda x, scores: dispatcher.beam_step(x, scores, BEAMS)),
    ]
    expected = [*generated(weights, by_numpy), beam(weights, numpy_log_softmax, numpy_best)]
    for mode, line in zip(("greedy", "top-k", "top-p", "beam"), lines, strict=True):
        print(f"{mode:8}{line}")
    if lines != expected:
        raise SystemExit(f"NumPy generates {expected}")
    print("NumPy generates the same")


if __name__ == "__main__":
    main()
