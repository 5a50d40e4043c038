"""Probes: challenge sets that ask one question of each item, which candidate a word refers to."""
