"""Databases as fixtures."""

from __future__ import annotations

import pytest

from tests.data.databases import DATABASES, database, postgres_server


@pytest.fixture(scope="session")
def server():
    with postgres_server() as folder:
        yield folder


@pytest.fixture(params=DATABASES)
def db(request):
    dialect = request.param
    server = request.getfixturevalue("server") if dialect == "postgres" else None
    with database(dialect, server) as opened:
        yield opened
