"""What `import suffice` may not import: backends of engines are imported where they are used."""

import subprocess
import sys

import pytest

import suffice.data

BACKENDS = ["pyarrow", "dask", "distributed", "pyspark", "duckdb", "sqlglot", "psycopg"]


def test_the_library_imports_no_backend_compiles_nothing_and_leaves_interrupts_alone():
    """One process for all, as it takes a second to start."""
    code = f"""if True:
        import signal, sys
        sys.modules['pandas'] = None  # which scikit-learn imports where it is there, and it pyarrow
        import suffice, suffice.data
        print([name for name in {BACKENDS} if name in sys.modules])
        print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
        import suffice.encoders, suffice.features
        print('numba' in sys.modules)
    """
    words = [sys.executable, "-c", code, "-m", "suffice.not"]  # which is not the command
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "True", "False"]


def test_engines_are_names_of_the_package():
    assert {"Files", "SQL", "Dask", "Spark"} <= set(dir(suffice.data))
    with pytest.raises(AttributeError, match=r"module 'suffice\.data' has no attribute 'Excel'"):
        suffice.data.Excel  # noqa: B018 - asking is what is tested
