"""The registered ids, their rows and pages, and how they are made."""
