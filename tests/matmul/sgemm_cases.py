"""sgemm's problems for the contract."""

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
MOST = 24  # cases: copies, pipelines and clusters of many kinds go together


PROBLEMS = {
    "m4096-n4096-k4096-nn": SgemmProblem(4096, 4096, 4096),
    "m1023-n1025-k1021-tn-alignb4": SgemmProblem(1023, 1025, 1021, transpose_a=True, align_b=4),
    "m1000-n1000-k1000-nt-lda1002-alignc8-beta": SgemmProblem(
        1000, 1000, 1000, transpose_b=True, lda=1002, align_c=8, beta_nonzero=True
    ),
    "m64-n64-k8192-nn": SgemmProblem(64, 64, 8192),
    "m16-n262144-k16-nn-batch3-sb4194304": SgemmProblem(16, 2**18, 16, batch=3, stride_b=2**22),
    "m3-n1000000000-k1-nn": SgemmProblem(3, 10**9, 1),
    "m1-n70-k1-nn-lda1073741824-ldb1073741824-ldc1073741824": SgemmProblem(1, 70, 1, lda=2**30, ldb=2**30, ldc=2**30),
    "m1-n1-k1-nn": SgemmProblem(1, 1, 1),
    "m1-n300-k40-tt": SgemmProblem(1, 300, 40, transpose_a=True, transpose_b=True),
    "m300-n1-k40-nt-ldc3": SgemmProblem(300, 1, 40, transpose_b=True, ldc=3),
    "m5-n7-k0-nn-beta": SgemmProblem(5, 7, 0, beta_nonzero=True),
    "m0-n5-k7-nn": SgemmProblem(0, 5, 7),
    "m5-n7-k3-nn-batch0": SgemmProblem(5, 7, 3, batch=0),
}
SMALL_PROBLEMS = (
    SgemmProblem(128, 256, 64),
    SgemmProblem(67, 131, 45, transpose_a=True, transpose_b=True, batch=2, beta_nonzero=True),
)
