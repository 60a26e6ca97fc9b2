"""Driving in traffic on highways, ramps, roundabouts and junctions. One file per task; roads and traffic are kits."""
