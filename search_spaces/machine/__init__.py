"""What a GPU is: its limits, occupancy, peaks, and the model of time."""
