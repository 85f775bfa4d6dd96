"""What a message wants: what it asks for, and whether memory should answer or keep it."""
