"""What all agents of a workspace know: proposed by one, decided by its coordinator."""
