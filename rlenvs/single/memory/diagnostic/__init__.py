"""Small tasks of one difficulty each: how long, how much, or in which order something has to be remembered."""
