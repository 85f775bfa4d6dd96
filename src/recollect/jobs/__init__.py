"""Background jobs: the queue and the workers that run them."""
