"""Finding the fastest schedule: Optuna proposes, a device evaluates, the database remembers."""
