"""Small protocols for what memory needs from outside; back-ends and models implement them."""
