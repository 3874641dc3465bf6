"""The registry of policies: a sixth is one small file and one line here."""
