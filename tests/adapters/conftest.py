"""The checks of adapters, which run in the environments of their frameworks, start as all tests."""

from tests.own_settings import own_settings as own_settings
