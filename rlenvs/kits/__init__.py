"""What several families share: physics engines, and pieces of worlds. Kits import the core; families import core and
kits, never each other."""
