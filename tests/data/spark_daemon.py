"""The process that Spark forks its Python workers from, with what they need imported once for all of them."""

if __name__ == "__main__":  # what looks for tests here may have no Spark
    import gc
    import sys

    import numba  # noqa: F401 - for the workers
    from pyspark.daemon import manager

    import tests.data.test_spark  # noqa: F401 - for the workers

    sys.path_importer_cache.clear()  # which every worker would bring up to date, with a look into the archives of Spark
    gc.freeze()
    manager()
