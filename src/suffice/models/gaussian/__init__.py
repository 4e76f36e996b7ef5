"""Normal classes: moments and what follows from them."""
