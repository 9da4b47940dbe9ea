"""A launch for each digit, in which blocks find what precedes their tile by look-back."""
