"""A race of classifiers, which are compared on one table within a time; not about race conditions."""
