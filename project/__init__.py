"""Turnstone's project: settings, addresses and the processes that make it up."""
