"""rms_norm and layer_norm: rows divided by their root mean square, or brought to mean 0 and variance 1."""
