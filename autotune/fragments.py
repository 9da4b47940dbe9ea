"""Fragments of attention: how scores change, and which keys are seen, from Python functions of a few operations."""

from autotune.codegen.attention.fragments.trace import alibi as alibi
from autotune.codegen.attention.fragments.trace import exp as exp
from autotune.codegen.attention.fragments.trace import exp2 as exp2
from autotune.codegen.attention.fragments.trace import integers as integers
from autotune.codegen.attention.fragments.trace import mask as mask
from autotune.codegen.attention.fragments.trace import maximum as maximum
from autotune.codegen.attention.fragments.trace import minimum as minimum
from autotune.codegen.attention.fragments.trace import numbers as numbers
from autotune.codegen.attention.fragments.trace import score as score
from autotune.codegen.attention.fragments.trace import tanh as tanh
from autotune.codegen.attention.fragments.trace import where as where
