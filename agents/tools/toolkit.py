"""The tools of one run (being written)."""


class Toolkit:
    """Hold tools."""
