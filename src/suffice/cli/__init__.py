"""The commands of `suffice`, one a file."""
