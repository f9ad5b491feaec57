"""What pages show of the web's use: what was spent, how much may still be, and how the search engines do."""
