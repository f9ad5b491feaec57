"""The first page of the admin panel: how the installation does, in figures that lead to what they count."""
