"""The APIs of Gymnasium and PettingZoo over a batch, and what they show."""
