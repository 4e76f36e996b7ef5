"""What is wrong with a model file, or with a checkpoint."""


class ModelFileError(ValueError):
    """A model file cannot be read or written; the message says why, and what to do."""


class IncompleteError(ModelFileError):
    """A file ends before it should."""


class CheckpointError(ValueError):
    """A fit cannot go on from a checkpoint; the message says why, and how to begin anew."""
