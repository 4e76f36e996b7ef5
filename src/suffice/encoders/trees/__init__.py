"""Random trees whose leaves are categories."""
