"""What is wrong with a model file."""


class ModelFileError(ValueError):
    """A model file cannot be read or written; the message says why, and what to do."""
