"""Classic control: carts, pendulums and a car in a valley."""
