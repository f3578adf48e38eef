"""Facts about AWS as data, each with its source and date. No findings, no opinions, no calls."""
