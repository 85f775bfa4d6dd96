"""What memory needs from the outside, as small protocols. Back-ends and models implement them."""
