"""What sampling may draw."""
