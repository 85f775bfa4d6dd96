"""Pure functions over text in Chinese and English; nothing here stores anything."""
