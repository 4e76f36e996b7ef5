"""Model files and checkpoints: zip archives of arrays and one JSON document, without pickle."""

from suffice.persistence.archive import CheckpointError, ModelFileError
from suffice.persistence.file import Loaded, Savable, digest, load, load_noted, save

__all__ = ["CheckpointError", "Loaded", "ModelFileError", "Savable", "digest", "load", "load_noted", "save"]
