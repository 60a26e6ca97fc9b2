"""Driving among others on highways, ramps, roundabouts and junctions. A file per task; roads and traffic are kits."""
