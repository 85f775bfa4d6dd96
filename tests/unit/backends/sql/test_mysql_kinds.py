"""Which server is known by what it says of itself, and which is refused."""

import pytest

from recollect.backends.sql.dialects.mysql_kinds import kind_told


@pytest.mark.parametrize(
    ("told", "name", "is_too_old"),
    [
        ("8.0.16", "MySQL", True),
        ("8.0.17", "MySQL", False),
        ("8.4.3-0ubuntu1", "MySQL", False),
        ("5.7.44-log", "MySQL", True),
        ("8.0.11-TiDB-v8.5.0", "MySQL", True),
        ("5.7.25-OceanBase-v4.3.5.3", "MySQL", True),
        ("unheard of", "MySQL", True),
        ("10.5.29-MariaDB", "MariaDB", True),
        ("5.5.5-10.5.29-MariaDB-log", "MariaDB", True),
        ("5.5.5-10.11.14-MariaDB-0+deb12u2", "MariaDB", False),
        ("10.5.29-25-MariaDB-enterprise", "MariaDB", True),
        ("11.8.3-MariaDB", "MariaDB", False),
        ("5.7.25-OceanBase seekdb-v1.3.9.9", "seekdb", True),
        ("5.7.25-OceanBase seekdb-v1.4.0.0", "seekdb", False),
    ],
)
def test_a_server_is_known_by_what_it_says_of_itself(told: str, name: str, is_too_old: bool):
    kind = kind_told(told)
    assert (kind.name, kind.is_too_old(told)) == (name, is_too_old)


def test_names_have_room_for_every_letter():
    assert kind_told("seekdb-v1.4.0.0").name_type(100) == "VARBINARY(400)"
    assert kind_told("8.4.0").name_type(100).startswith("VARCHAR(100) ")
