"""The mini-games of SC2LE that need no economy. One file each, on the units and the combat of battles."""
