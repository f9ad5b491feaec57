"""Searching the web (contract §6).

question ──query──▶ cache? ──▶ providers, one after the other, each behind its breaker ──sanitise──▶ hits
         ──post-filter, lists──▶ scrape? ──▶ rerank ──▶ answer with markers ──▶ citations that hold
"""
