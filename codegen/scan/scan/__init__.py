"""scan: running sums, products, maxima and minima, over all elements, along rows or within segments."""
