"""The commands of `suffice`."""
