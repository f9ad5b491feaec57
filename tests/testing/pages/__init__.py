"""Every page of the product with something on it, for tests, screenshots and measurements."""
