"""What MySQL is told to make, as far as it can be read without a server."""

import re

from sqlalchemy.dialects import mysql
from sqlalchemy.schema import CreateTable

from recollect.backends.sql.dialects.mysql import MysqlDialect


def test_long_texts_have_no_default():
    """MariaDB takes one, Oracle's MySQL refuses the whole table."""
    made = MysqlDialect()._tables({}).sorted_tables
    told = "\n".join(str(CreateTable(it).compile(dialect=mysql.dialect())) for it in made)
    assert re.search(r"choice LONGTEXT NOT NULL,", told)
    assert not re.search(r"(TEXT|BLOB)\b[^,]* DEFAULT", told)
    assert re.search(r"helped INTEGER NOT NULL DEFAULT '0'", told)
