"""Traffic: the signals of junctions, from one to those of whole cities."""
