"""Parameters, constraints and occupancy: which schedules are legal on which device, and which to try first."""
