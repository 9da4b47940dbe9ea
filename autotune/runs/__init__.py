"""What is kept of runs, and what a run goes on from: how it began and ended, trials that still count, failures."""
