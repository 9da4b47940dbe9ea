"""What a GPU can do, measured: the bandwidths and latencies of its memories, its arithmetic peaks, its launches."""
