"""Games of social deduction: hidden roles, discussions in few words, votes."""
