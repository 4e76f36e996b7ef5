"""What `import suffice` may not import: backends of engines are imported where they are used."""

import subprocess
import sys

import pytest

import suffice.data

BACKENDS = ["pyarrow", "dask", "distributed", "pyspark", "duckdb", "sqlglot", "psycopg"]


def test_no_backend_is_imported_with_the_library():
    hidden = "import sys; sys.modules['pandas'] = None"  # which scikit-learn imports where it is there, and it pyarrow
    code = f"{hidden}; import suffice, suffice.data; print([name for name in {BACKENDS} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_engines_are_names_of_the_package():
    assert {"Files", "SQL", "Dask", "Spark"} <= set(dir(suffice.data))
    with pytest.raises(AttributeError, match=r"module 'suffice\.data' has no attribute 'Excel'"):
        suffice.data.Excel  # noqa: B018 - asking is what is tested
