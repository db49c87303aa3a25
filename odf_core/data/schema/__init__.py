"""Schemas of data in their three forms: Arrow, ODF, and the Arrow bytes of older SetDataSchema events."""
