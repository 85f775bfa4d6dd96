"""Pure functions over text: what a text is made of, without knowing who asks."""
