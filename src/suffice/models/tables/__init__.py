"""Tables of counts: categories, bins, leaves and pairs."""
