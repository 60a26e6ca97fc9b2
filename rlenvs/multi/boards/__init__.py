"""Board games of players who move one after the other."""
