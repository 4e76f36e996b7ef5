"""Counts of words and events: multinomial, Bernoulli and Poisson."""
