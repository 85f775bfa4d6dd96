"""Chinese for an English model: word by word through the dictionary CC-CEDICT."""
