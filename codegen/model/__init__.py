"""What is computed and how, as data: problems, tensors, schedules, programs."""
