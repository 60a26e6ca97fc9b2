"""The mini-games of SC2LE that need no economy. One file each, using the units and the combat rules of Battle."""
