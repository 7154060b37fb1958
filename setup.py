"""Lists the packages: each folder at the top level is a package below `kafkaproof`, as pyproject.toml maps it."""

from setuptools import find_packages, setup

TOPS = ("spec", "checker", "impl", "traces")

setup(
    packages=["kafkaproof"]
    + [f"kafkaproof.{top}" for top in TOPS]
    + [f"kafkaproof.{top}.{name}" for top in TOPS for name in find_packages(top)]
)
