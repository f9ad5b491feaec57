"""Formats of Django's templates; Django reads this module by its name."""

DATE_FORMAT = "j F Y"
SHORT_DATE_FORMAT = "d/m/Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "j F Y, H:i T"
SHORT_DATETIME_FORMAT = "d/m/Y, H:i T"
"""How pages write dates and times; times have their zone."""
