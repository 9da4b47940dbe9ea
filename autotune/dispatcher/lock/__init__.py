"""What may serve, frozen in a file."""
