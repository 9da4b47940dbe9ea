"""Files that users begin with."""
