"""Few long rows, each of which many blocks share: what such kernels of all operators have in common."""
