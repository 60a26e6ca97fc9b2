"""Kitchens: cooks who share a kitchen serve soups, with full or partial sight, known or changing recipes."""
