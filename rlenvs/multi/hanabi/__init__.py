"""Hanabi: hold cards that only the others see, and place them in order by hints."""
