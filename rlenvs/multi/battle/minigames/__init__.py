"""The mini-games of SC2LE that need no economy, one file each, on the units and the combat of battles."""
