"""The algebra: vectors, labels, features, probabilities and formulas."""
