"""People as whoever runs Turnstone sees them: their roles, what is theirs, and its end."""
