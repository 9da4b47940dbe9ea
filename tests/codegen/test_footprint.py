"""What a block takes, as its entry declares it."""

from autotune.codegen.model.footprint import Footprint


def test_an_entry_declares_its_block_and_its_cluster() -> None:
    footprint = Footprint(128, shared_bytes=64, cluster=2, min_blocks_per_sm=3)
    assert footprint.entry("f", "g();") == (
        'extern "C" __global__ void __launch_bounds__(128, 3) __cluster_dims__(2, 1, 1)\n'
        "    f(const Arguments arguments) {\n  g();\n}\n"
    )
    launch = footprint.launch("f", 6)
    assert (launch.grid, launch.threads, launch.shared_bytes, launch.cluster) == ((6, 1, 1), 128, 64, (2, 1, 1))


def test_tensor_maps_are_read_where_the_arguments_lie() -> None:
    assert "f(const __grid_constant__ Arguments arguments)" in Footprint(32).entry("f", "g();", tensor_maps=True)
