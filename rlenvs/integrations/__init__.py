"""Other libraries' forms of our environments, one file a library, imported when they are asked for."""
