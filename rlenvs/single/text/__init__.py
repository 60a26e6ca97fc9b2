"""Text adventures: rooms, things and quests in words, from generated games or files."""
