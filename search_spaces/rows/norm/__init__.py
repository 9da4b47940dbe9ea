"""rms_norm and layer_norm, as the rest of the project knows them: an operator for each module of their names."""
