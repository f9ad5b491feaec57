"""The models and services that Locus calls: what the settings choose, how they do, and a test of each."""
