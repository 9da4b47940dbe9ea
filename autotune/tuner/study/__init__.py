"""What tuners of one problem share."""
