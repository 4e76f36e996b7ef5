"""Model files: a zip archive of arrays and one JSON document, without pickle."""

from suffice.files._error import ModelFileError
from suffice.files._file import Loaded, Savable, digest, load, load_noted, save

__all__ = ["Loaded", "ModelFileError", "Savable", "digest", "load", "load_noted", "save"]
