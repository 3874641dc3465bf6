"""The demo model: rules, no language model, for a first look without a key."""

from agents.providers.demo.provider import DemoProvider

__all__ = ["DemoProvider"]
