"""Model files: a zip archive of arrays and one JSON document, without pickle."""

from suffice.files._error import ModelFileError
from suffice.files._file import Savable, load, save

__all__ = ["ModelFileError", "Savable", "load", "save"]
