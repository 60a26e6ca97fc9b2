"""Many worlds that step together: their memory, their steps, the engines that move them otherwise."""
